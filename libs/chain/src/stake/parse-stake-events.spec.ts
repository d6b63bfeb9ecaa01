import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import { resolveStakeViews } from '../calls/stake-views.js';
import { loadStakeEvents, parseStakeDescription, parseStakeEvents } from './parse-stake-events.js';

const increase = (more: Record<string, unknown>): string =>
  JSON.stringify([{ account: 'user', amount: 'amount', effect: 'increase', ...more }]);
const STAKED = 'event Staked(address indexed user, uint256 amount)';

describe('STAKE_EVENTS', () => {
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

const POOL_EVENT = {
  event: 'event Staked(uint256 indexed pool, address user, uint256 amount)',
  account: 'user',
  amount: 'amount',
  effect: 'increase',
};
const STAKE_OF = { function: 'function stakeOf(address) view returns (uint256)' };
const OF_A_POOL = [{ ...POOL_EVENT, where: { pool: '3' } }];

const names = (views: unknown): unknown =>
  Array.isArray(views) ? views.map(({ signature }: { signature: string }) => signature) : views;

describe('STAKE_EVENTS as the description of a contract', () => {
  it.each([
    ['staked-withdrawn', 'bc76678b8e21b94ca89e81de19d3156993ebabcc2215c7f4c56a5eb453d29b5d'],
    ['stake-unstake', '8dbd5481976d03a336d483e6043d055864eb5148d55e638814cc7dff7b0b3ef8'],
    ['deposit-withdraw', '73ce103084effc4f965aafcc1a65848ff95e0435e41d10f60ec88866f7b8be55'],
    ['transfer', '86c0c2d2266670d9bfd356cfe611ad2802af0544d185c9b650210ca1451ff247'],
    [
      JSON.stringify([
        {
          event: 'event UserStaked(uint256 indexed poolId, address user, uint256 amount)',
          account: 'user',
          amount: 'amount',
          effect: 'increase',
          where: { poolId: '3' },
        },
      ]),
      'f15a0d5c7878b8337b3211182873eeea6021612867578fe90a913ada2032c9e3',
    ],
  ])('keeps the canonical form that stored indexes were made with: %s', (text, sha256) => {
    const canonical = canonicalJson(parseStakeEvents(text));
    expect(createHash('sha256').update(canonical).digest('hex')).toBe(sha256);
  });

  it('has views beside the events, one or a list', () => {
    const { events, totalView, balanceView } = parseStakeDescription(
      JSON.stringify({
        events: OF_A_POOL,
        totalView: {
          function: 'function poolsData(uint256) returns (uint128, uint256, uint256 total)',
          arguments: { 0: 3 },
          output: 'total',
        },
        balanceView: [
          {
            function: 'function a(address user, uint256 id) returns (uint256)',
            arguments: { id: 3 },
          },
          { function: 'function b(address) returns (uint256)' },
        ],
      }),
    );
    expect(events).toEqual(parseStakeEvents(JSON.stringify(OF_A_POOL)));
    expect(names(totalView)).toEqual(['poolsData(uint256)']);
    expect(names(balanceView)).toEqual(['a(address,uint256)', 'b(address)']);
  });

  it.each([
    [
      'totalView',
      { totalView: { function: 'function f(address) returns (uint256)' } },
      /^STAKE_EVENTS totalView: f needs/,
    ],
    ['balanceView', { balanceView: [5] }, /^STAKE_EVENTS balanceView\[0\]: must be/],
  ])('says which part is wrong: %s', (_case, views, reason) => {
    const text = JSON.stringify({ events: OF_A_POOL, ...views });
    expect(() => parseStakeDescription(text)).toThrow(reason);
  });

  it('may name a preset for the events, whose views stand unless it has others', () => {
    const described = (more: object) =>
      parseStakeDescription(JSON.stringify({ events: 'erc4626', ...more }));
    expect(described({}).events).toEqual(parseStakeEvents('erc4626'));
    expect(names(described({}).totalView)).toEqual(['totalSupply()']);
    const { totalView, balanceView } = described({ totalView: [] });
    expect([totalView, names(balanceView)]).toEqual([[], ['balanceOf(address)']]);
  });

  it('counts each event for a number', () => {
    const event = 'event Staked(address indexed user, uint256 indexed tokenId)';
    for (const amount of [1, '1']) {
      const text = JSON.stringify([{ event, account: 'user', amount, effect: 'increase' }]);
      expect(parseStakeEvents(text)).toEqual(parseStakeEvents('erc721-staking').slice(0, 1));
    }
    expect(parseStakeEvents('erc721-receipt')).toMatchObject([
      { topics: 4, dataWords: 0, amount: { in: 'constant', word: '1'.padStart(64, '0') } },
    ]);
  });

  it('is known by a name for contracts in use', () => {
    expect(parseStakeEvents('synthetix-staking-rewards')).toEqual(
      parseStakeEvents('staked-withdrawn'),
    );
    for (const name of ['erc4626', 'erc20-receipt']) {
      const { events, totalView, balanceView } = parseStakeDescription(name);
      expect(events).toEqual(parseStakeEvents('transfer'));
      expect([names(totalView), names(balanceView)]).toEqual([
        ['totalSupply()'],
        ['balanceOf(address)'],
      ]);
    }
    const { events, totalView, balanceView } = parseStakeDescription('masterchef-v2:17');
    expect(events.map(({ signature, effect, account }) => [signature, effect, account])).toEqual([
      ['Deposit(address,uint256,uint256,address)', 'increase', { in: 'topic', index: 3 }],
      ['Withdraw(address,uint256,uint256,address)', 'decrease', { in: 'topic', index: 1 }],
      ['EmergencyWithdraw(address,uint256,uint256,address)', 'decrease', { in: 'topic', index: 1 }],
    ]);
    for (const { where } of events) {
      expect(where).toEqual([{ slot: { in: 'topic', index: 2 }, word: '11'.padStart(64, '0') }]);
    }
    expect([totalView, names(balanceView)]).toEqual([[], ['userInfo(uint256,address)']]);
  });
});

describe('the views in force', () => {
  const plain = parseStakeDescription('staked-withdrawn');
  const filtered = parseStakeDescription(JSON.stringify(OF_A_POOL));
  const chef = parseStakeDescription('masterchef-v1:0');

  const ofAPool = parseStakeDescription(
    JSON.stringify({ events: OF_A_POOL, balanceView: STAKE_OF }),
  );
  const above = parseStakeDescription(
    JSON.stringify({ events: 'erc20-receipt', totalView: [], balanceView: STAKE_OF }),
  );

  it.each([
    ['nothing is set: the usual ones', plain, [undefined, undefined]],
    ['a part of the events: none', filtered, [[], []]],
    ['a part of the events and a view', ofAPool, [[], ['stakeOf(address)']]],
    ['a preset with views of its part', chef, [[], ['userInfo(uint256,address)']]],
    ['views above a preset', above, [[], ['stakeOf(address)']]],
  ])('%s', (_case, description, expected) => {
    const { totalView, balanceView } = resolveStakeViews(description);
    expect([names(totalView), names(balanceView)]).toEqual(expected);
  });
});
