/**
 * The source of the token's price, on a real socket, which alternates between false and true prices. Each price is
 * read, judged and stored as the indexer does it; an operator who knows the honest price accepts no other price.
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { IndexStore, PriceAcceptanceStore, type Database, PriceStore } from '#libs/db';
import { type Decimal, parseDecimal } from '#libs/domain';
import { createLogger, Registry } from '#libs/service';
import {
  maxChangePerHour,
  storeOrHold,
  type PriceLimits,
  priceReader,
  type PriceReader,
  parsePriceSources,
} from '#libs/price';
import { anInitialIndex } from '#libs/testing';
import { Alerts } from '../../src/observe/alerts.js';
import { RedemptionSettings } from '../../src/redemption.env.js';
import { RedeemablePrice, type RedeemableQuote } from '../../src/redemptions/quote.service.js';
import { type Dice } from '../world/dice.js';

export const HONEST_USD = 0.15;
/** Values of PRICE_BOUNDS_USD and PRICE_MAX_CHANGE. */
export const PRICE_LIMITS: PriceLimits = {
  bounds: { min: parseDecimal('0.1'), max: parseDecimal('0.5') },
  maxChange: parseDecimal('0.2'),
  acceptsFirstPrice: false,
};

/** The next false price, from the one before. */
const LIES: Readonly<Record<string, (usd: number) => number>> = {
  'a spike': () => HONEST_USD * 1000,
  'a small spike': () => HONEST_USD * 1.9,
  'nearly nothing': () => HONEST_USD / 1000,
  half: () => HONEST_USD / 2,
  'drifts down': (usd) => usd * 0.88,
  'drifts up': (usd) => usd * 1.12,
  zero: () => 0,
};
/** Probability per reading. */
const BEGINS = 0.15;
/** Least probability of the downward drift among the false prices; no single reading shows a drift. */
const DRIFTS = 0.5;
const ENDS = 0.2;
const ACCEPTS = 0.5;
const EVERY_MS = 10_000;

export class PlayedPrice {
  /** Number of readings, by kind of false price. */
  readonly told = new Map<string, number>();
  readonly outcomes = new Map<string, number>();
  private usd = HONEST_USD;
  private lie: string | undefined;
  private readAtMs = 0;
  private readonly read: PriceReader;
  private readonly store: PriceStore;
  private readonly acceptances: PriceAcceptanceStore;
  private readonly redeemable: RedeemablePrice;

  private constructor(
    private readonly server: Server,
    database: Database,
    private readonly fence: bigint,
    private readonly parts: { readonly dice: Dice; readonly nowMs: () => number },
  ) {
    const { port } = server.address() as AddressInfo;
    server.on('request', (_request, response) => {
      response.end(JSON.stringify({ usd: this.usd }));
    });
    const chain = { latestRound: () => Promise.reject(new Error('no feed is used')) };
    const sources = parsePriceSources(`http:http://127.0.0.1:${port}#/usd`);
    const clock = { nowMs: parts.nowMs };
    const reader = priceReader(sources, { chain, clock, maxAgeSeconds: 7200 });
    if (reader === undefined) throw new Error('a source without a reader');
    this.read = reader;
    this.store = new PriceStore(database);
    this.acceptances = new PriceAcceptanceStore(database);
    const logger = createLogger({ app: 'price', level: 'silent' });
    const alerts = new Alerts(new Registry(), logger);
    const { bounds: priceBoundsUsd } = PRICE_LIMITS;
    const settings = Object.assign(new RedemptionSettings(), { priceBoundsUsd });
    this.redeemable = new RedeemablePrice(this.store, settings, alerts);
  }

  /** Starts with the honest price. */
  static async start(
    database: Database,
    parts: { readonly dice: Dice; readonly nowMs: () => number },
  ): Promise<PlayedPrice> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const index = new IndexStore(database);
    await index.create(anInitialIndex());
    const price = new PlayedPrice(server, database, await index.takeLead(), parts);
    await price.look();
    return price;
  }

  /** Reads the price where a reading is due, and lets an operator decide on a held price. */
  async step(): Promise<void> {
    const { dice, nowMs } = this.parts;
    if (nowMs() - this.readAtMs < EVERY_MS) return;
    if (this.lie === undefined ? dice.chance(BEGINS) : dice.chance(ENDS)) {
      this.lie = this.lie === undefined ? this.newLie() : undefined;
      this.usd = HONEST_USD;
    }
    if (this.lie !== undefined) {
      this.usd = LIES[this.lie]?.(this.usd) ?? this.usd;
      count(this.told, this.lie);
    }
    await this.look();
    const { hold } = await this.store.standing();
    const isHonest = Number(hold?.price.usd) === HONEST_USD;
    if (hold?.isAccepted !== false || !isHonest || !dice.chance(ACCEPTS)) return;
    await this.acceptances.accept(String(HONEST_USD), {
      actor: 'operator:simulation',
      note: { command: 'price accept', outcome: 'accepted' },
    });
    count(this.outcomes, 'accepted');
  }

  /** The price for quotes. */
  quote(): Promise<RedeemableQuote | undefined> {
    return this.redeemable.read();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }

  private newLie(): string {
    const { dice } = this.parts;
    return dice.chance(DRIFTS) ? 'drifts down' : dice.pick(Object.keys(LIES));
  }

  private async look(): Promise<void> {
    this.readAtMs = this.parts.nowMs();
    try {
      const reading = { ...(await this.read()), source: 'simulation' };
      const judged = await storeOrHold(this.store, PRICE_LIMITS, this.fence, reading);
      count(this.outcomes, judged.kind === 'held' ? `held: ${judged.reason}` : 'kept');
    } catch (error) {
      if ((error as { code?: string }).code !== 'PRICE_REFUSED') throw error;
      count(this.outcomes, 'refused');
    }
  }
}

/** The lowest price that the limits allow: the minimum, or an hour's change from the honest price. */
export function lowestUsable(limits: PriceLimits): Decimal {
  const honest = parseDecimal(String(HONEST_USD));
  const { digits, scale } = maxChangePerHour(limits);
  const min = limits.bounds?.min;
  const changed = {
    digits: honest.digits * (10n ** BigInt(scale) - digits),
    scale: honest.scale + scale,
  };
  if (min === undefined) return changed;
  const isLower =
    changed.digits * 10n ** BigInt(min.scale) < min.digits * 10n ** BigInt(changed.scale);
  return isLower ? min : changed;
}

function count(tally: Map<string, number>, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}
