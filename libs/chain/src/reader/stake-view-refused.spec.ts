import { describe, expect, it } from '@jest/globals';
import { type FigureKind, parseStakeViews } from './stake-view.js';

const OTHER = `0x${'b0'.repeat(20)}`;
const USER_INFO =
  'function userInfo(uint256 pid, address user) view returns (uint256 amount, uint256 debt)';

function view(text: string, more: object = {}): unknown {
  return { function: text, ...more };
}

describe('a view of a stake contract', () => {
  it.each<[string, unknown, FigureKind, RegExp]>([
    [
      'no keyword',
      view('f() returns (uint256)'),
      'total',
      /^VIEW: "f\(\) .*" must begin with "function"$/,
    ],
    ['no parentheses', view('function totalStaked'), 'total', /is not a function signature/],
    ['no outputs', view('function totalStaked()'), 'total', /^VIEW: has 0 outputs/],
    [
      'an event',
      view('event E(uint256 a)'),
      'total',
      /"event E\(uint256 a\)" must begin with "function"$/,
    ],
    [
      'no type',
      view('function f(adress) returns (uint256)'),
      'balance',
      /is not a function signature/,
    ],
    [
      'a notation of its own',
      view('function f(uint256 pid = 3, address) returns (uint256)'),
      'balance',
      /is not a function signature/,
    ],
    [
      'a total with a parameter',
      view('function f(uint256 pid) returns (uint256)'),
      'total',
      /f needs a value for pid \(uint256\) in "arguments"$/,
    ],
    [
      'a total of a wallet',
      view('function f(address) returns (uint256)'),
      'total',
      /f needs a value for 0 \(address\)/,
    ],
    [
      'a balance without a wallet',
      view('function f() returns (uint256)'),
      'balance',
      /f has 0 addresses without a value in "arguments", and needs exactly one, the wallet’s$/,
    ],
    [
      'all addresses given',
      view('function f(address) returns (uint256)', { arguments: { 0: OTHER } }),
      'balance',
      /f has 0 addresses without a value/,
    ],
    [
      'two open addresses',
      view('function f(address a, address b) returns (uint256)'),
      'balance',
      /f has 2 addresses without a value/,
    ],
    [
      'an open number',
      view('function f(uint256 pid, address a) returns (uint256)'),
      'balance',
      /f needs a value for pid \(uint256\)/,
    ],
    [
      'a list as a parameter',
      view('function f(uint256[] ids, address a) returns (uint256)'),
      'balance',
      /f takes uint256\[\], which cannot be given/,
    ],
    [
      'a text as a constant',
      view('function f(string s, address a) returns (uint256)', { arguments: { s: 'x' } }),
      'balance',
      /"arguments.s": "x" is not a value of string/,
    ],
    [
      'a constant out of range',
      view('function f(uint8 p, address a) returns (uint256)', { arguments: { p: 256 } }),
      'balance',
      /"arguments.p": "256" is not a value of uint8/,
    ],
    [
      'an empty constant',
      view('function f(uint8 p, address a) returns (uint256)', { arguments: { p: ' ' } }),
      'balance',
      /"arguments.p": "" is not a value of uint8/,
    ],
    [
      'several outputs and none chosen',
      view('function f(address) returns (uint256 a, bool)'),
      'balance',
      /has 2 outputs, and "output" must name the figure; its outputs: a \(uint256\), 1 \(bool\)/,
    ],
    [
      'an unknown output',
      view('function f(address) returns (uint256 a, bool)', { output: 'b' }),
      'balance',
      /has no output "b", or more than one; its outputs: a \(uint256\), 1 \(bool\)/,
    ],
    [
      'a position beyond',
      view('function f(address) returns (uint256 a)', { output: 1 }),
      'balance',
      /has no output "1"/,
    ],
    [
      'a signed output',
      view('function f(address) returns (int256)'),
      'balance',
      /output "0" is int256, not an unsigned integer/,
    ],
    [
      'a list as an output',
      view('function f(address) returns (uint256[] a)', { output: 'a' }),
      'balance',
      /output "a" is uint256\[\], not an unsigned integer/,
    ],
    [
      'something inside a number',
      view('function f(address) returns (uint256 a)', { output: 'a.b' }),
      'balance',
      /output "a.b" is inside uint256, not an unsigned integer/,
    ],
    [
      'a tuple with nothing chosen',
      view('function f(address) returns ((uint256 a, uint256 b) i)', { output: 'i' }),
      'balance',
      /has 2 outputs, and "output" must name/,
    ],
    [
      'an address that is none',
      view('function f(address) returns (uint256)', { contract: '0x12' }),
      'balance',
      /"0x12" is not the address of a contract/,
    ],
    ['a number', 5, 'balance', /^VIEW: must be an object$/],
    ['a text', 'function f(address) returns (uint256)', 'balance', /^VIEW: must be an object$/],
    [
      'a typo in a key',
      view(USER_INFO, { argument: {} }),
      'balance',
      /unknown key "argument"; known: function, arguments, output, contract/,
    ],
    ['an object without a function', { output: 'a' }, 'balance', /needs "function", a text/],
    ['no text', { function: {} }, 'balance', /needs "function", a text/],
    [
      'a parameter that is not there',
      view(USER_INFO, { arguments: { pool: '1' } }),
      'balance',
      /userInfo has no parameter "pool"; its parameters: pid \(uint256\), user \(address\)/,
    ],
    [
      'arguments in a list',
      view(USER_INFO, { arguments: ['1'] }),
      'balance',
      /"arguments" must be an object/,
    ],
    [
      'a constant of no kind',
      view(USER_INFO, { arguments: { pid: {} } }),
      'balance',
      /"arguments.pid" must be a text/,
    ],
    [
      'the second of a list',
      [view('function a(address) returns (uint256)'), view('function b() returns (uint256)')],
      'balance',
      /^VIEW\[1\]: b has 0 addresses/,
    ],
  ])('is refused with the reason: %s', (_case, setting, kind, reason) => {
    const parse = (): unknown => parseStakeViews(setting, 'VIEW', kind);
    expect(parse).toThrow(reason);
    expect(parse).toThrow(
      expect.objectContaining({ code: 'STAKE_EVENTS_INVALID', retryable: false }),
    );
  });
});
