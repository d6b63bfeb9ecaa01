/**
 * A partner with all the freedom that the interface leaves, and with its own records, with which a run can be compared.
 */
import {
  type DeductBody,
  type PartnerCapability,
  type PartnerErrorCode,
  type PartnerRequest,
  type RevertBody,
} from '../partner-call.js';
import { type UuidV7, uuidV7Ms } from '../uuid-v7.js';

/** What the partner really does; the recorded capabilities may be fewer, never more. */
export interface PartnerNature {
  readonly does: readonly PartnerCapability[];
  /**
   * Whether the partner checks the balance before it looks for the redemption id, so that its refusal may be the echo
   * of our own success.
   */
  readonly balanceFirst: boolean;
  readonly namesDuplicates: boolean;
  readonly points: number;
}

interface Deduction {
  readonly redemptionId: string;
  readonly transactionId: string;
  readonly points: number;
  reverted: boolean;
}

/** A deduction of a player that has nothing to do with our redemption. */
const BYSTANDER: Deduction = {
  redemptionId: 'bystander',
  transactionId: 'tx-bystander',
  points: 5000,
  reverted: false,
};

export class ModelPartner {
  balance: number;
  deductionsMade = 0;
  revertsMade = 0;
  private readonly deductions: Deduction[] = [{ ...BYSTANDER }];
  private readonly tombstones = new Set<string>();
  private readonly seen = new Set<string>();

  constructor(private readonly nature: PartnerNature) {
    this.balance = nature.points;
  }

  /** Whether our deduction stands in the partner's records. */
  get standing(): boolean {
    return this.deductions.some((one) => one.redemptionId !== 'bystander' && !one.reverted);
  }

  get bystanderRobbed(): boolean {
    return this.deductions.some((one) => one.redemptionId === 'bystander' && one.reverted);
  }

  get transactionId(): string | undefined {
    return this.deductions.find((one) => one.redemptionId !== 'bystander')?.transactionId;
  }

  /** Changes the records and returns the body of the answer. */
  handle({ step, body }: PartnerRequest, requestId: UuidV7, nowMs: number): object {
    if (this.nature.does.includes('enforces-freshness')) {
      if (Math.abs(nowMs - uuidV7Ms(requestId)) > 300_000 || this.seen.has(requestId)) {
        return refusal('ERR-AUTH-FAILED');
      }
      this.seen.add(requestId);
    }
    return step === 'deduct' ? this.deduct(body) : this.revert(body);
  }

  /** The partner gives the points back by hand, at an operator's request. */
  restoreByHand(): void {
    for (const one of this.deductions) {
      if (one.redemptionId !== 'bystander' && !one.reverted) this.giveBack(one);
    }
  }

  private deduct({ svcRedemptionId, deductPoints }: DeductBody): object {
    const poor = this.balance < deductPoints;
    if (poor && this.nature.balanceFirst) return refusal('ERR-INSUFFICIENT-POINTS');
    const known = this.deductions.find((one) => one.redemptionId === svcRedemptionId);
    if (known || this.tombstones.has(svcRedemptionId)) {
      const named = known && this.nature.namesDuplicates;
      const extra = named ? { partnerTransactionId: known.transactionId } : {};
      return { ...refusal('ERR-DUPLICATE-REQUEST'), ...extra };
    }
    if (poor) return refusal('ERR-INSUFFICIENT-POINTS');
    this.balance -= deductPoints;
    this.deductionsMade++;
    const transactionId = `tx-${this.deductionsMade}`;
    this.deductions.push({
      redemptionId: svcRedemptionId,
      transactionId,
      points: deductPoints,
      reverted: false,
    });
    return { success: true, partnerTransactionId: transactionId };
  }

  private revert({ svcRedemptionId, partnerTransactionId, deductPoints }: RevertBody): object {
    const { does } = this.nature;
    const found = this.deductions.find((one) =>
      partnerTransactionId === undefined
        ? // A partner that ignores a missing transaction id finds the first deduction.
          !does.includes('revert-by-redemption-id') || one.redemptionId === svcRedemptionId
        : one.transactionId === partnerTransactionId &&
          (!does.includes('refuses-mismatched-pair') || one.redemptionId === svcRedemptionId),
    );
    if (!found) {
      if (does.includes('tombstones')) this.tombstones.add(svcRedemptionId);
      return refusal('ERR-TRANSACTION-NOT-FOUND');
    }
    if (found.reverted) return refusal('ERR-ALREADY-REVERTED');
    if (found.points !== deductPoints) return refusal('ERR-INVALID-AMOUNT');
    this.giveBack(found);
    return {
      success: true,
      partnerTransactionId: found.transactionId,
      partnerRevertId: `rev-${this.revertsMade}`,
    };
  }

  private giveBack(deduction: Deduction): void {
    deduction.reverted = true;
    this.revertsMade++;
    if (deduction.redemptionId !== 'bystander') this.balance += deduction.points;
  }
}

export function refusal(errorCode: PartnerErrorCode): object {
  return { success: false, errorCode, errorMessage: 'No.' };
}
