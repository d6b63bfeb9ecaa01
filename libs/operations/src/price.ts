/** The price of the token, and one that is held until an operator accepts it. */
import {
  type Database,
  decimalText,
  type Price,
  type PriceAcceptance,
  PriceAcceptanceStore,
  type PriceHold,
  PriceStore,
} from '#libs/db';
import { type Decimal, DEFAULT_STAKE_SET } from '#libs/domain';
import { audited, type Operator } from './audit/audited.js';

/** Why a price is held, for operators; by the reasons of libs/price. */
export const HELD_BECAUSE: Readonly<Record<string, string>> = {
  first: 'it is the first price, and PRICE_MIN_USD and PRICE_MAX_USD are not both set',
  'below-minimum': 'it is below PRICE_MIN_USD',
  'above-maximum': 'it is above PRICE_MAX_USD',
  jump: 'it differs from the one before by more than PRICE_MAX_CHANGE',
  drift: 'it differs from one of the last hour by more than PRICE_MAX_CHANGE_PER_HOUR',
};

export interface ShownPrice {
  readonly stored: Price | null;
  readonly hold: PriceHold | null;
  /** What was accepted last. */
  readonly accepted: PriceAcceptance | null;
}

/** @param database of the stake set; likewise below */
export async function showPrice(database: Database): Promise<ShownPrice> {
  const prices = new PriceStore(database);
  const { hold } = await prices.standing();
  const stored = await prices.newest();
  const accepted = await new PriceAcceptanceStore(database).newest();
  return { stored: stored ?? null, hold: hold ?? null, accepted: accepted ?? null };
}

/**
 * Lets a price be used that is held. It names the figure, so that no other one is accepted by it.
 * @returns what was held
 */
export function acceptPrice(
  database: Database,
  { actor, command }: Operator,
  { usd: price, stakeSet }: { readonly usd: Decimal; readonly stakeSet: string },
): Promise<PriceHold> {
  const usd = decimalText(price);
  // In the audit, where it is not the only one.
  const given = { usd, ...(stakeSet !== DEFAULT_STAKE_SET && { stakeSet }) };
  const note = { command, arguments: given };
  return audited(database, { actor, ...note }, {}, () =>
    new PriceAcceptanceStore(database).accept(usd, {
      actor,
      note: { ...note, outcome: 'accepted' },
    }),
  );
}
