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
  /** Deductions whose end is not known yet. */
  underWay: number;
}

/** What a revert has to name. */
export interface DeductionTerms {
  readonly svcRedemptionId: string;
  readonly address: string;
  readonly points: number;
}

/**
 * Where deductions are written down outside of the process, so that another process can give back what a killed one took. A later
 * entry of the same id changes nothing.
 */
export interface DeductionJournal {
  /** Before the call is sent. Where it rejects, the call is not sent, and the run ends. */
  sent(deduction: DeductionTerms): Promise<void>;
  /** @param transactionId empty where the success named none */
  succeeded(svcRedemptionId: string, transactionId: string): Promise<void>;
  /** Given back, never taken, or about to be claimed: nothing is owed any more. */
  settled(svcRedemptionIds: readonly string[]): Promise<void>;
}

export interface JournalEntry extends DeductionTerms {
  /** Undefined where no success was seen. */
  readonly transactionId: string | undefined;
}

export class Books {
  private readonly debts = new Map<string, Debt>();

  /** Before the first byte is sent. */
  deductionSent(terms: DeductionTerms): void {
    this.debtOf(terms).underWay += 1;
  }

  /** Whatever came of it. */
  deductionEnded(svcRedemptionId: string): void {
    const debt = this.debts.get(svcRedemptionId);
    if (debt !== undefined) debt.underWay -= 1;
  }

  /** What another process took. */
  restore({ transactionId, ...terms }: JournalEntry): void {
    const debt = this.debtOf(terms);
    if (transactionId === undefined) debt.isDoubtful = true;
    else debt.standing.add(transactionId);
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

  settle(debt: Debt): void {
    debt.standing.clear();
    debt.isDoubtful = false;
  }

  /** Forgets what is settled. @returns its ids */
  takeSettled(): string[] {
    const settled = [...this.debts.values()].filter((debt) => !isOpen(debt) && debt.underWay === 0);
    const ids = settled.map(({ svcRedemptionId }) => svcRedemptionId);
    for (const id of ids) this.debts.delete(id);
    return ids;
  }

  /** What may still be owed to the player. */
  open(): Debt[] {
    return [...this.debts.values()].filter(isOpen);
  }

  private debtOf({ svcRedemptionId, address, points }: DeductionTerms): Debt {
    const known = this.debts.get(svcRedemptionId);
    if (known !== undefined) return known;
    const debt = {
      ...{ svcRedemptionId, address, points, standing: new Set<string>(), underWay: 0 },
      ...{ hasSucceeded: false, isDoubtful: false, failed: undefined, isClaimed: false },
    };
    this.debts.set(svcRedemptionId, debt);
    return debt;
  }
}

function isOpen({ standing, isDoubtful }: Debt): boolean {
  return standing.size > 0 || isDoubtful;
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

/** The id of the deduction that an answer names, a refusal too; empty where it names none. */
export function transactionIn({ reading }: Exchange): string {
  return reading.kind === 'unreadable' ? '' : idText(reading.fields['partnerTransactionId']);
}
