import { Injectable } from '@nestjs/common';
import { PriceStore } from '#libs/db';
import { type Decimal, parseDecimal, type QuotedPrice } from '#libs/domain';
import { boundsBreach } from '#libs/price';
import { Alerts } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';

/** The stored price, and whether points may be redeemed at it. */
export interface RedeemableQuote extends QuotedPrice {
  readonly usd: Decimal;
}

/**
 * The price that redemptions are quoted with. Whatever wrote it, it is held against this service's own bounds as well: only a
 * figure that an operator has accepted widens them.
 */
@Injectable()
export class RedeemablePrice {
  /** The figure that was told of last. */
  private toldUsd: string | undefined;

  constructor(
    private readonly prices: PriceStore,
    private readonly settings: RedemptionSettings,
    private readonly alerts: Alerts,
  ) {}

  /** Undefined where there is none. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async read(): Promise<RedeemableQuote | undefined> {
    const { priceMinUsd: min, priceMaxUsd: max } = this.settings;
    const { price, isHeld, acceptedUsd } = await this.prices.quoted();
    if (price === undefined) return undefined;
    const usd = parseDecimal(price.usd);
    const accepted = acceptedUsd === undefined ? undefined : parseDecimal(acceptedUsd);
    const breach = boundsBreach(usd, { min, max }, accepted);
    if (breach !== undefined) this.tell(price.usd, breach);
    const observedAtMs = price.observedAt.getTime();
    return { usd, observedAtMs, isHeld: isHeld || breach !== undefined };
  }

  /** Once for each figure: users may ask often. */
  private tell(usd: string, breach: string): void {
    if (this.toldUsd === usd) return;
    this.toldUsd = usd;
    const detail = `${usd} USD is stored, which is ${breach}: nothing is redeemed at it.`;
    this.alerts.raise({ severity: 'critical', code: 'price-out-of-bounds', detail });
  }
}
