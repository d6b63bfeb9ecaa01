/**
 * What this run may have taken and not given back yet. Kept from the moment a deduction is sent, so that an interrupted run knows
 * as much as a finished one.
 */
import { type Exchange } from '../wire/exchange.js';

export interface Debt {
  readonly svcRedemptionId: string;
  readonly address: string;
  readonly points: number;
  /** Ids of deductions that succeeded; empty text for a success without one. */
  readonly standing: Set<string>;
  /** Whether a success was seen, also if it was given back since. */
  hasSucceeded: boolean;
  /** A deduction may stand though no success was seen: no answer, or one that says nothing. */
  isDoubtful: boolean;
  /** What came of trying to give it back, if it was in vain so far. */
  failed: string | undefined;
  /** Confirmed as claimed: a careful partner keeps these points. */
  isClaimed: boolean;
}

interface DeductionTerms {
  readonly svcRedemptionId: string;
  readonly address: string;
  readonly points: number;
}

export class Books {
  private readonly debts = new Map<string, Debt>();

  /** Before the first byte is sent. */
  deductionSent({ svcRedemptionId, address, points }: DeductionTerms): void {
    if (this.debts.has(svcRedemptionId)) return;
    const debt = { svcRedemptionId, address, points, standing: new Set<string>() };
    const state = { hasSucceeded: false, isDoubtful: false, failed: undefined, isClaimed: false };
    this.debts.set(svcRedemptionId, { ...debt, ...state });
  }

  deductionAnswered(svcRedemptionId: string, { reading, came }: Exchange): void {
    const debt = this.debts.get(svcRedemptionId);
    if (debt === undefined) return;
    if (reading.kind === 'success') {
      debt.hasSucceeded = true;
      debt.standing.add(idText(reading.fields['partnerTransactionId']));
    } else if (came.kind === 'none' ? came.fault !== 'not-sent' : isUncertain(reading, debt)) {
      debt.isDoubtful = true;
    }
  }

  /** @param transactionId as it was sent in the revert */
  revertSucceeded(svcRedemptionId: string, transactionId: string | undefined): void {
    const debt = this.debts.get(svcRedemptionId);
    if (debt === undefined) return;
    const [first] = debt.standing;
    const given = transactionId ?? first;
    // Another redemption's id: who got points back is found out when everything is undone.
    if (given !== undefined && !debt.standing.delete(given) && given !== '') return;
    debt.isDoubtful = false;
  }

  claimed(svcRedemptionId: string): void {
    const debt = this.debts.get(svcRedemptionId);
    if (debt !== undefined) debt.isClaimed = true;
  }

  settle({ svcRedemptionId }: Debt): void {
    this.debts.delete(svcRedemptionId);
  }

  /** What may still be owed to the player. */
  open(): Debt[] {
    return [...this.debts.values()].filter((debt) => debt.standing.size > 0 || debt.isDoubtful);
  }
}

/** A duplicate of a deduction whose success was never seen: an answer before it was lost. */
function isUncertain(reading: Exchange['reading'], { hasSucceeded }: Debt): boolean {
  if (reading.kind !== 'refusal') return true;
  const isLost = reading.code === 'ERR-DUPLICATE-REQUEST' && !hasSucceeded;
  return reading.code === 'ERR-INTERNAL' || isLost;
}

/** As kindly as answers are read: a number will do. */
export function idText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
