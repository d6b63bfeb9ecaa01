import { expect, it } from '@jest/globals';
import { type FigureKind, parseStakeViews } from '../stake/stake-view.js';

const OTHER = `0x${'b0'.repeat(20)}`;
const BALANCE = 'function f(address) returns (uint256)';

function expectRefused(setting: unknown, reason: string | RegExp, kind: FigureKind = 'balance') {
  const parse = (): unknown => parseStakeViews(setting, 'VIEW', kind);
  expect(parse).toThrow(reason);
  expect(parse).toThrow(
    expect.objectContaining({ code: 'STAKE_EVENTS_INVALID', retryable: false }),
  );
}

it.each<[string, object | undefined, string | RegExp]>([
  [
    '',
    {},
    /f has 0 addresses without a value in "arguments", and needs exactly one, the wallet’s$/,
  ],
  ['adress', {}, 'is not a function signature'],
  ['uint256 pid = 3, address', {}, 'is not a function signature'],
  ['address', { 0: OTHER }, 'f has 0 addresses without a value'],
  ['address a, address b', {}, 'f has 2 addresses without a value'],
  ['uint256 pid, address a', {}, 'f needs a value for pid (uint256)'],
  ['uint256[] ids, address a', {}, 'f takes uint256[], which cannot be given'],
  ['string s, address a', { s: 'x' }, '"arguments.s": "x" is not a value of string'],
  ['uint8 p, address a', { p: 256 }, '"arguments.p": "256" is not a value of uint8'],
  ['uint8 p, address a', { p: ' ' }, '"arguments.p": "" is not a value of uint8'],
  [
    'uint256 pid, address user',
    { pool: '1' },
    'f has no parameter "pool"; its parameters: pid (uint256), user (address)',
  ],
  ['uint256 pid, address user', ['1'], '"arguments" must be an object'],
  ['uint256 pid, address user', { pid: {} }, '"arguments.pid" must be a text'],
])('a balance by the parameters (%s) and %j is refused: %s', (parameters, given, reason) => {
  const setting = { function: `function f(${parameters}) returns (uint256)`, arguments: given };
  expectRefused(setting, reason);
});

it.each<[string, unknown, string]>([
  [
    'uint256 a, bool',
    undefined,
    'has 2 outputs, and "output" must name the figure; its outputs: a (uint256), 1 (bool)',
  ],
  [
    'uint256 a, bool',
    'b',
    'has no output "b", or more than one; its outputs: a (uint256), 1 (bool)',
  ],
  ['uint256 a', 1, 'has no output "1"'],
  ['int256', undefined, 'output "0" is int256, not an unsigned integer'],
  ['uint256[] a', 'a', 'output "a" is uint256[], not an unsigned integer'],
  ['uint256 a', 'a.b', 'output "a.b" is inside uint256, not an unsigned integer'],
  ['(uint256 a, uint256 b) i', 'i', 'has 2 outputs, and "output" must name'],
])('a balance in the outputs (%s) under %j is refused: %s', (outputs, output, reason) => {
  const setting = { function: `function f(address) returns (${outputs})` };
  expectRefused(output === undefined ? setting : { ...setting, output }, reason);
});

it.each<[string, RegExp]>([
  ['f() returns (uint256)', /^VIEW: "f\(\) .*" must begin with "function"$/],
  ['event E(uint256 a)', /"event E\(uint256 a\)" must begin with "function"$/],
  ['function totalStaked', /is not a function signature/],
  ['function totalStaked()', /^VIEW: has 0 outputs/],
  [
    'function f(uint256 pid) returns (uint256)',
    /f needs a value for pid \(uint256\) in "arguments"$/,
  ],
  [BALANCE, /f needs a value for 0 \(address\)/],
])('a total by %s is refused: %s', (text, reason) => {
  expectRefused({ function: text }, reason, 'total');
});

it.each<[string, unknown, RegExp]>([
  ['a number', 5, /^VIEW: must be an object$/],
  ['a text', BALANCE, /^VIEW: must be an object$/],
  [
    'no address',
    { function: BALANCE, contract: '0x12' },
    /"0x12" is not the address of a contract/,
  ],
  [
    'a typo in a key',
    { function: BALANCE, argument: {} },
    /unknown key "argument"; known: function, arguments, output, contract/,
  ],
  ['an object without a function', { output: 'a' }, /needs "function", a text/],
  ['no text', { function: {} }, /needs "function", a text/],
  [
    'the second of a list',
    [{ function: BALANCE }, { function: 'function b() returns (uint256)' }],
    /^VIEW\[1\]: b has 0 addresses/,
  ],
])('a setting that is %s is refused', (_case, setting, reason) => {
  expectRefused(setting, reason);
});
