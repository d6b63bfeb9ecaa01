import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { Database, IndexStore, PriceStore } from '#libs/db';
import { createLogger, MetricsModule, Registry } from '#libs/platform';
import { parsePriceSource } from '#libs/price';
import { anInitialIndex, createTestDatabase, FakeClock, type TestDatabase } from '#libs/testing';
import { IndexStatus } from '../follow/index-status.js';
import { CHAIN, INDEXER } from '../indexer.tokens.js';
import { PriceModule } from './price.module.js';

const NOW_MS = 1_700_000_000_000;
const FEED = `0x${'11'.repeat(20)}`;
let test: TestDatabase;
let database: Database;
let index: IndexStore;
let app: TestingModule | undefined;
let status: IndexStatus;
/** Comes before the feed's answer. */
let beforeAnswer: () => unknown;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  index = new IndexStore(database);
  await index.create(anInitialIndex());
});
beforeEach(() => {
  status = new IndexStatus(NOW_MS);
  beforeAnswer = () => undefined;
});
afterEach(() => app?.close());
afterAll(() => test.drop());

async function lead(): Promise<AbortController> {
  const ending = new AbortController();
  status.leads({ fence: await index.takeLead(), signal: ending.signal });
  return ending;
}

async function start(
  source: string,
  answer: () => { answer: bigint; secondsAgo: number } = () => ({ answer: 0n, secondsAgo: 60 }),
): Promise<{ metrics: () => Promise<string> }> {
  const latestRound = async () => {
    await beforeAnswer();
    const { answer: price, secondsAgo } = answer();
    return { answer: price, decimals: 8, updatedAtSeconds: NOW_MS / 1000 - secondsAgo };
  };
  const providers = [
    { provide: Database, useValue: database },
    { provide: CHAIN, useValue: { reader: { latestRound } } },
    { provide: INDEXER, useValue: { status } },
  ];
  @Global()
  @Module({ providers, exports: providers.map(({ provide }) => provide) })
  class Surroundings {}
  app = await Test.createTestingModule({
    imports: [
      Surroundings,
      MetricsModule.register('test'),
      PriceModule.register(parsePriceSource(source), {
        clock: new FakeClock(NOW_MS),
        logger: createLogger({ app: 'test', level: 'silent' }),
      }),
    ],
  }).compile();
  await app.init();
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
  it('does nothing without a source', async () => {
    await lead();
    const { metrics } = await start('none');
    for (const result of ['stored', 'older', 'refused', 'failed']) {
      expect(await metrics()).toContain(
        `lowmark_price_readings_total{result="${result}",app="test"} 0`,
      );
    }
    await app?.close();
    expect(await new PriceStore(database).newest()).toBeUndefined();
  });

  it('stores the price at once, with the time of the source', async () => {
    await lead();
    const { metrics } = await start(`chainlink:${FEED}`, () => ({
      answer: 12_345n,
      secondsAgo: 60,
    }));
    expect(await settled(metrics, 'stored')).toContain('lowmark_price_usd{app="test"} 0.00012345');
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
      // As where the process is stopped between reading and writing.
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
