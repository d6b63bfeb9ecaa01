/** Parts of the indexer over a real database, without a chain: its preparation, its writer, its partitions, its prices. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { ChainReader, type ReadRange } from '#libs/chain';
import {
  Database,
  fingerprintOf,
  IndexStore,
  PartitionStore,
  PriceAcceptanceStore,
  PriceStore,
} from '#libs/db';
import { type BlockDeltas, parseDecimal } from '#libs/domain';
import { CLOCK, type Logger, systemClock } from '#libs/platform';
import { parsePriceSources } from '#libs/price';
import { createLogger, LOGGER, MetricsModule, Registry } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import {
  aBlock,
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { IndexStatus } from '../src/health/index-status.js';
import { type IndexOptions, indexSettingsOf } from '../src/settings/index-options.js';
import { IndexPreparation } from '../src/setup/index-preparation.js';
import { IndexWriter } from '../src/write/index-writer.js';
import { PartitionService } from '../src/write/partition.service.js';
import { IndexerSettings } from '../src/settings/indexer.env.js';
import { PriceModule } from '../src/price/price.module.js';
import { PriceService } from '../src/price/price.service.js';

const logger = createLogger({ app: 'test', level: 'silent' });
const wanted = {
  chainId: 31_337,
  contracts: [aWallet(0xa1)],
  tokenContract: aWallet(0xa2),
  firstBlock: 1n,
  events: [{ event: 'Staked' }],
  verification: 'auto',
  maxRangeBlocks: 1_000,
} as unknown as IndexOptions;

let test: TestDatabase;
let owner: Database;
let store: IndexStore;
beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  store = new IndexStore(owner);
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

const BLOCK = { ...aBlock(0), parentHash: aBlock(0).hash };

function prepare(reader: ChainReader, status: IndexStatus, options = wanted) {
  return new IndexPreparation(reader, store, status, systemClock, logger, options).prepare();
}

/**
 * A reader behind which another process creates the index, after this process has looked for one and before it creates
 * its own.
 */
function readerBehind(other: IndexOptions): ChainReader {
  const settings = indexSettingsOf(other);
  const made = anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } });
  return {
    verifyChainId: () => Promise.resolve(),
    hasCode: () => Promise.resolve(true),
    headers: () => Promise.resolve([BLOCK]),
    agreedHeader: () => Promise.resolve(BLOCK),
    token: async () => {
      await store.create(made);
      return { symbol: 'LOW', decimals: 18 };
    },
    heads: () => Promise.resolve({ endpoint: 'node#1', latest: BLOCK, finalised: BLOCK }),
    skippedHeight: () => Promise.resolve(undefined),
    endpointsWithoutLogs: () => Promise.resolve(new Map()),
    endpointsWithLogs: () => Promise.resolve(['node#1']),
    stakeTotal: () => Promise.resolve(0n),
    stakeBalances: () => Promise.resolve([0n]),
    endpoints: ['node#1'],
    budgets: [undefined],
    unansweredViews: [],
    hasTotal: true,
  } as Partial<ChainReader> as ChainReader;
}

describe('IndexPreparation', () => {
  it('tells how far the index is, though no endpoint answers', async () => {
    const settings = indexSettingsOf(wanted);
    const { head } = await store.create(
      anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } }),
    );
    const status = new IndexStatus();
    const away = () => Promise.reject(new Error('no endpoint'));
    const reader = Object.assign(readerBehind(wanted), { verifyChainId: away });
    await expect(prepare(reader, status)).rejects.toThrow('no endpoint');
    expect(status.head).toEqual(head);
  });

  it('refuses the index that another process has made meanwhile with other settings', async () => {
    const other = { ...wanted, events: [{ event: 'Deposited' }] } as unknown as IndexOptions;
    await expect(prepare(readerBehind(other), new IndexStatus())).rejects.toMatchObject({
      code: 'SETTINGS_CHANGED',
      message: expect.stringContaining('STAKE_EVENTS was [{"event":"Deposited"}]'),
    });
    const status = new IndexStatus();
    await prepare(readerBehind(other), status, other);
    expect(status.verification).toMatchObject({ mode: 'total' });
  });
});

const NO_FACTS = { finalised: undefined };

