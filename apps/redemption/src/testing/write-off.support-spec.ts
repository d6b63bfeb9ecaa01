/** A thief of a credential of the ledger writes a voucher off as dead, with every trigger in force. Counts as a test file without being one. */
import { RedemptionStore } from '#libs/db';
import {
  type BlockHash,
  type DeadEvidence,
  payoutEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { type TestDatabase } from '#libs/testing';

export interface Thief {
  readonly test: TestDatabase;
  readonly program: 'redemption' | 'cli';
  readonly nowMs: number;
}

/** By evidence that no block bears out: all that the thief has is the database. */
export async function writeOff({ test, program, nowMs }: Thief, id: UuidV7): Promise<void> {
  const intruder = new RedemptionStore(await test.open({ url: test.urlAs(program) }));
  const before = (await intruder.get(id))?.redemption;
  if (before?.plan == null) throw new Error('no plan');
  const timestampSeconds = before.plan.deadlineSeconds + 1;
  const evidence: DeadEvidence = {
    outcome: 'dead',
    reason: 'expired',
    finalised: { number: 1n, hash: `0x${'ab'.repeat(32)}` as BlockHash, timestampSeconds },
  };
  const event = payoutEvent(id, evidence, 0);
  const policy = { capabilities: [], confirms: true };
  const decision = transition(before, event, { nowMs, jitter: 0, policy });
  if (decision.kind === 'refused') throw new Error(decision.message);
  await intruder.apply({ before, decision, event: event.type, actor: 'worker' });
}
