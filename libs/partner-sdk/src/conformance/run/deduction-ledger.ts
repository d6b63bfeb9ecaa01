/**
 * Records the deductions that this run may have made and has not given back. A deduction is recorded before its call is
 * sent, so that an interrupted run knows as much as a finished one.
 */
import { type Exchange } from '../wire/exchange.js';

/** A redemption whose points the run may owe to the player. */
export interface OpenDeduction {
  readonly svcRedemptionId: string;
  readonly address: string;
  readonly points: number;
  /** Ids of deductions that succeeded and stand; an empty text for a success without an id. */
  readonly standing: Set<string>;
  /** Whether a success was seen, even if the points have been given back since. */
  hasSucceeded: boolean;
  /** Whether a deduction may stand without a seen success: the answer is missing or ambiguous. */
  isDoubtful: boolean;
  /** Why the last attempt to give back failed; undefined where no attempt has failed. */
  failed: string | undefined;
  /** Whether the redemption was confirmed as claimed, so that a careful partner keeps the points. */
  isClaimed: boolean;
  /** Number of deductions in progress. */
  underWay: number;
  /** Whether the answer that settled it was signed; anyone on the way could have invented another one. */
  isProven: boolean;
}

/** The fields of a deduction that its revert has to name. */
export interface DeductionTerms {
  readonly svcRedemptionId: string;
  readonly address: string;
  readonly points: number;
}

/**
 * A record of deductions outside of the process, so that another process can give back the points that a killed run has
 * deducted. A later entry with the same id changes nothing.
 */
export interface DeductionJournal {
  /** Called before the call is sent. Where it rejects, the call is not sent, and the run ends. */
  sent(deduction: DeductionTerms): Promise<void>;
  /** @param transactionId empty where the success named none */
  succeeded(svcRedemptionId: string, transactionId: string): Promise<void>;
  /** Nothing is owed for these deductions any more: they were given back, never made, or are about to be claimed. */
  settled(svcRedemptionIds: readonly string[]): Promise<void>;
}

export interface JournalEntry extends DeductionTerms {
  /** Undefined where no success was recorded. */
  readonly transactionId: string | undefined;
}

export class DeductionLedger {
  private readonly deductions = new Map<string, OpenDeduction>();

  /** To be called before the first byte is sent. */
  deductionSent(terms: DeductionTerms): void {
    this.deductionOf(terms).underWay += 1;
  }

  /** To be called when the call has ended, whatever its outcome is. */
  deductionEnded(svcRedemptionId: string): void {
    const deduction = this.deductions.get(svcRedemptionId);
    if (deduction !== undefined) deduction.underWay -= 1;
  }

  /** Adds a deduction of another process. */
  restore({ transactionId, ...terms }: JournalEntry): void {
    const deduction = this.deductionOf(terms);
    if (transactionId === undefined) deduction.isDoubtful = true;
    else deduction.standing.add(transactionId);
  }

  deductionAnswered(svcRedemptionId: string, { reading, came, signature }: Exchange): void {
    const deduction = this.deductions.get(svcRedemptionId);
    if (deduction === undefined) return;
    if (reading.kind === 'success') {
      deduction.hasSucceeded = true;
      deduction.standing.add(idText(reading.fields['partnerTransactionId']));
    } else if (came.kind === 'none' ? came.fault !== 'not-sent' : isUncertain(reading, deduction)) {
      deduction.isDoubtful = true;
    } else if (came.kind === 'answer' && signature !== 'valid') {
      deduction.isProven = false;
    }
  }

  /** @param transactionId as sent in the revert */
  revertSucceeded(
    svcRedemptionId: string,
    transactionId: string | undefined,
    { signature }: Pick<Exchange, 'signature'>,
  ): void {
    const deduction = this.deductions.get(svcRedemptionId);
    if (deduction === undefined) return;
    const [first] = deduction.standing;
    const given = transactionId ?? first;
    // The id is another redemption's. Giving back at the end finds out whose points have come back.
    if (given !== undefined && !deduction.standing.delete(given) && given !== '') return;
    deduction.isDoubtful = false;
    deduction.isProven = signature === 'valid';
  }

  claimed(svcRedemptionId: string): void {
    const deduction = this.deductions.get(svcRedemptionId);
    if (deduction !== undefined) deduction.isClaimed = true;
  }

  settle(deduction: OpenDeduction, isProven: boolean): void {
    deduction.standing.clear();
    deduction.isDoubtful = false;
    deduction.isProven = isProven;
  }

  /** Removes the redemptions that are settled by signed answers. @returns their ids */
  takeSettled(): string[] {
    const settled = [...this.deductions.values()].filter(
      (deduction) => !isOpen(deduction) && deduction.isProven && deduction.underWay === 0,
    );
    const ids = settled.map(({ svcRedemptionId }) => svcRedemptionId);
    for (const id of ids) this.deductions.delete(id);
    return ids;
  }

  /** The redemptions that are settled by answers that are not signed. */
  unproven(): OpenDeduction[] {
    return [...this.deductions.values()].filter(
      (deduction) => !isOpen(deduction) && !deduction.isProven,
    );
  }

  /** The redemptions whose points may still be owed to the player. */
  open(): OpenDeduction[] {
    return [...this.deductions.values()].filter(isOpen);
  }

  private deductionOf({ svcRedemptionId, address, points }: DeductionTerms): OpenDeduction {
    const known = this.deductions.get(svcRedemptionId);
    if (known !== undefined) return known;
    const deduction = {
      ...{ svcRedemptionId, address, points, standing: new Set<string>(), underWay: 0 },
      ...{ hasSucceeded: false, isDoubtful: false, failed: undefined, isClaimed: false },
      isProven: true,
    };
    this.deductions.set(svcRedemptionId, deduction);
    return deduction;
  }
}

function isOpen({ standing, isDoubtful }: OpenDeduction): boolean {
  return standing.size > 0 || isDoubtful;
}

/**
 * Whether a deduction may stand after this answer. A duplicate without a seen success means that an answer was lost.
 */
function isUncertain(reading: Exchange['reading'], { hasSucceeded }: OpenDeduction): boolean {
  if (reading.kind !== 'refusal') return true;
  const isLost = reading.code === 'ERR-DUPLICATE-REQUEST' && !hasSucceeded;
  return reading.code === 'ERR-INTERNAL' || isLost;
}

/** The text of an id. Answers are read leniently, so a number is accepted too. */
export function idText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The id of the deduction that an answer names, even a refusal; empty where the answer names none. */
export function transactionIn({ reading }: Exchange): string {
  return reading.kind === 'unreadable' ? '' : idText(reading.fields['partnerTransactionId']);
}