/** The answer for one block, in which each of the wallets stakes 5. */
function range(number: number, ...wallets: readonly number[]): ReadRange {
  const head = aBlock(number);
  const block: BlockDeltas = {
    ...{ blockNumber: head.number, timestampSeconds: head.timestampSeconds },
    deltas: wallets.map((wallet) => ({ wallet: aWallet(wallet), amount: 5n })),
  };
  return {
    head: { ...head, parentHash: head.hash },
    headers: [],
    blocks: [block],
  } as unknown as ReadRange;
}

// What it keeps in memory, and what the database refuses of it: test/simulation.
describe('IndexWriter', () => {
  it('writes nothing once its lead has ended', async () => {
    const options = { ...wanted, cachedWallets: 1 } as IndexOptions;
    const settings = indexSettingsOf(options);
    const fingerprint = fingerprintOf(settings);
    const index = new IndexStore(await test.open({ url: test.urlAs('indexer') }));
    await index.create(anInitialIndex({ settings: { ...settings }, fingerprint }));
    const lead = new AbortController();
    const writer = await IndexWriter.takeLead(index, options, lead.signal);
    await writer.apply(range(1, 1), NO_FACTS);
    await writer.settled();
    const next = await IndexWriter.takeLead(index, options, new AbortController().signal);
    const before = await index.state();
    lead.abort(new Error('the lead has ended'));
    for (const write of [
      () => writer.apply(range(2, 1), NO_FACTS),
      () => writer.note({ finalised: aBlock(1), synced: true }),
      () => writer.rollback(aBlock(0)),
      () => writer.halt('a reason'),
      () => writer.resume(),
    ]) {
      await expect(write()).rejects.toThrow('the lead has ended');
    }
    expect(await index.state()).toEqual(before);
    await next.apply(range(2, 1), NO_FACTS);
    await next.settled();
    expect(next.stored.total).toBe(10n);
  });
});

async function partitions(): Promise<number> {
  const text = `SELECT FROM pg_inherits WHERE inhparent = 'staking.balance_change'::regclass`;
  return (await owner.query({ text })).length;
}

it('adds partitions while it leads, in the first sync too, and rests where a table is kept', async () => {
  const database = await test.open({ url: test.urlAs('indexer') });
  const index = new IndexStore(database);
  await index.create(anInitialIndex());
  const fence = await index.takeLead();
  const head = aBlock(1);
  const changes = Array.from({ length: 200 }, (_, place) => ({
    ...{ wallet: aWallet(place + 1), balance: 1n },
    ...{ blockNumber: head.number, timestampSeconds: head.timestampSeconds },
  }));
  await index.commit({
    ...{ fence, previousHead: aBlock(0), head, blocks: [head] },
    folded: aFold({ changes, total: 200n }),
  });
  await owner.query({
    text: `CREATE OR REPLACE FUNCTION staking.partition_bytes() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 8192::bigint'`,
  });
  const [status, clock, lead] = [new IndexStatus(), new FakeClock(0), new AbortController()];
  const log: string[] = [];
  const note = (_: object, message: string) => log.push(message);
  const logger = { info: note, warn: note, error: note } as unknown as Logger;
  const service = new PartitionService(new PartitionStore(database), status, clock, logger);

  status.phase = 'backfilling';
  await service.tick();
  expect(await partitions()).toBe(1);

  status.leads({ fence, signal: lead.signal });
  const reader = await owner.pool.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM staking.balance_change LIMIT 1');
  await service.tick();
  expect(log.join('')).toContain('long transaction');
  await reader.query('COMMIT');
  reader.release();
  await service.tick();
  expect(await partitions()).toBe(1);
  clock.advance(60_000);
  await service.tick();
  expect(await partitions()).toBe(2);
  expect(log.join('')).toContain('Added a partition');

  await index.takeLead();
  await owner.query({
    text: 'INSERT INTO staking.balance_day SELECT wallet, 1, 0, 1 FROM staking.balance_change',
  });
  await service.tick();
  expect(log.join('')).toContain('the index goes on without it');
  lead.abort();
  await service.beforeApplicationShutdown();
});

