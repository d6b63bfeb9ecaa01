/** Gives back what the run took. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange } from '../wire/exchange.js';
import { type Debt } from './books.js';
import { type Tester } from './tester.js';

/** A deduction that could not be taken back: the partner's operator has to. */
export interface Unresolved {
  readonly svcRedemptionId: string;
  /** Those whose success was seen. */
  readonly partnerTransactionIds: readonly string[];
  readonly address: string;
  /** Of each of them. */
  readonly points: number;
  /** `claimed`: kept rightly, since the run confirmed it as claimed. `uncertain`: whether points went is not known. */
  readonly state: 'claimed' | 'deducted' | 'uncertain';
  /** What came of the last attempt. */
  readonly why: string;
}

/** Before each attempt at the end of a run. */
const PAUSES_MS = [0, 200, 1000];

/** Reverts what stands or may stand after a story. What cannot be is left for the end. */
export async function undo(tester: Tester): Promise<void> {
  const fresh = tester.books.open().filter(({ failed }) => failed === undefined);
  await Promise.all(fresh.map((debt) => settle(tester, debt)));
  await tester.tellSettled();
}

/** Reverts what is left, patiently. @returns what remains nevertheless */
export async function undoAll(tester: Tester, abandon?: AbortSignal): Promise<Unresolved[]> {
  for (const pauseMs of PAUSES_MS) {
    const open = tester.books.open().filter(({ failed, isClaimed }) => !isClaimed || !failed);
    if (open.length === 0 || abandon?.aborted === true) break;
    await sleep(pauseMs);
    await Promise.all(open.map((debt) => settle(tester, debt)));
  }
  await tester.tellSettled();
  return tester.books.open().map(describe);
}

async function settle(tester: Tester, debt: Debt): Promise<void> {
  const { svcRedemptionId: id, points, address, standing } = debt;
  const mayBeNone = standing.size === 0;
  for (const transactionId of mayBeNone ? [''] : [...standing]) {
    const exchange = await tester.revert({
      purpose: 'give back',
      id,
      points,
      address,
      transactionId: transactionId || undefined,
      isUndo: true,
    });
    debt.failed = whyNotSettled(exchange, mayBeNone);
    if (debt.failed === undefined) standing.delete(transactionId);
  }
  if (standing.size === 0 && debt.failed === undefined) tester.books.settle(debt);
}

/** @param mayBeNone nothing was seen to be deducted, so that "not found" is good news */
function whyNotSettled({ reading }: Exchange, mayBeNone: boolean): string | undefined {
  if (reading.kind === 'success') return undefined;
  if (reading.kind === 'unreadable') return `The revert got no usable answer: ${reading.why}.`;
  const { code } = reading;
  const isSettled =
    code === 'ERR-ALREADY-REVERTED' || (mayBeNone && code === 'ERR-TRANSACTION-NOT-FOUND');
  return isSettled ? undefined : `The revert was refused with ${code}.`;
}

function describe(debt: Debt): Unresolved {
  const { svcRedemptionId, standing, address, points, isClaimed, failed } = debt;
  const state = isClaimed ? 'claimed' : standing.size > 0 ? 'deducted' : 'uncertain';
  return {
    svcRedemptionId,
    partnerTransactionIds: [...standing].filter((id) => id !== ''),
    address,
    points,
    state,
    why:
      isClaimed && failed !== undefined
        ? `${failed} So it must be.`
        : (failed ?? 'It was not tried.'),
  };
}
