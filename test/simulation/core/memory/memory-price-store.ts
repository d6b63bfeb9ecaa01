import {
  FencedError,
  type Price,
  type PriceHold,
  type PriceReference,
  type PriceStore,
} from '#libs/db';
import { compareDecimals, parseDecimal } from '#libs/domain';
import { type MemoryTables, type Public, type StoredPrice } from './memory-tables.js';

const HOUR_MS = 3_600_000;
const MOST_AHEAD_MS = 300_000;

/** Without the acceptance of prices, which is an operator's. */
export class MemoryPriceStore implements Public<PriceStore> {
  constructor(private readonly tables: MemoryTables) {}

  standing(): Promise<PriceReference> {
    const { prices, priceHold } = this.tables;
    const sinceMs = Date.now() - HOUR_MS;
    const hour = prices
      .filter(({ readAtMs }) => readAtMs > sinceMs)
      .map(({ usd }) => usd)
      .sort((one, other) => compareDecimals(parseDecimal(one), parseDecimal(other)));
    return Promise.resolve({
      beforeUsd: prices.at(-1)?.usd,
      lowestUsd: hour[0],
      highestUsd: hour.at(-1),
      acceptedUsd: undefined,
      hold: priceHold,
    });
  }

  hold(
    fence: bigint,
    { price, isAnew, reason, beforeUsd, maxChange }: Parameters<PriceStore['hold']>[1],
  ): Promise<void> {
    const { tables } = this;
    if (tables.state?.fence !== fence) return Promise.reject(new FencedError());
    const before = tables.priceHold;
    const begun: Pick<PriceHold, 'since' | 'reason' | 'beforeUsd'> =
      before === undefined || isAnew ? { since: new Date(), reason, beforeUsd } : before;
    tables.priceHold = {
      ...{ since: begun.since, reason: begun.reason, beforeUsd: begun.beforeUsd },
      ...{ price, maxChange, isAccepted: false },
    };
    tables.version++;
    return Promise.resolve();
  }

  quoted(): ReturnType<PriceStore['quoted']> {
    const { priceHold } = this.tables;
    return this.newest().then((price) => ({
      price,
      isHeld: priceHold !== undefined,
      acceptedUsd: undefined,
    }));
  }

  record(fence: bigint, { observedAt, source, usd }: Price): Promise<boolean> {
    const { tables } = this;
    if (tables.state?.fence !== fence) return Promise.reject(new FencedError());
    const atMs = observedAt.getTime();
    const own = tables.prices.filter((price) => price.source === source);
    const latestMs = Date.now() + MOST_AHEAD_MS;
    const hasNewer = own.some((one) => one.observedMs > atMs && one.observedMs <= latestMs);
    if (hasNewer) return Promise.resolve(false);
    const same = own
      .filter(({ observedMs }) => observedMs === atMs)
      .reduce<StoredPrice | undefined>(
        (newest, one) => (newest === undefined || one.micros > newest.micros ? one : newest),
        undefined,
      );
    const isSame =
      same !== undefined && compareDecimals(parseDecimal(same.usd), parseDecimal(usd)) === 0;
    const micros = same === undefined ? 0 : isSame ? same.micros : same.micros + 1;
    tables.prices = [
      ...tables.prices.filter((one) => !(isSame && one === same)),
      { observedMs: atMs, micros, source, usd, readAtMs: Date.now() },
    ];
    tables.priceHold = undefined;
    tables.version++;
    return Promise.resolve(true);
  }

  /** As `record`, without a check of the lead. */
  add(price: Price): Promise<void> {
    return this.record(this.tables.state?.fence ?? 0n, price).then(() => undefined);
  }

  newest(): Promise<Price | undefined> {
    return Promise.resolve(newestPrice(this.tables));
  }
}

export function newestPrice({ prices }: MemoryTables): Price | undefined {
  const newest = prices.at(-1);
  return (
    newest && {
      usd: newest.usd,
      observedAt: new Date(newest.observedMs),
      source: newest.source,
    }
  );
}