describe('prices', () => {
  const NOW_MS = 1_700_000_000_000;
  const FEED = `0x${'11'.repeat(20)}`;
  const WIDE: Partial<IndexerSettings> = {
    priceBoundsUsd: { min: parseDecimal('1e-9'), max: parseDecimal('1000') },
    priceMaxChange: parseDecimal('1e9'),
    priceMaxAgeSeconds: 7200,
  };
  let test: TestDatabase;
  let database: Database;
  let index: IndexStore;
  let app: TestingModule | undefined;
  let status: IndexStatus;
  let beforeAnswer: () => unknown;

  beforeAll(async () => {
    test = await createTestDatabase();
    database = await test.open();
    index = new IndexStore(database);
    await index.create(anInitialIndex());
  });
  beforeEach(() => {
    status = new IndexStatus();
    beforeAnswer = () => undefined;
  });
  afterEach(() => app?.close());
  afterAll(() => test.drop());

  type Limits = { readonly [K in keyof IndexerSettings]?: IndexerSettings[K] | undefined } & {
    readonly isQuick?: boolean;
  };

  async function lead(): Promise<AbortController> {
    const ending = new AbortController();
    status.leads({ fence: await index.takeLead(), signal: ending.signal });
    return ending;
  }

  async function start(
    source: string,
    answer: () => { answer: bigint; secondsAgo: number } = () => ({ answer: 0n, secondsAgo: 60 }),
    { isQuick = false, ...limits }: Limits = {},
  ): Promise<{ metrics: () => Promise<string> }> {
    const latestRound = async () => {
      await beforeAnswer();
      const { answer: price, secondsAgo } = answer();
      const updatedAtSeconds = NOW_MS / 1000 - secondsAgo;
      return { roundId: 9n, answeredInRound: 9n, answer: price, decimals: 8, updatedAtSeconds };
    };
    const settings = { ...WIDE, ...limits, priceSource: parsePriceSources(source) };
    const providers = [
      { provide: Database, useValue: database },
      { provide: ChainReader, useValue: { latestRound } },
      { provide: IndexStatus, useValue: status },
      { provide: CLOCK, useValue: new FakeClock(NOW_MS) },
      { provide: LOGGER, useValue: createLogger({ app: 'test', level: 'silent' }) },
      { provide: IndexerSettings, useValue: settings },
    ];
    @Global()
    @Module({ providers, exports: providers.map(({ provide }) => provide) })
    class Surroundings {}
    app = await Test.createTestingModule({
      imports: [
        Surroundings,
        MetricsModule.register('test'),
        ScheduleModule.forRoot(),
        PriceModule,
      ],
    }).compile();
    await app.init();
    const service = app.get(PriceService);
    const again = isQuick && setInterval(service.startReading.bind(service), 20);
    if (again) app.get(SchedulerRegistry).addInterval('quick', again);
    const registry = app.get(Registry);
    return { metrics: () => registry.metrics() };
  }

  async function settled(metrics: () => Promise<string>, result: string): Promise<string> {
    for (;;) {
      const text = await metrics();
      if (new RegExp(`readings_total{result="${result}",app="test"} [1-9]`).test(text)) return text;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  describe('PriceService', () => {
    it('stores the price at once, with the time of the source', async () => {
      await lead();
      const { metrics } = await start(`chainlink:${FEED}`, () => ({
        answer: 12_345n,
        secondsAgo: 60,
      }));
      expect(await settled(metrics, 'stored')).toContain(
        'lowmark_price_usd{app="test"} 0.00012345',
      );
      expect(await new PriceStore(database).newest()).toEqual({
        usd: '0.00012345',
        observedAt: new Date(NOW_MS - 60_000),
        source: `chainlink:${FEED}`,
      });
    });

    it('keeps the last price where the source has none, or an older one', async () => {
      const round = { answer: -1n, secondsAgo: 30 };
      await lead();
      const { metrics } = await start(`chainlink:${FEED}`, () => round);
      await settled(metrics, 'refused');
      Object.assign(round, { answer: 7n, secondsAgo: 3600 });
      await lead();
      await settled(metrics, 'older');
      expect((await new PriceStore(database).newest())?.usd).toBe('0.00012345');
    });

    it('asks nobody while another leads, and reads at once on taking the lead', async () => {
      let questions = 0;
      beforeAnswer = () => questions++;
      const { metrics } = await start(`chainlink:${FEED}`, () => ({ answer: 2n, secondsAgo: 20 }));
      expect(questions).toBe(0);
      await lead();
      await settled(metrics, 'stored');
      expect(questions).toBe(1);
    });

    it('stores nothing that it read before it lost the lead, and reads again on taking it', async () => {
      const first = await lead();
      let answered = 0;
      beforeAnswer = async () => {
        if (++answered > 1) return;
        // Simulates a lead that ends between reading and writing.
        first.abort();
        await index.takeLead();
        await lead();
      };
      const { metrics } = await start(`chainlink:${FEED}`, () => ({
        answer: answered === 1 ? 111n : 3n,
        secondsAgo: answered === 1 ? 5 : 10,
      }));
      await settled(metrics, 'stored');
      expect(answered).toBe(2);
      expect((await new PriceStore(database).newest())?.usd).toBe('0.00000003');
    });
  });

  describe('a price beyond the limits', () => {
    const STRICT = {
      isQuick: true,
      priceBoundsUsd: { min: parseDecimal('0.05'), max: parseDecimal('5') },
      priceMaxChange: parseDecimal('0.2'),
    };
    const usd = (price: number): bigint => BigInt(Math.round(price * 1e8));
    let price: number;
    let prices: PriceStore;
    const begin = () =>
      start(`chainlink:${FEED}`, () => ({ answer: usd(price), secondsAgo: 1 }), STRICT);
    const accept = (figure: string) =>
      new PriceAcceptanceStore(database).accept(figure, {
        actor: 'operator:test',
        note: { command: 'price accept', outcome: 'accepted' },
      });
    /** Waits until a reading that began after the call has this result. */
    async function next(metrics: () => Promise<string>, result: string): Promise<string> {
      const count = async (): Promise<number> => {
        const found = new RegExp(`readings_total{result="${result}",app="test"} (\\d+)`);
        return Number(found.exec(await metrics())?.[1] ?? 0);
      };
      const before = await count();
      while ((await count()) < before + 2) await new Promise((resolve) => setTimeout(resolve, 5));
      return metrics();
    }

    beforeEach(async () => {
      prices = new PriceStore(database);
      await database.query({ text: 'TRUNCATE staking.price, staking.price_hold' });
      await database.query({ text: 'TRUNCATE staking.price_acceptance' });
      price = 0.15;
      await lead();
    });

    it('stays held when the source comes back, until that figure is accepted', async () => {
      const { metrics } = await begin();
      await next(metrics, 'stored');
      price = 0.00015;
      await next(metrics, 'held');
      price = 0.15;
      await next(metrics, 'held');
      const { hold } = await prices.standing();
      expect(hold).toMatchObject({ reason: 'below-minimum', price: { usd: '0.15' } });
      await expect(accept('0.00015')).rejects.toMatchObject({ code: 'PRICE_MOVED' });
      await accept('0.15');
      expect(await next(metrics, 'stored')).toContain('lowmark_price_held{app="test"} 0');
      expect(await prices.quoted()).toMatchObject({ isHeld: false, price: { usd: '0.15' } });
      await expect(accept('0.15')).rejects.toMatchObject({ code: 'PRICE_NOT_HELD' });
    });

    it('is accepted by its figure: another one is held again, and needs another acceptance', async () => {
      const { metrics } = await begin();
      await next(metrics, 'stored');
      price = 0.02;
      await next(metrics, 'held');
      const first = (await prices.standing()).hold?.since;
      // Simulates a price that changes between the reading that the operator saw and the next one.
      await app?.close();
      await accept('0.02');
      price = 0.002;
      await lead();
      const again = await begin();
      await next(again.metrics, 'held');
      const { hold } = await prices.standing();
      expect(hold).toMatchObject({ reason: 'below-minimum', beforeUsd: '0.02', isAccepted: false });
      expect(hold?.since.getTime()).toBeGreaterThan(first?.getTime() ?? 0);
      expect((await prices.newest())?.usd).toBe('0.15');
      price = 0.02;
      await next(again.metrics, 'held');
      await accept('0.02');
      await next(again.metrics, 'stored');
      price = 0.021;
      await next(again.metrics, 'stored');
      expect((await prices.newest())?.usd).toBe('0.021');
    });

    it('is found also where it drifts there in small steps', async () => {
      const { metrics } = await begin();
      await next(metrics, 'stored');
      for (const step of [0.13, 0.115, 0.1]) {
        price = step;
        await next(metrics, 'stored');
      }
      price = 0.088;
      await next(metrics, 'held');
      expect((await prices.standing()).hold).toMatchObject({ reason: 'drift', beforeUsd: '0.1' });
    });
  });
});
