import {
  FencedError,
  type Price,
  type PriceAcceptance,
  type PriceAcceptanceStore,
  type PriceHold,
  PriceMovedError,
  PriceNotHeldError,
  type PriceReference,
  type PriceStore,
} from '#libs/db';
import { compareDecimals, parseDecimal } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { isWithinShare } from '../../../../libs/price/src/plain-price.js';
import { type PriceTables, type Public, type StoredPrice } from './memory-tables.js';

const HOUR_MS = 3_600_000;
const MOST_AHEAD_MS = 300_000;

const SYSTEM: Clock = { nowMs: () => Date.now() };

export class MemoryPriceStore implements Public<PriceStore> {
  /** @param clock that of the database */
  constructor(
    private readonly tables: PriceTables,
    private readonly clock: Clock = SYSTEM,
  ) {}

  standing(): Promise<PriceReference> {
    const { prices } = this.tables;
    const hourAgoMs = this.clock.nowMs() - HOUR_MS;
    const accepted = this.tables.acceptances.at(-1);
    const sinceMs = Math.max(hourAgoMs, accepted?.atMs ?? 0);
    const hour = prices.filter(({ readAtMs }) => readAtMs > sinceMs).map(({ usd }) => usd);
    if (accepted !== undefined && accepted.atMs > hourAgoMs) hour.push(accepted.usd);
    hour.sort((one, other) => compareDecimals(parseDecimal(one), parseDecimal(other)));
    const newest = prices.at(-1);
    const isLater = accepted !== undefined && accepted.atMs > (newest?.readAtMs ?? 0);
    return Promise.resolve({
      beforeUsd: (isLater ? accepted : newest)?.usd,
      lowestUsd: hour[0],
      highestUsd: hour.at(-1),
      acceptedUsd: accepted?.usd,
      hold: heldNow(this.tables),
    });
  }

  hold(
    fence: bigint,
    { price, isNewHold, reason, beforeUsd, maxChange }: Parameters<PriceStore['hold']>[1],
  ): Promise<void> {
    const { tables } = this;
    if (tables.state?.fence !== fence) return Promise.reject(new FencedError());
    const before = tables.priceHold;
    const begun: Pick<PriceHold, 'since' | 'reason' | 'beforeUsd'> =
      before === undefined || isNewHold
        ? { since: new Date(this.clock.nowMs()), reason, beforeUsd }
        : before;
    tables.priceHold = {
      ...{ since: begun.since, reason: begun.reason, beforeUsd: begun.beforeUsd },
      ...{ price, maxChange, isAccepted: false },
    };
    tables.version++;
    return Promise.resolve();
  }

  quoted(): ReturnType<PriceStore['quoted']> {
    const { priceHold, acceptances } = this.tables;
    return this.newest().then((price) => ({
      price,
      isHeld: priceHold !== undefined,
      acceptedUsd: acceptances.at(-1)?.usd,
    }));
  }

  record(fence: bigint, { observedAt, source, usd }: Price): Promise<boolean> {
    const { tables } = this;
    if (tables.state?.fence !== fence) return Promise.reject(new FencedError());
    const atMs = observedAt.getTime();
    const own = tables.prices.filter((price) => price.source === source);
    const latestMs = this.clock.nowMs() + MOST_AHEAD_MS;
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
      { observedMs: atMs, micros, source, usd, readAtMs: this.clock.nowMs() },
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

/** Operators' acceptances, without the log of commands. */
export class MemoryPriceAcceptanceStore implements Public<PriceAcceptanceStore> {
  constructor(
    private readonly tables: PriceTables,
    private readonly clock: Clock = SYSTEM,
  ) {}

  // eslint-disable-next-line @typescript-eslint/require-await -- an error is a rejection, as of the other store
  async accept(usd: string, { actor }: Parameters<PriceAcceptanceStore['accept']>[1]) {
    const { tables } = this;
    const held = heldNow(tables);
    if (held === undefined) throw new PriceNotHeldError();
    const { price, maxChange, reason } = held;
    const [named, base] = [parseDecimal(usd), parseDecimal(price.usd)];
    if (!isWithinShare(named, base, parseDecimal(maxChange))) throw new PriceMovedError(price.usd);
    const accepted = { atMs: this.clock.nowMs(), usd, heldUsd: price.usd, reason, actor };
    tables.acceptances = [...tables.acceptances, accepted];
    tables.version++;
    return held;
  }

  newest(): Promise<PriceAcceptance | undefined> {
    const newest = this.tables.acceptances.at(-1);
    if (newest === undefined) return Promise.resolve(undefined);
    const { atMs, ...accepted } = newest;
    return Promise.resolve({ at: new Date(atMs), ...accepted });
  }
}

function heldNow({ priceHold, acceptances }: PriceTables): PriceHold | undefined {
  const isAccepted = acceptances.some(({ atMs }) => atMs >= (priceHold?.since.getTime() ?? 0));
  return priceHold && { ...priceHold, isAccepted };
}

export function newestPrice({ prices }: Pick<PriceTables, 'prices'>): Price | undefined {
  const newest = prices.at(-1);
  return (
    newest && {
      usd: newest.usd,
      observedAt: new Date(newest.observedMs),
      source: newest.source,
    }
  );
}
