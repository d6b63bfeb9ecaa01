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
import { DEFAULT_STAKE_SET, parseDecimal } from '#libs/domain';
import { audited } from './audit/audited.js';
import { Field } from './operation/field.js';
import {
  Operation,
  type OperationContext,
  operatorOf,
  type SecondOperatorRequest,
} from './operation/operation.js';
import { REASON, STAKE_SET } from './operation/page-fields.js';

/** Why a price is held, in words for operators, by the reasons of libs/price. */
export const HELD_BECAUSE: Readonly<Record<string, string>> = {
  first: 'it is the first price, and PRICE_BOUNDS_USD is not set',
  'below-minimum': 'it is below the lowest price of PRICE_BOUNDS_USD',
  'above-maximum': 'it is above the highest price of PRICE_BOUNDS_USD',
  jump: 'it differs from the one before by more than a fifth',
  drift: 'it differs from one of the last hour by more than two fifths',
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

/** Accepts a held price. The operator names the figure, so that no other price is accepted by mistake. */
export class AcceptPrice extends Operation<PriceHold> {
  static readonly spec = {
    command: 'price accept',
    description: 'use a price that is held; one that is not near this figure stays held',
    consequence:
      'Redemptions and snapshots go on with the next reading near this figure, within a minute; one that is not near it stays held.',
    role: 'operator',
    isFresh: true,
    mayNeedSecond: true,
    needs: 'stakeSet',
  } as const;

  @Field({
    type: 'decimal',
    label: 'US dollars for one token',
    help: 'US dollars for one token, as you found them to be',
    argument: '<usd>',
    isAboveZero: true,
    required: true,
  })
  readonly usd!: string;

  @Field(STAKE_SET) readonly stakeSet?: string;
  @Field(REASON) readonly reason?: string;

  /** All redemptions are paid by the price. */
  override forSecondOperator({ stakeSet }: OperationContext): Promise<SecondOperatorRequest> {
    const set = stakeSet ?? DEFAULT_STAKE_SET;
    const summary = `One token of stake set ${set} costs ${this.usd} USD: redemptions go on with the next reading near this price.`;
    return Promise.resolve({ summary });
  }

  /** @returns the hold that was accepted. @throws PriceNotHeldError, PriceMovedError */
  perform({ database, stakeSet, ...context }: OperationContext): Promise<PriceHold> {
    const { command, actor, approvedBy } = operatorOf(this, { database, ...context });
    const usd = decimalText(parseDecimal(this.usd));
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

  override outcomeOf({ price }: PriceHold): string {
    const usd = decimalText(parseDecimal(this.usd));
    return `Accepted ${usd} USD; ${price.usd} was held. Redemptions go on with the next reading near it, within a minute.`;
  }
}
