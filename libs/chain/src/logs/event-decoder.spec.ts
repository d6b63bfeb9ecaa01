import { describe, expect, it } from '@jest/globals';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { type StakeDelta } from '#libs/domain';
import { parseStakeEvents } from '../stake/parse-stake-events.js';
import { EventDecoder, EventMismatchError } from './range-logs.js';

const ALICE = `0x${'a1'.repeat(20)}` as const;
const BOB = `0x${'b0'.repeat(20)}` as const;

function decode(decoder: EventDecoder, topics: unknown[], data: string): StakeDelta[] | string {
  const deltas: StakeDelta[] = [];
  return decoder.decode({ topics, data, blockNumber: 7 }, deltas) ?? deltas;
}

const stakingAbi = parseAbi([
  'event Staked(address indexed user, uint256 amount)',
  'event Withdrawn(address indexed user, uint256 amount)',
]);
const word = (value: bigint): string => encodeAbiParameters([{ type: 'uint256' }], [value]);

describe('decoding events', () => {
  const decoder = new EventDecoder(parseStakeEvents('staked-withdrawn'));
  const topicsOf = (eventName: 'Staked' | 'Withdrawn', user: `0x${string}`): unknown[] =>
    encodeEventTopics({ abi: stakingAbi, eventName, args: { user } });

  it('agrees with viem’s encoding, to the largest amount', () => {
    const most = 2n ** 256n - 1n;
    expect(decode(decoder, topicsOf('Staked', ALICE), word(5n))).toEqual([
      { wallet: ALICE, amount: 5n },
    ]);
    expect(decode(decoder, topicsOf('Withdrawn', BOB), word(most))).toEqual([
      { wallet: BOB, amount: -most },
    ]);
  });

  it('filters by conditions and reads fields behind others', () => {
    const event = 'event Deposit(uint256 indexed pool, address user, bytes32 tag, uint96 amount)';
    const entry = { event, account: 'user', amount: 'amount', effect: 'increase' };
    const pools = new EventDecoder(
      parseStakeEvents(
        JSON.stringify([{ ...entry, where: { pool: '2', tag: `0x${'07'.repeat(32)}` } }]),
      ),
    );
    const abi = parseAbi([
      'event Deposit(uint256 indexed pool, address user, bytes32 tag, uint96 amount)',
    ]);
    const log = (pool: bigint, tag: string): [unknown[], string] => [
      encodeEventTopics({ abi, eventName: 'Deposit', args: { pool } }),
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes32' }, { type: 'uint96' }],
        [ALICE, `0x${tag.repeat(32)}`, 77n],
      ),
    ];
    expect(decode(pools, ...log(2n, '07'))).toEqual([{ wallet: ALICE, amount: 77n }]);
    expect(decode(pools, ...log(3n, '07'))).toEqual([]);
    expect(decode(pools, ...log(2n, '08'))).toEqual([]);
  });

  it.each([
    ['an account that is not an address', [`0x${'ff'.repeat(32)}`]],
    ['an account that is not an address', [5]],
    ['an account that is not an address', ['0x12']],
  ])('finds %s', (fault, rest) => {
    const [topic0] = topicsOf('Staked', ALICE);
    expect(decode(decoder, [topic0, ...rest], word(1n))).toBe(fault);
  });

  it('finds an indexed amount that is none', () => {
    const event = 'event E(address indexed user, uint256 indexed amount)';
    const indexed = new EventDecoder(
      parseStakeEvents(
        JSON.stringify([{ event, account: 'user', amount: 'amount', effect: 'decrease' }]),
      ),
    );
    const [spec] = parseStakeEvents(
      JSON.stringify([{ event, account: 'user', amount: 'amount', effect: 'decrease' }]),
    );
    const user = `0x${ALICE.slice(2).padStart(64, '0')}`;
    expect(decode(indexed, [spec?.topic0, user, word(4n)], '0x')).toEqual([
      { wallet: ALICE, amount: -4n },
    ]);
    expect(decode(indexed, [spec?.topic0, user, '0x4'], '0x')).toBe('an amount that is not a word');
  });

  it('says when the settings describe another layout', () => {
    const [topic0] = topicsOf('Staked', ALICE);
    const user = `0x${ALICE.slice(2).padStart(64, '0')}`;
    expect(() => decode(decoder, [topic0], word(1n))).toThrow(EventMismatchError);
    expect(() => decode(decoder, [topic0, user, user], word(1n))).toThrow(
      /has 2 indexed fields.*"indexed"/,
    );
    expect(() => decode(decoder, [topic0, user], '0x1234')).toThrow(/has 2 bytes of data/);
  });
});
