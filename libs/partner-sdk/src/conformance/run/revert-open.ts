/** Gives back the points that a run has deducted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange } from '../wire/exchange.js';
import { type OpenDeduction } from './deduction-ledger.js';
import { type Tester } from './tester.js';

/** A deduction that could not be given back, so that the partner's operator has to do it. */
export interface Unresolved {
  readonly svcRedemptionId: string;
  /** The ids of the deductions whose success was seen. */
  readonly partnerTransactionIds: readonly string[];
  readonly address: string;
  /** Points of each of the deductions. */
  readonly points: number;
  /**
   * `claimed`: rightly kept, since the run has confirmed a claim. `uncertain`: it is unknown whether points were taken.
   */
  readonly state: 'claimed' | 'deducted' | 'uncertain';
  /** The outcome of the last attempt to give back. */
  readonly why: string;
}

/** Pauses before the attempts at the end of a run, in milliseconds. */
const PAUSES_MS = [0, 200, 1000];

/**
 * Reverts the deductions that stand or may stand after a story. A failed revert is tried again at the end of the run.
 */
export async function revertOpen(tester: Tester): Promise<void> {
  const fresh = tester.ledger.open().filter(({ failed }) => failed === undefined);
  await Promise.all(fresh.map((deduction) => settle(tester, deduction)));
  await tester.tellSettled();
}

/** Reverts all open deductions, in several attempts. @returns the deductions that could not be given back */
export async function revertAll(tester: Tester, abandon?: AbortSignal): Promise<Unresolved[]> {
  for (const pauseMs of PAUSES_MS) {
    const open = tester.ledger.open().filter(({ failed, isClaimed }) => !isClaimed || !failed);
    if (open.length === 0 || abandon?.aborted === true) break;
    await sleep(pauseMs);
    await Promise.all(open.map((deduction) => settle(tester, deduction)));
  }
  await tester.tellSettled();
  return tester.ledger.open().map(describe);
}

/** The deductions that only answers without a signature have settled. */
export function unproven({ ledger }: Tester): Unresolved[] {
  const why = 'The answer that would settle it is not signed.';
  return ledger.unproven().map((deduction) => ({ ...describe(deduction), why }));
}

async function settle(tester: Tester, deduction: OpenDeduction): Promise<void> {
  const { svcRedemptionId: id, points, address, standing } = deduction;
  const mayBeNone = standing.size === 0;
  let isProven = true;
  for (const transactionId of mayBeNone ? [''] : [...standing]) {
    const exchange = await tester.revert({
      purpose: 'give back',
      id,
      points,
      address,
      transactionId: transactionId || undefined,
      isUndo: true,
    });
    deduction.failed = whyNotSettled(exchange, mayBeNone);
    isProven &&= exchange.signature === 'valid';
    if (deduction.failed === undefined) standing.delete(transactionId);
  }
  if (standing.size === 0 && deduction.failed === undefined)
    tester.ledger.settle(deduction, isProven);
}

/** @param mayBeNone no success was seen, so that "not found" settles the deduction */
function whyNotSettled({ reading }: Exchange, mayBeNone: boolean): string | undefined {
  if (reading.kind === 'success') return undefined;
  if (reading.kind === 'unreadable') return `The revert got no usable answer: ${reading.why}.`;
  const { code } = reading;
  const isSettled =
    code === 'ERR-ALREADY-REVERTED' || (mayBeNone && code === 'ERR-TRANSACTION-NOT-FOUND');
  return isSettled ? undefined : `The revert was refused with ${code}.`;
}

function describe(deduction: OpenDeduction): Unresolved {
  const { svcRedemptionId, standing, address, points, isClaimed, failed } = deduction;
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
