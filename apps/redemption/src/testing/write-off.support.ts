/**
 * A thief with a ledger credential marks a voucher as dead, or as claimed, with every trigger in force. Named as a test
 * file, without tests of its own.
 */
import { RedemptionStore } from '#libs/db';
import {
  type BlockHash,
  payoutEvent,
  type PayoutEvidence,
  type PayoutTerms,
  transition,
  type UuidV7,
} from '#libs/domain';
import { type TestDatabase } from '#libs/testing/database';

export interface Thief {
  readonly test: TestDatabase;
  readonly program: 'redemption' | 'cli';
  readonly nowMs: number;
}

const HASH = `0x${'ab'.repeat(32)}`;

/** Marks the voucher as expired, with evidence that no block confirms: the thief has the database only. */
export function writeOff(thief: Thief, id: UuidV7): Promise<void> {
  return end(thief, id, ({ deadlineSeconds }) => ({
    outcome: 'dead',
    reason: 'expired',
    finalised: { number: 1n, hash: HASH as BlockHash, timestampSeconds: deadlineSeconds + 1 },
  }));
}

/** Marks the voucher as claimed, by a claim that never happened. */
export function callClaimed(thief: Thief, id: UuidV7): Promise<void> {
  return end(thief, id, ({ recipient, amount, deadlineSeconds }) => {
    const block = { number: 1n, hash: HASH as BlockHash, timestampSeconds: deadlineSeconds - 1 };
    return { outcome: 'paid', recipient, amount, transactionHash: HASH, block, finalised: block };
  });
}

async function end(
  { test, program, nowMs }: Thief,
  id: UuidV7,
  evidenceOf: (plan: PayoutTerms) => PayoutEvidence,
): Promise<void> {
  const intruder = new RedemptionStore(await test.open({ url: test.urlAs(program) }));
  const before = (await intruder.get(id))?.redemption;
  if (before?.plan == null) throw new Error('no plan');
  const event = payoutEvent(id, evidenceOf(before.plan), 0);
  const policy = { capabilities: [], confirms: true };
  const decision = transition(before, event, { nowMs, jitter: 0, policy });
  if (decision.kind === 'refused') throw new Error(decision.message);
  await intruder.apply({ before, decision, event: event.type, actor: 'worker' });
}
