import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { ChainReader } from '#libs/chain';
import { Database, IndexStore, PriceAcceptanceStore, PriceStore } from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { CLOCK } from '#libs/platform';
import { createLogger, LOGGER, MetricsModule, Registry } from '#libs/service';
import { parsePriceSources } from '#libs/price';
import { FakeClock } from '#libs/testing/clock';
import { anInitialIndex, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { IndexStatus } from '../health/index-status.js';
import { IndexerSettings } from '../settings/indexer.env.js';
import { PriceModule } from './price.module.js';
import { PriceService } from './price.service.js';

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
    imports: [Surroundings, MetricsModule.register('test'), ScheduleModule.forRoot(), PriceModule],
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
  it('does nothing without a source', async () => {
    await lead();
    const { metrics } = await start('none');
    for (const result of ['stored', 'older', 'held', 'refused', 'failed']) {
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

  it('is held and not used, as by a jump', async () => {
    const { metrics } = await begin();
    await next(metrics, 'stored');
    price = 0.2;
    expect(await next(metrics, 'held')).toContain('lowmark_price_held{app="test"} 1');
    expect((await prices.newest())?.usd).toBe('0.15');
    expect(await prices.quoted()).toMatchObject({ isHeld: true, price: { usd: '0.15' } });
    const { hold } = await prices.standing();
    expect(hold).toMatchObject({ reason: 'jump', beforeUsd: '0.15', isAccepted: false });
    expect(Number(hold?.price.usd)).toBe(0.2);
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
