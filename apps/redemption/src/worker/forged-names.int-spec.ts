/**
 * A revert gives back the points of the deduction that it names: no row may name the deduction of another redemption.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedemptionStore } from '#libs/db';
import { transition, type UuidV7 } from '#libs/domain';
import { EngineBench } from '../testing/engine-bench.support.js';
import { Forger, NO_PLAN, STOPPED } from '../testing/forger.support.js';

let bench: EngineBench;
let forger: Forger;
beforeAll(async () => {
  bench = await EngineBench.start();
  forger = new Forger(bench);
});
afterAll(() => bench.stop());

async function authorised(): Promise<UuidV7> {
  const id = await bench.redeem();
  await bench.until(id, 'authorised');
  return id;
}

describe('a row that names a deduction that is not its own', () => {
  it.each([
    ['as the partner’s transaction', (id: string) => ({ partner_transaction_id: `${id} ` })],
    ['as a candidate', (id: string) => ({ candidate_transaction_ids: [id] })],
  ])('%s is not reverted', async (_, names) => {
    const genuine = await authorised();
    const { partnerTransactionId } = await bench.read(genuine);
    const forged = await forger.copied(genuine, {
      ...NO_PLAN,
      ...forger.soon(),
      state: 'reverting',
      reason: 'deduction-unknown',
      revert_reason: 'deduction-unknown',
      wallet: `\\x${randomBytes(20).toString('hex')}`,
      partner_transaction_id: null,
      ...names(partnerTransactionId ?? ''),
    });
    expect(await forger.workedAt(forged)).toEqual(STOPPED);
    expect((await bench.views.show(forged))?.calls).toEqual([]);
  });

  it('is not reverted where an operator’s credential named it without the key', async () => {
    const genuine = await authorised();
    await bench.until(genuine, 'authorised');
    const id = await bench.redeem();
    const before = await bench.store.get(id);
    if (before === undefined) throw new Error('no such redemption');
    const intruder = new RedemptionStore(await bench.test.open({ url: bench.test.urlAs('cli') }));
    const nowMs = bench.clock.nowMs();
    const context = { nowMs, jitter: 0, policy: { capabilities: [], confirms: true } };
    const decision = transition(before.redemption, { type: 'cancel', by: 'operator' }, context);
    expect(decision.kind).toBe('moved');
    if (decision.kind === 'refused') return;
    const next = {
      ...decision.next,
      state: 'reverting' as const,
      reason: 'deduction-unknown' as const,
      revertReason: 'deduction-unknown' as const,
      pendingAtMs: nowMs,
      failedAtMs: null,
      nextActionAtMs: nowMs - 1000,
      candidateTransactionIds: [(await bench.read(genuine)).partnerTransactionId ?? ''],
    };
    await intruder.apply({
      before: before.redemption,
      decision: { ...decision, next, command: null },
      event: 'cancel',
      actor: 'operator:thief',
    });
    expect(await forger.workedAt(id)).toEqual(STOPPED);
    expect((await bench.views.show(id))?.calls).toEqual([]);
  });
});
