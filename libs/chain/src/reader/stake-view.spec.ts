import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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
const USER_INFO =
  'function userInfo(uint256 pid, address user) view returns (uint256 amount, uint256 debt)';

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
  it.each<[string, unknown, FigureKind, string, unknown[]]>([
    [
      'a plain total',
      { function: 'function totalStaked() view returns (uint256)' },
      'total',
      'totalStaked()',
      [],
    ],
    [
      'as Solidity has it',
      { function: 'function poolTotal() external view returns (uint128 total)' },
      'total',
      'poolTotal()',
      [],
    ],
    [
      'a plain balance',
      { function: 'function balanceOf(address) returns (uint256)' },
      'balance',
      'balanceOf(address)',
      [WALLET],
    ],
    [
      'constants around the wallet, one in hex, none named',
      {
        function: 'function f(bytes32, address, int8, bool, uint) returns (uint256)',
        arguments: { 0: `0x${'ab'.repeat(32)}`, 2: -2, 3: true, 4: '0x10' },
      },
      'balance',
      'f(bytes32,address,int8,bool,uint256)',
      [`0x${'ab'.repeat(32)}`, WALLET, -2, true, 16n],
    ],
    [
      'another address as a constant',
      {
        function: 'function f(address token, address user) returns (uint256)',
        arguments: { token: OTHER },
      },
      'balance',
      'f(address,address)',
      [OTHER, WALLET],
    ],
    [
      'by name',
      { function: USER_INFO, arguments: { pid: '3' }, output: 'amount' },
      'balance',
      'userInfo(uint256,address)',
      [3n, WALLET],
    ],
    [
      'by position and as numbers',
      { function: USER_INFO, arguments: { 0: 3 }, output: 0 },
      'balance',
      'userInfo(uint256,address)',
      [3n, WALLET],
    ],
    [
      'a total of a pool',
      { function: 'function pools(uint256 id) returns (uint256)', arguments: { id: 7 } },
      'total',
      'pools(uint256)',
      [7n],
    ],
  ])('is called as it is written: %s', (_case, ...[setting, kind, signature, args]) => {
    const view = one(setting, kind);
    expect(view.signature).toBe(signature);
    const [functionName = ''] = signature.split('(');
    const abi: Abi = parseAbi([`function ${signature}`] as readonly string[]);
    expect(view.calldata(WALLET)).toBe(encodeFunctionData({ abi, functionName, args }));
  });

  it.each<[string, string, string | undefined, unknown[], bigint]>([
    ['the only one', 'uint256', undefined, [5n], 5n],
    ['one by name', 'uint256 a, uint128 b', 'b', [5n, 6n], 6n],
    ['one by position', 'uint128, uint256 deposited, uint256', '1', [5n, 6n, 7n], 6n],
    [
      'the first of many types',
      'uint8 a, bytes32, bool, address',
      'a',
      [255, `0x${'11'.repeat(32)}`, true, OTHER],
      255n,
    ],
    [
      'inside a tuple',
      '(uint256 since, uint96 amount) info',
      'info.amount',
      [{ since: 1n, amount: 9n }],
      9n,
    ],
    ['inside an unnamed tuple', '(address owner, uint256)', '0.1', [[OTHER, 9n]], 9n],
    ['inside the only tuple', '(uint256 amount)', undefined, [{ amount: 4n }], 4n],
    [
      'deep inside',
      'bool, ((uint64 a, uint64 b) inner, bool) out',
      'out.inner.b',
      [true, [{ a: 1n, b: 2n }, true]],
      2n,
    ],
    [
      'beside a text and a list',
      'string memo, uint256 amount, uint256[] tokens',
      'amount',
      ['x', 8n, [1n, 2n]],
      8n,
    ],
    [
      'in a struct with a list',
      '(uint256[] tokens, uint256 amount) info',
      'info.amount',
      [{ tokens: [1n], amount: 8n }],
      8n,
    ],
  ])('takes of its outputs %s', (_case, ...[outputs, output, values, figure]) => {
    const view = of(outputs, output);
    expect(view.valueIn(answer(outputs, ...values))).toBe(figure);
  });

  it('ignores outputs that an upgraded contract appended', () => {
    const view = of('uint128, uint256 amount', 'amount');
    expect(view.valueIn(answer('uint128, uint256, address', 1n, 2n, OTHER))).toBe(2n);
  });

  it.each<[string, string, Hex, RegExp]>([
    [
      'one word where two are declared',
      'uint256 a, uint256 b',
      answer('uint256', 1n),
      /^32 bytes, where the declared outputs take at least 64$/,
    ],
    ['a part of a word', 'uint256 a', '0x1234', /^2 bytes/],
    ['nothing', 'uint256 a', '0x', /^0 bytes/],
    ['more than the type holds', 'uint8 a', answer('uint256', 256n), /^a number beyond uint8$/],
    [
      'an offset to nowhere',
      '(uint256 a, uint256[] b) s',
      answer('uint256, uint256', 999n, 1n),
      /^64 bytes that are not/,
    ],
  ])('says what came in place of its outputs: %s', (_case, outputs, data, said) => {
    const path = outputs.startsWith('(') ? 's.a' : 'a';
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

  it('finds its figure wherever it lies among outputs of any kind', () => {
    const kinds = [
      'uint256',
      'uint128',
      'int64',
      'bool',
      'address',
      'bytes32',
      '(uint256, bool)',
      'uint256[2]',
    ];
    const values: Record<string, unknown> = {
      uint256: 1n,
      uint128: 2n,
      int64: -3n,
      bool: true,
      address: OTHER,
      bytes32: `0x${'cd'.repeat(32)}`,
      '(uint256, bool)': [4n, false],
      'uint256[2]': [5n, 6n],
    };
    const neighbours = fc.array(fc.constantFrom(...kinds), { maxLength: 6 });
    const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8);
    fc.assert(
      fc.property(
        neighbours,
        neighbours,
        bits,
        fc.bigInt(0n, 2n ** 256n - 1n),
        (before, after, size, any) => {
          const figure = any >> BigInt(256 - size);
          const type = `uint${size}`;
          const outputs = [...before, `${type} figure`, ...after].join(', ');
          // The answer is encoded as full words, because the encoder takes numbers for small types.
          const words = [...before, 'uint256', ...after].join(', ');
          const data = answer(
            words,
            ...before.map((kind) => values[kind]),
            figure,
            ...after.map((kind) => values[kind]),
          );
          const view = of(outputs, 'figure');
          expect(view.valueIn(data)).toBe(figure);
          expect(view.valueIn(data.slice(0, -64) as Hex)).toEqual(expect.stringContaining('bytes'));
        },
      ),
    );
  });
});
