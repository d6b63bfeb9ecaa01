import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import { resolveStakeViews } from '../calls/stake-views.js';
import { parseStakeDescription, parseStakeEvents } from './parse-stake-events.js';

const STAKED = {
  event: 'event Staked(uint256 indexed pool, address user, uint256 amount)',
  account: 'user',
  amount: 'amount',
  effect: 'increase',
};
const STAKE_OF = { function: 'function stakeOf(address) view returns (uint256)' };
const OF_A_POOL = [{ ...STAKED, where: { pool: '3' } }];

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
