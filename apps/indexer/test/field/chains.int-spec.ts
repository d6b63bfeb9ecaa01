/** Chains whose every node shows what others do not. */
import { describe, expect, it } from '@jest/globals';
import { ZERO_ADDRESS } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { type Fault, isSelector, type StakeEvent, TOTAL_STAKED } from '#libs/testing/fake-node';
import { FieldSuite } from './field-suite.js';
import { type WorldOptions } from './field-world.js';

const suite = new FieldSuite();
const wallet = aWallet(1);
const at =
  (numbers: readonly number[], event: StakeEvent) =>
  (number: number): readonly StakeEvent[] =>
    numbers.includes(number) ? [event] : [];
const burnt = at([15, 33, 42, 43], { wallet, to: ZERO_ADDRESS, amount: 2n });
const TOKEN_WORLD = { events: 'transfer', more: burnt } as const;

/** What every node of a chain shows. */
const CHAINS: readonly (WorldOptions & { readonly name: string; readonly source: string })[] = [
  {
    name: 'a burn to 0x0 leaves the total as it is',
    source: 'transmissions11/solmate#58, balancer/balancer-core#197',
    ...TOKEN_WORLD,
    keepsBurnt: true,
  },
  {
    name: 'a burn to 0x0 reduces the total, and 0x0 has no balance',
    source: 'OpenZeppelin/openzeppelin-contracts#4215',
    ...TOKEN_WORLD,
  },
  {
    name: 'the total leaves out what 0x0 holds',
    source: 'ethereum/EIPs#1419',
    ...TOKEN_WORLD,
    keepsBurnt: true,
    excludesBurnt: true,
  },
  {
    name: 'somebody stakes for 0x0',
    source: 'ethereum/EIPs#1419 (of its kind)',
    more: at([15, 33, 42], { wallet: ZERO_ADDRESS, amount: 5n }),
  },
  {
    name: 'blocks of the same time, as everywhere here',
    source: 'base/docs, Denim: five blocks share a second',
  },
  {
    name: 'events that neither blooms nor receipts show',
    source: '0xPolygon/bor#519, 0xPolygon/bor#1654',
    more: at([15, 33, 41, 42, 43], { wallet, amount: 3n, isHidden: true }),
  },
];

describe('a chain', () => {
  it.each(CHAINS.flatMap((chain) => [1, 2].map((endpoints) => ({ ...chain, endpoints }))))(
    'by $endpoints: $name',
    async ({ endpoints, ...options }) => {
      const one = suite.aWorld(options);
      await one.start(...Array.from({ length: endpoints }, () => []));
      await suite.expectRight(one);
      await suite.follow(one);
    },
  );

  it.each([
    { endpoints: 1, mode: 'wallets' },
    { endpoints: 2, mode: 'two' },
  ])(
    'by $endpoints: whose contract loses its total, is verified in the mode $mode',
    async (row) => {
      const one = suite.aWorld();
      const nodes = [...Array(row.endpoints).keys()];
      const running = await one.start(...nodes.map(() => []));
      await suite.expectRight(one);
      const error = { code: 3, message: 'execution reverted' };
      const only = isSelector(TOTAL_STAKED);
      for (const place of nodes)
        one.setFaults(place, [{ kind: 'error', method: 'eth_call', ...error, only }]);
      await suite.follow(one);
      expect(running.status.verification?.mode).toBe(row.mode);
    },
  );

  it.each([19, 20])('that skips height %i is refused before the sync', async (height) => {
    const one = suite.aWorld({ skips: new Set([height]) });
    const running = await one.start([]);
    await expect(running.running).rejects.toMatchObject({
      code: 'CHAIN_SKIPS_HEIGHTS',
      message: expect.stringContaining(`no block ${height}, although it has later ones`),
    });
  });

  it('that skips a height later: the index halts and says so', async () => {
    const one = suite.aWorld({ skips: new Set([43]) });
    const running = await one.start([]);
    await suite.expectRight(one);
    one.mine(4);
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toMatch(/has no block 43, although it has later ones/);
  });
});

/** A proxy that keeps each header by number for ever (openethereum/parity-ethereum#1815, indexsupply/shovel#152). */
function keptHeaders(): Fault {
  const kept = new Map<unknown, unknown>();
  return {
    kind: 'lie',
    change: ({ method, params: [number] }, result) => {
      if (method !== 'eth_getBlockByNumber' || !/^0x/.test(String(number)) || result === null)
        return undefined;
      if (!kept.has(number)) kept.set(number, result);
      return kept.get(number);
    },
  };
}

describe.each([
  { place: 'first', faults: (...all: Fault[]) => [all, []] },
  { place: 'second', faults: (...all: Fault[]) => [[], all] },
])('the $place of two endpoints', ({ faults }) => {
  it('keeps the headers of replaced blocks: the index follows the other one', async () => {
    const one = suite.aWorld();
    await one.start(...faults(keptHeaders()));
    await suite.expectRight(one);
    one.reorganise(3);
    await suite.expectRight(one);
    await suite.follow(one);
  });

  it.each<{ name: string; options?: WorldOptions; more?: readonly Fault[] }>([
    { name: 'by depth' },
    { name: 'by depth, of a contract without a total', options: { hasNoTotal: true } },
    {
      name: 'by finalized',
      options: { finality: 'finalized' },
      more: [{ kind: 'late-final', blocks: 27n }],
    },
    { name: 'and knows no final block', options: { finality: 'finalized' } },
  ])('stands still (litentry/heima#807), $name', async ({ options, more = [] }) => {
    const one = suite.aWorld(options);
    const running = await one.start(...faults(...more, { kind: 'lagging', blocks: 36n }));
    await suite.expectRight(one);
    await suite.follow(one);
    const said = running.log.map(({ msg }) => msg).join('\n');
    expect(said).toMatch(
      /#\d: (?:its newest block is \d+, 216 seconds older|has no finalized block)/,
    );
  });
});
