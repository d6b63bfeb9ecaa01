import { type PartnerCallback } from '#libs/db';
import { decimalToNumber } from './redemption-body.js';

/** What users see of a partner. */
export interface PartnerBody {
  readonly id: string;
  readonly name: string;
  /** Also while the operator has not set its daily token budget. */
  readonly paused: boolean;
  readonly usdPerPoint: number;
  /** A rate of more tokens from a number of points on. */
  readonly bonus: { readonly fromPoints: number; readonly rate: number } | null;
  readonly minPoints: number | null;
  readonly maxPoints: number | null;
}

export function partnerBody(callback: PartnerCallback): PartnerBody {
  const { bonus, minPoints, maxPoints, dailyTokenBudget } = callback;
  return {
    id: callback.partnerId,
    name: callback.partnerName,
    paused: callback.paused || dailyTokenBudget === undefined,
    usdPerPoint: decimalToNumber(callback.usdPerPoint),
    bonus: bonus
      ? { fromPoints: Number(bonus.fromPoints), rate: decimalToNumber(bonus.rate) }
      : null,
    minPoints: minPoints === undefined ? null : Number(minPoints),
    maxPoints: maxPoints === undefined ? null : Number(maxPoints),
  };
}
