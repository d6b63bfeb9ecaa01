import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { keccak256, stringToBytes } from 'viem';
import { loadStakeEvents, parseStakeEvents } from './parse-stake-events.js';

const topic = (signature: string): string => keccak256(stringToBytes(signature));
const increase = (more: Record<string, unknown>): string =>
  JSON.stringify([{ account: 'user', amount: 'amount', effect: 'increase', ...more }]);
const STAKED = 'event Staked(address indexed user, uint256 amount)';

describe('STAKE_EVENTS', () => {
  it('knows the presets', () => {
    expect(parseStakeEvents('staked-withdrawn')).toEqual([
      expect.objectContaining({
        topic0: topic('Staked(address,uint256)'),
        topics: 2,
        dataWords: 1,
        effect: 'increase',
        account: { in: 'topic', index: 1 },
        amount: { in: 'data', word: 0 },
      }),
      expect.objectContaining({ topic0: topic('Withdrawn(address,uint256)'), effect: 'decrease' }),
    ]);
    expect(parseStakeEvents('stake-unstake').map(({ signature }) => signature)).toEqual([
      'Stake(address,uint256)',
      'Unstake(address,uint256)',
    ]);
    expect(parseStakeEvents('deposit-withdraw').map(({ signature }) => signature)).toEqual([
      'Deposit(address,uint256)',
      'Withdraw(address,uint256)',
    ]);
    expect(parseStakeEvents('transfer')).toEqual([
      expect.objectContaining({
        topics: 3,
        effect: 'transfer',
        account: { in: 'topic', index: 1 },
        receiver: { in: 'topic', index: 2 },
      }),
    ]);
  });

  it('finds fields wherever they lie, and conditions as words', () => {
    const [event] = parseStakeEvents(
      increase({
        event:
          'event UserStaked(uint256 indexed poolId, string memo, uint64[3] marks, (address a, bool b) pair, address user, uint128 amount)',
        where: { poolId: '0x10' },
      }),
    );
    expect(event).toMatchObject({
      signature: 'UserStaked(uint256,string,uint64[3],(address,bool),address,uint128)',
      topics: 2,
      dataWords: 8,
      account: { in: 'data', word: 6 },
      amount: { in: 'data', word: 7 },
      where: [{ slot: { in: 'topic', index: 1 }, word: '10'.padStart(64, '0') }],
    });
  });

  it.each([
    ['uint8', '255', 'ff'.padStart(64, '0')],
    ['int16', '-2', 'fe'.padStart(64, 'f')],
    ['address', `0x${'Ab'.repeat(20)}`, 'ab'.repeat(20).padStart(64, '0')],
    ['bool', 'true', '1'.padStart(64, '0')],
    ['bytes4', '0xDEADBEEF', 'deadbeef'.padEnd(64, '0')],
  ])('encodes a condition on %s', (type, value, word) => {
    const event = `event E(${type} indexed key, address user, uint256 amount)`;
    expect(parseStakeEvents(increase({ event, where: { key: value } }))[0]?.where).toEqual([
      { slot: { in: 'topic', index: 1 }, word },
    ]);
  });

  it('lets a transfer name its fields, and has defaults for them', () => {
    const event = 'event Transfer(address indexed from, address indexed to, uint256 value)';
    const plain = parseStakeEvents(
      JSON.stringify([{ event, amount: 'value', effect: 'transfer' }]),
    );
    expect(plain).toEqual(parseStakeEvents('transfer'));
    const moved = 'event Moved(address giver, address taker, uint256 value)';
    const [named] = parseStakeEvents(
      JSON.stringify([
        { event: moved, account: 'giver', to: 'taker', amount: 'value', effect: 'transfer' },
      ]),
    );
    expect(named).toMatchObject({
      account: { in: 'data', word: 0 },
      receiver: { in: 'data', word: 1 },
    });
  });

  it('counts one event twice only for conditions that exclude each other, or for other fields', () => {
    const entry = (where?: object, more?: object): object => ({
      event: 'event S(uint256 indexed pool, address user, uint256 amount, uint256 extra)',
      account: 'user',
      amount: 'amount',
      effect: 'increase',
      where,
      ...more,
    });
    expect(
      parseStakeEvents(JSON.stringify([entry({ pool: '1' }), entry({ pool: '2' })])),
    ).toHaveLength(2);
    expect(
      parseStakeEvents(JSON.stringify([entry(), entry(undefined, { amount: 'extra' })])),
    ).toHaveLength(2);
    expect(() => parseStakeEvents(JSON.stringify([entry(), entry({ pool: '2' })]))).toThrow(
      'STAKE_EVENTS[1]: counts S(uint256,address,uint256,uint256) a second time, after STAKE_EVENTS[0]',
    );
  });

  function expectRefused(text: string, reason: string | RegExp): void {
    expect(() => parseStakeEvents(text)).toThrow(reason);
    expect(() => parseStakeEvents(text)).toThrow(
      expect.objectContaining({ code: 'STAKE_EVENTS_INVALID', retryable: false }),
    );
  }

  it.each<[string, string | RegExp]>([
    ['{', /^STAKE_EVENTS: is not JSON/],
    ['[]', 'at least one event'],
    ['{"totalView":"none"}', 'at least one event'],
    ['{"event":[]}', 'unknown key "event"; known: events, totalView'],
    ['masterchef-v1:x', 'needs the number of the pool, such as masterchef-v1:0'],
    ['masterchef-v2', '"masterchef-v2" has none'],
    [`masterchef-v1:${2n ** 256n}`, 'needs the number of the pool'],
    ['[1]', /^STAKE_EVENTS\[0\]: must be an object/],
    // Presets that do not exist; the last is a name that every object has.
    ['staked', 'is not JSON'],
    ['transfer:3', 'is not JSON'],
    ['toString', 'is not JSON'],
  ])('refuses %s: %s', expectRefused);

  it.each<[Record<string, unknown>, string]>([
    [{ amount: 0 }, 'amount 0 must be a field'],
    [{ amount: -1 }, 'amount -1 must be a field'],
    [{ amount: '1.5' }, 'amount 1.5 must be a field'],
    [{ amount: 'user' }, ' is address, not an unsigned integer'],
    [{ account: 'owner' }, 'no field "owner"; its fields: user, amount'],
    [{ account: 'amount' }, ' is uint256, not an address'],
    [{ effect: 'up' }, 'effect must be one of'],
    [{ to: 'user' }, 'belong to effect "transfer"'],
    [{ ammount: 'x' }, 'unknown key "ammount"'],
    [{ where: { pool: '1' } }, 'no field "pool"'],
    [{ where: { amount: [] } }, '"where.amount" must be'],
  ])('refuses a stake with %j: %s', (more, reason) => {
    expectRefused(increase({ event: STAKED, ...more }), reason);
  });

  it.each<[string, string | RegExp]>([
    ['Staked(address user, uint256 amount)', 'must begin with "event"'],
    ['event Staked(address user uint256 amount)', 'is not an event signature'],
    ['event Staked(adress user, uint256 amount)', 'is not an event signature'],
    [`${STAKED} anonymous`, 'anonymous'],
    [
      'event E(address indexed user, uint256 indexed amount, bool indexed a, bool indexed b)',
      'three indexed',
    ],
    [
      'event E(address user, address user, uint256 amount)',
      /more than one field "user"|is not an event signature/,
    ],
    ['event E(address user, int256 amount)', 'is int256, not an unsigned integer'],
  ])('refuses the event %s: %s', (event, reason) => {
    expectRefused(increase({ event }), reason);
  });

  it.each([
    ['string p', 'a', 'cannot filter'],
    ['uint8 p', '256', 'not a value of uint8'],
  ])('refuses a condition that %s is %s: %s', (field, value, reason) => {
    const event = `event E(${field}, address user, uint256 amount)`;
    expectRefused(increase({ event, where: { p: value } }), reason);
  });

  it('takes JSON itself, which needs no file', async () => {
    expect(await loadStakeEvents(' { "events": "staked-withdrawn", "totalView": [] }')).toEqual(
      parseStakeEvents('staked-withdrawn'),
    );
    await expect(loadStakeEvents('{ "events": ')).rejects.toThrow(/is not JSON/);
  });

  it('loads a file, and says what it looked for where there is none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-events-'));
    try {
      const path = join(folder, 'events.json');
      await writeFile(path, increase({ event: STAKED }));
      expect(await loadStakeEvents(path)).toEqual([parseStakeEvents('staked-withdrawn')[0]]);
      await expect(loadStakeEvents(join(folder, 'none.json'))).rejects.toThrow(
        /is neither a preset \(staked-withdrawn, .*\), nor JSON, nor a file that can be read \(ENOENT\)/,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
