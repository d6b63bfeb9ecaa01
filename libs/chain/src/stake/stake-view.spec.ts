import { describe, expect, it } from '@jest/globals';
import {
  type Abi,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import { type Address } from '#libs/domain';
import { type FigureKind, parseStakeViews, type StakeView } from './stake-view.js';

const WALLET = `0x${'a1'.repeat(20)}` as Address;
const OTHER = `0x${'b0'.repeat(20)}` as Address;
const USER_INFO = 'userInfo(uint256 pid, address user) view returns (uint256 amount, uint256 debt)';

function one(setting: unknown, kind: FigureKind = 'balance'): StakeView {
  const [view, ...more] = parseStakeViews(setting, 'VIEW', kind);
  if (!view || more.length > 0) throw new Error('not one view');
  return view;
}

/** A balance with these outputs, of which one is the figure. */
function of(outputs: string, output?: string): StakeView {
  const view = { function: `function f(address) returns (${outputs})` };
  return one(output === undefined ? view : { ...view, output });
}

function answer(types: string, ...values: unknown[]): Hex {
  return encodeAbiParameters(parseAbiParameters(types), values as never);
}

describe('a view of a stake contract', () => {
  it.each<[FigureKind, string, object, string, unknown[]]>([
    ['total', 'totalStaked() view returns (uint256)', {}, 'totalStaked()', []],
    ['total', 'staked() external view returns (uint128 total)', {}, 'staked()', []],
    ['total', 'pools(uint256 id) returns (uint256)', { id: 7 }, 'pools(uint256)', [7n]],
    ['balance', 'balanceOf(address) returns (uint256)', {}, 'balanceOf(address)', [WALLET]],
    // Constants around the wallet, one in hex, none named.
    [
      'balance',
      'f(bytes32, address, int8, bool, uint) returns (uint256)',
      { 0: `0x${'ab'.repeat(32)}`, 2: -2, 3: true, 4: '0x10' },
      'f(bytes32,address,int8,bool,uint256)',
      [`0x${'ab'.repeat(32)}`, WALLET, -2, true, 16n],
    ],
    [
      'balance',
      'f(address token, address user) returns (uint256)',
      { token: OTHER },
      'f(address,address)',
      [OTHER, WALLET],
    ],
    ['balance', USER_INFO, { pid: '3' }, 'userInfo(uint256,address)', [3n, WALLET]],
    ['balance', USER_INFO, { 0: 3 }, 'userInfo(uint256,address)', [3n, WALLET]],
  ])('a %s is called as it is written: %s with %j', (...[kind, text, given, signature, args]) => {
    const output = text === USER_INFO && { output: 0 };
    const view = one({ function: `function ${text}`, arguments: given, ...output }, kind);
    expect(view.signature).toBe(signature);
    const [functionName = ''] = signature.split('(');
    const abi: Abi = parseAbi([`function ${signature}`] as readonly string[]);
    expect(view.calldata(WALLET)).toBe(encodeFunctionData({ abi, functionName, args }));
  });

  it.each<[string, string | undefined, unknown[], bigint]>([
    ['uint256', undefined, [5n], 5n],
    ['uint256 a, uint128 b', 'b', [5n, 6n], 6n],
    ['uint128, uint256 deposited, uint256', '1', [5n, 6n, 7n], 6n],
    ['uint8 a, bytes32, bool, address', 'a', [255, `0x${'11'.repeat(32)}`, true, OTHER], 255n],
    ['(uint256 since, uint96 amount) info', 'info.amount', [{ since: 1n, amount: 9n }], 9n],
    ['(address owner, uint256)', '0.1', [[OTHER, 9n]], 9n],
    ['(uint256 amount)', undefined, [{ amount: 4n }], 4n],
    [
      'bool, ((uint64 a, uint64 b) inner, bool) out',
      'out.inner.b',
      [true, [{ a: 1n, b: 2n }, true]],
      2n,
    ],
    ['string memo, uint256 amount, uint256[] tokens', 'amount', ['x', 8n, [1n, 2n]], 8n],
    ['(uint256[] tokens, uint256 amount) i', 'i.amount', [{ tokens: [1n], amount: 8n }], 8n],
    [
      '(uint256, bool), uint64[2] marks, int64, uint96 last',
      'last',
      [[1n, true], [2n, 3n], -4n, 5n],
      5n,
    ],
  ])('takes of its outputs (%s) the one under %j', (outputs, output, values, figure) => {
    const view = of(outputs, output);
    expect(view.valueIn(answer(outputs, ...values))).toBe(figure);
  });

  it('ignores outputs that an upgraded contract appended', () => {
    const view = of('uint128, uint256 amount', 'amount');
    expect(view.valueIn(answer('uint128, uint256, address', 1n, 2n, OTHER))).toBe(2n);
  });

  it.each<[string, string, Hex, RegExp]>([
    [
      'uint256 a, uint256 b',
      'a',
      answer('uint256', 1n),
      /^32 bytes, where the declared outputs take at least 64$/,
    ],
    [
      '(uint256, bool), uint64[2] marks, uint96 last',
      'last',
      answer('uint256, uint256, uint256, uint256', 1n, 1n, 1n, 1n),
      /^128 bytes, where the declared outputs take at least 160$/,
    ],
    ['uint256 a', 'a', '0x1234', /^2 bytes/],
    ['uint256 a', 'a', '0x', /^0 bytes/],
    ['uint8 a', 'a', answer('uint256', 256n), /^a number beyond uint8$/],
    // The offset leads nowhere.
    [
      '(uint256 a, uint256[] b) s',
      's.a',
      answer('uint256, uint256', 999n, 1n),
      /^64 bytes that are not/,
    ],
  ])('says what came in place of its outputs (%s)', (outputs, path, data, said) => {
    expect(of(outputs, path).valueIn(data)).toMatch(said);
  });

  it('may be of a contract of its own, be one of several, or not be at all', () => {
    const views = parseStakeViews(
      [
        { function: 'function a(address) returns (uint256)' },
        {
          function: 'function b(uint256, address) returns (uint256 x, uint256)',
          arguments: { 0: 2 },
          output: 'x',
          contract: OTHER.toUpperCase().replace('X', 'x'),
        },
      ],
      'VIEW',
      'balance',
    );
    expect(views.map(({ signature, contract }) => [signature, contract])).toEqual([
      ['a(address)', undefined],
      ['b(uint256,address)', OTHER],
    ]);
    expect(parseStakeViews([], 'VIEW', 'total')).toEqual([]);
  });
});

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
