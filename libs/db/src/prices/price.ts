export interface Price {
  /** US dollars for one whole token, as a plain decimal above 0. */
  readonly usd: string;
  /** The time at which the source observed the price. */
  readonly observedAt: Date;
  /** The source as in PRICE_SOURCE, without credentials. */
  readonly source: string;
}

/** A price that is not used before an operator accepts it. */
export interface PriceHold {
  readonly since: Date;
  /** A HoldReason of libs/price. */
  readonly reason: string;
  /** The price that was in use when the hold began. */
  readonly beforeUsd: string | undefined;
  /** The newest reading, which changes during the hold. */
  readonly price: Price;
  /** The largest change that was allowed, as a share. */
  readonly maxChange: string;
  /** An operator has accepted a price since the hold began. The next reading near this price ends the hold. */
  readonly isAccepted: boolean;
}

/** The prices by which the next reading is judged. */
export interface PriceReference {
  /** The price that was stored or accepted last. */
  readonly beforeUsd: string | undefined;
  /** Lowest and highest price of the last hour, but not from before the newest acceptance. */
  readonly lowestUsd: string | undefined;
  readonly highestUsd: string | undefined;
  /** The price that an operator accepted last. */
  readonly acceptedUsd: string | undefined;
  readonly hold: PriceHold | undefined;
}

/** The price for quotes of redemptions. */
export interface QuotedPrices {
  readonly price: Price | undefined;
  /** A price is held, and no price is used meanwhile. */
  readonly isHeld: boolean;
  readonly acceptedUsd: string | undefined;
}
