import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PARTNER_CAPABILITIES, transition, type UuidV7 } from '#libs/domain';
import { type FaultyNode, startFaultyNode } from '#libs/testing';
import { EngineBench } from '../testing/engine-bench.support.js';

let bench: EngineBench;
let node: FaultyNode;
beforeAll(async () => {
  bench = await EngineBench.start(async (upstream) => {
    node = await startFaultyNode({ upstream });
    return [node.url];
  });
});
afterAll(async () => {
  await node.close();
  await bench.payouts.close();
  await bench.stop();
});

/** Cancels as the user does. */
async function cancel(id: UuidV7): Promise<void> {
  const stored = await bench.store.get(id);
  if (stored === undefined) throw new Error('no such redemption');
  const { redemption: before } = stored;
  const policy = { capabilities: PARTNER_CAPABILITIES, confirms: true };
  const context = { nowMs: bench.clock.nowMs(), jitter: 0, policy };
  const decision = transition(before, { type: 'cancel', by: 'user' }, context);
  if (decision.kind === 'refused') throw new Error(decision.message);
  await bench.store.apply({ before, decision, event: 'cancel', actor: 'user', stored });
}

it('a worker gives its payouts back before a node has said what their cancellations cost', async () => {
  const ids: UuidV7[] = [];
  for (let index = 0; index < 4; index++) {
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    ids.push(id);
  }
  for (const id of ids) await cancel(id);
  node.fault = {
    kind: 'never-answers',
    when: (calls) => calls.some(({ method }) => method === 'eth_gasPrice'),
  };
  await bench.engine.sweep();
  while (node.count('eth_gasPrice') === 0) await sleep(10);
  const { rows } = await bench.database.pool.query(
    `SELECT count(*) FILTER (WHERE lease_owner IS NOT NULL)::int AS leased,
       count(*) FILTER (WHERE next_action_at > $2)::int AS postponed
     FROM redemption.redemption WHERE id = ANY ($1)`,
    [ids, new Date(bench.clock.nowMs())],
  );
  expect(rows).toEqual([{ leased: 0, postponed: 4 }]);
});
