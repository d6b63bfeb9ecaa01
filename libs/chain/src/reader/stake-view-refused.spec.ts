import { describe, expect, it } from '@jest/globals';
import { type FigureKind, parseStakeViews } from './stake-view.js';

const OTHER = `0x${'b0'.repeat(20)}`;
const USER_INFO = 'userInfo(uint256 pid, address user) view returns (uint256 amount, uint256 debt)';

describe('a view of a stake contract', () => {
  it.each<[string, unknown, FigureKind, RegExp]>([
    [
      'no parentheses',
      'totalStaked',
      'total',
      /^VIEW: "totalStaked" is not a function: no "\(…\)" in it$/,
    ],
    ['no outputs', 'totalStaked()', 'total', /returns nothing: end it with "returns \(uint256\)"/],
    ['an event', 'event E(uint256 a)', 'total', /"event E\(uint256 a\)" is not a function$/],
    ['no type', 'f(adress) returns (uint256)', 'balance', /is not a function signature/],
    [
      'text after it',
      'f(address) returns (uint256) => a',
      'balance',
      /is not a function signature/,
    ],
    [
      'a total with a parameter',
      'f(uint256 pid) returns (uint256)',
      'total',
      /f needs a value for uint256 pid: write "uint256 pid = <value>"/,
    ],
    ['a total of a wallet', 'f(address) returns (uint256)', 'total', /f needs a value for address/],
    [
      'a balance without a wallet',
      'f() returns (uint256)',
      'balance',
      /f must take \(address\): leave one address without a value/,
    ],
    [
      'all addresses given',
      `f(address = ${OTHER}) returns (uint256)`,
      'balance',
      /f must take \(address\)/,
    ],
    [
      'two open addresses',
      'f(address a, address b) returns (uint256)',
      'balance',
      /f has 2 addresses without a value, and only one can be the wallet’s/,
    ],
    [
      'an open number',
      'f(uint256 pid, address a) returns (uint256)',
      'balance',
      /f needs a value for uint256 pid/,
    ],
    [
      'a list as a parameter',
      'f(uint256[] ids, address a) returns (uint256)',
      'balance',
      /f takes uint256\[\] ids, which cannot be given/,
    ],
    [
      'a text as a constant',
      'f(string s = x, address a) returns (uint256)',
      'balance',
      /"x" of f is not a value of string s/,
    ],
    [
      'a constant out of range',
      'f(uint8 p = 256, address a) returns (uint256)',
      'balance',
      /"256" of f is not a value of uint8 p/,
    ],
    [
      'no constant after =',
      'f(uint8 p = , address a) returns (uint256)',
      'balance',
      /"" of f is not a value of uint8 p/,
    ],
    [
      'several outputs and none chosen',
      'f(address) returns (uint256 a, bool)',
      'balance',
      /has 2 outputs: say which is the figure, such as "-> a"; they are a \(uint256\), 1 \(bool\)/,
    ],
    [
      'an unknown output',
      'f(address) returns (uint256 a, bool) -> b',
      'balance',
      /has no output "b"; its outputs: a \(uint256\), 1 \(bool\)/,
    ],
    ['a position beyond', 'f(address) returns (uint256 a) -> 1', 'balance', /has no output "1"/],
    [
      'a signed output',
      'f(address) returns (int256)',
      'balance',
      /output 0 is int256, not an unsigned integer/,
    ],
    [
      'a list as an output',
      'f(address) returns (uint256[] a) -> a',
      'balance',
      /output "a" is uint256\[\], not an unsigned integer/,
    ],
    [
      'something inside a number',
      'f(address) returns (uint256 a) -> a.b',
      'balance',
      /output "a" is uint256: nothing lies inside it/,
    ],
    [
      'a tuple with nothing chosen',
      'f(address) returns ((uint256 a, uint256 b) i) -> i',
      'balance',
      /has 2 outputs: say which/,
    ],
    [
      'an address that is none',
      'f(address) returns (uint256) at 0x12',
      'balance',
      /"0x12" is not the address of a contract/,
    ],
    ['a number', 5, 'balance', /^VIEW: must be a function, an object, a list of them, or "none"$/],
    [
      'a typo in a key',
      { function: USER_INFO, argument: {} },
      'balance',
      /unknown key "argument"; known: function, arguments, output, contract/,
    ],
    ['an object without a function', { output: 'a' }, 'balance', /needs "function"/],
    ['no text', { function: 5 }, 'balance', /"function" must be a text/],
    [
      'a parameter that is not there',
      { function: USER_INFO, arguments: { pool: '1' } },
      'balance',
      /userInfo has no parameter "pool"; its parameters: pid, user/,
    ],
    [
      'arguments in a list',
      { function: USER_INFO, arguments: ['1'] },
      'balance',
      /"arguments" must be an object/,
    ],
    [
      'a constant of no kind',
      { function: USER_INFO, arguments: { pid: {} } },
      'balance',
      /"arguments.pid" must be a text/,
    ],
    [
      'the second of a list',
      ['a(address) returns (uint256)', 'b() returns (uint256)'],
      'balance',
      /^VIEW\[1\]: b must take/,
    ],
  ])('is refused with the reason: %s', (_case, setting, kind, reason) => {
    const parse = (): unknown => parseStakeViews(setting, 'VIEW', kind);
    expect(parse).toThrow(reason);
    expect(parse).toThrow(
      expect.objectContaining({ code: 'STAKE_VIEW_INVALID', retryable: false }),
    );
  });
});
