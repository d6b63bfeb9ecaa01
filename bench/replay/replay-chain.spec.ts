import { describe, expect, it } from '@jest/globals';
import { changesOf, eventBlocksIn } from './chain-history.js';
import { LogFilter } from './log-filter.js';
import { ReplayChain } from './replay-chain.js';
import { FOLLOWED_POOL } from './replay-contracts.js';
import { ReplayLogs } from './replay-logs.js';
import { type ReplayShape } from './replay-shape.js';

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
  readonly logIndex: string;
}

const parsed = (parts: readonly Buffer[]): Log[] =>
  JSON.parse(`[${parts.map((part) => part.toString()).join()}]`) as Log[];

function logsOf(
  chain: ReplayChain,
  filter: Record<string, unknown>,
  from: number,
  to: number,
): Log[] {
  return parsed(new ReplayLogs(chain).find(new LogFilter(filter, chain.contracts), { from, to }));
}

const SHAPE: ReplayShape = {
  ...{ seed: 3, blocks: 300, events: 400, eventBlocks: 90, wallets: 40, blockSeconds: 12 },
  ...{ contract: 'simple', pools: 1, logTimestamps: false, multicall: true, finalityDepth: 64 },
};

const KINDS: readonly [string, ReplayShape][] = [
  ['simple', SHAPE],
  ['masterchef', { ...SHAPE, contract: 'masterchef', pools: 3 }],
  ['computed', { ...SHAPE, history: 'turns', eventBlocks: 300 }],
];

describe.each(KINDS)('a %s replay chain', (_kind, shape) => {
  const chain = new ReplayChain(shape);

  it('has exactly the blocks and events of its shape, the same each time', () => {
    const eventBlocks = [...eventBlocksIn(chain.history, { from: 0, to: Infinity })];
    expect([chain.head, chain.history.events, eventBlocks.length]).toEqual([
      shape.blocks,
      shape.events,
      shape.eventBlocks,
    ]);
    expect(new ReplayChain(shape).headerText(shape.blocks)).toBe(chain.headerText(shape.blocks));
    const other = new ReplayChain({ ...shape, seed: shape.seed + 1 });
    expect(other.hashOf(5)).not.toBe(chain.hashOf(5));
  });

  it('answers a range with the union of its blocks, by any filter', () => {
    const { staking, topics } = chain.contracts;
    const filters = [
      {},
      { address: staking },
      { address: [staking], topics: [[topics.increase, topics.decrease]] },
      { address: staking, topics: [topics.decrease] },
      { address: staking, topics: [null, `0x${'0'.repeat(64)}`] },
    ];
    const all = logsOf(chain, {}, 0, chain.head);
    for (const filter of filters) {
      const wanted = new LogFilter(filter, chain.contracts);
      const range = logsOf(chain, filter, 0, chain.head);
      expect(range).toEqual(all.filter((log) => wanted.matches(log.address, log.topics)));
      const blocks = Array.from({ length: chain.head + 1 }, (_, number) =>
        logsOf(chain, filter, number, number),
      );
      expect(blocks.flat()).toEqual(range);
    }
  });

  it('tells balances and totals at every block as its logs fold', () => {
    const { staking, topics } = chain.contracts;
    const balances = new Map<string, bigint>();
    let total = 0n;
    for (let number = 0; number <= chain.head; number++) {
      for (const log of logsOf(chain, { address: staking }, number, number)) {
        const amount = log.topics[0] === topics.increase ? BigInt(log.data) : -BigInt(log.data);
        const key = log.topics.slice(1).join();
        balances.set(key, (balances.get(key) ?? 0n) + amount);
        total += amount;
      }
      expect(chain.history.totalAt(number)).toBe(total);
    }
    const own = new Map<string, bigint>();
    for (let event = 0; event < chain.history.events; event++) {
      const { wallet, pool } = chain.history.move(event);
      const key = chain.topicsOf(event).slice(1).join();
      own.set(key, chain.history.balanceAt(wallet, pool, chain.head));
    }
    expect(own).toEqual(balances);
  });

  it('has an oracle that agrees with the balances at each change', () => {
    const changes = [...changesOf(chain.history, FOLLOWED_POOL)];
    expect(changes.length).toBeGreaterThan(shape.events / 4);
    for (const { wallet, block, balance } of changes) {
      expect(chain.history.balanceAt(wallet, FOLLOWED_POOL, block)).toBe(balance);
      expect(chain.history.balanceAt(wallet, FOLLOWED_POOL, block - 1)).not.toBe(balance);
    }
  });
});
