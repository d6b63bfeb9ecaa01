/** What one token costs. */
export interface Price {
  /** US dollars for one whole token, a plain decimal above 0. */
  readonly usd: string;
  /** When the source found it. */
  readonly observedAt: Date;
  /** As in PRICE_SOURCE, without credentials. */
  readonly source: string;
}

export interface PriceRow {
  usd: string;
  observed_at: string | Date;
  source: string;
}

export function priceOf(row: PriceRow): Price {
  return { usd: row.usd, observedAt: new Date(row.observed_at), source: row.source };
}
