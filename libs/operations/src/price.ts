/** The price of a token, and a held price, which is not used until an operator accepts it. */
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

/** Why a price is held, in words for operators, by the reasons of libs/price. */
export const HELD_BECAUSE: Readonly<Record<string, string>> = {
  first: 'it is the first price, and PRICE_BOUNDS_USD is not set',
  'below-minimum': 'it is below the lowest price of PRICE_BOUNDS_USD',
  'above-maximum': 'it is above the highest price of PRICE_BOUNDS_USD',
  jump: 'it differs from the one before by more than PRICE_MAX_CHANGE',
  drift: 'it differs from one of the last hour by more than twice PRICE_MAX_CHANGE',
};

export interface ShownPrice {
  readonly stored: Price | null;
  readonly hold: PriceHold | null;
  /** The last acceptance of a held price. */
  readonly accepted: PriceAcceptance | null;
}

/** @param database of the stake set */
export async function showPrice(database: Database): Promise<ShownPrice> {
  const prices = new PriceStore(database);
  const { hold } = await prices.standing();
  const stored = await prices.newest();
  const accepted = await new PriceAcceptanceStore(database).newest();
  return { stored: stored ?? null, hold: hold ?? null, accepted: accepted ?? null };
}

/**
 * Accepts a held price. The operator names the figure, so that no other price is accepted by mistake.
 * @returns the hold that was accepted
 */
export function acceptPrice(
  database: Database,
  { actor, command, approvedBy }: Operator,
  { usd: price, stakeSet }: { readonly usd: Decimal; readonly stakeSet: string },
): Promise<PriceHold> {
  const usd = decimalText(price);
  // The audit row names the stake set unless it is the default one.
  const given = { usd, ...(stakeSet !== DEFAULT_STAKE_SET && { stakeSet }), approvedBy };
  const note = { command, arguments: given };
  return audited(database, { actor, ...note }, {}, () =>
    new PriceAcceptanceStore(database).accept(usd, {
      actor,
      note: { ...note, outcome: 'accepted' },
    }),
  );
}
