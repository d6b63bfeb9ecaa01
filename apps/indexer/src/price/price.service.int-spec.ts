import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { Database, PriceStore } from '#libs/db';
import { CLOCK, createLogger, MetricsModule, Registry } from '#libs/platform';
import { parsePriceSource } from '#libs/price';
import { createTestDatabase, FakeClock, type TestDatabase } from '#libs/testing';
import { CHAIN, LOGGER } from '../indexer.tokens.js';
import { PriceModule } from './price.module.js';

const NOW_MS = 1_700_000_000_000;
const FEED = `0x${'11'.repeat(20)}`;
let test: TestDatabase;
let database: Database;
let app: TestingModule | undefined;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
afterEach(() => app?.close());
afterAll(() => test.drop());

async function start(source: string, answer = 0n): Promise<{ metrics: () => Promise<string> }> {
  const round = { answer, decimals: 8, updatedAtSeconds: NOW_MS / 1000 - 60 };
  const providers = [
    { provide: Database, useValue: database },
    { provide: CHAIN, useValue: { reader: { latestRound: () => Promise.resolve(round) } } },
    { provide: CLOCK, useValue: new FakeClock(NOW_MS) },
    { provide: LOGGER, useValue: createLogger({ app: 'test', level: 'silent' }) },
  ];
  @Global()
  @Module({ providers, exports: providers.map(({ provide }) => provide) })
  class Surroundings {}
  app = await Test.createTestingModule({
    imports: [
      Surroundings,
      MetricsModule.register('test'),
      PriceModule.register(parsePriceSource(source)),
    ],
  }).compile();
  await app.init();
  const registry = app.get(Registry);
  return { metrics: () => registry.metrics() };
}

async function settled(metrics: () => Promise<string>, result: string): Promise<string> {
  for (;;) {
    const text = await metrics();
    if (text.includes(`lowmark_price_readings_total{result="${result}"`)) return text;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('PriceService', () => {
  it('does nothing without a source', async () => {
    await start('none');
    await app?.close();
    expect(await new PriceStore(database).newest()).toBeUndefined();
  });

  it('stores the price at once, with the time of the source', async () => {
    const { metrics } = await start(`chainlink:${FEED}`, 12_345n);
    expect(await settled(metrics, 'stored')).toContain('lowmark_price_usd{app="test"} 0.00012345');
    expect(await new PriceStore(database).newest()).toEqual({
      usd: '0.00012345',
      observedAt: new Date(NOW_MS - 60_000),
      source: `chainlink:${FEED}`,
    });
  });

  it('keeps the last price where the source has none', async () => {
    const { metrics } = await start(`chainlink:${FEED}`, -1n);
    await settled(metrics, 'refused');
    expect((await new PriceStore(database).newest())?.usd).toBe('0.00012345');
  });
});
