/** Cancellations of many vouchers: by a thief of the canceller's key, and through a node that does not answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { addressOfKey, cancelCalldata, vaultIdOf } from '#libs/chain';
import { type UuidV7 } from '#libs/domain';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';

const CANCELLER = addressOfKey(VaultBench.SIGNER_KEY);

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

async function fourAuthorised(): Promise<UuidV7[]> {
  const ids = [];
  for (let count = 0; count < 4; count++) ids.push(await bench.authorised());
  return ids;
}

// A thief of the canceller's key can end vouchers; each player gets the points back once, and no token moves.
it('a thief’s end every open voucher: its points go back once, and what was claimed stays claimed', async () => {
  const ids = await fourAuthorised();
  const [claimed, ...open] = ids;
  if (claimed === undefined) throw new Error('no redemption');
  const vouchers = await Promise.all(open.map((id) => bench.voucher(id)));
  expect(await bench.claim(claimed)).toBeUndefined();
  const held = await bench.chain.tokens(bench.chain.vault);

  const outcomes = await bench.chain.mine(
    ...ids.map((id) => bench.chain.to(CANCELLER, cancelCalldata(vaultIdOf(id)))),
  );
  expect(outcomes.map(({ error }) => error)).toEqual([
    'RedemptionNotOpen',
    ...open.map(() => undefined),
  ]);
  await bench.until(claimed, 'claimed');
  for (const [index, id] of open.entries()) {
    const { wallet } = await bench.until(id, 'reverted');
    await bench.engine.sweep();
    expect(bench.partner.points.get(wallet)).toBe(POINTS);
    const reverts = bench.partner.calls.filter(
      ({ path, body }) => path.startsWith('/revert') && body['svcRedemptionId'] === id,
    );
    expect(reverts).toHaveLength(1);
    const claim = bench.chain.to(VaultBench.STRANGER, vouchers[index] ?? '0x');
    expect(await bench.chain.refusal(claim)).toMatch(/RedemptionNotOpen|VoucherExpired/);
  }
  expect(await bench.chain.tokens(bench.chain.vault)).toBe(held);
});

it('a worker gives its payouts back before a node has said what their cancellations cost', async () => {
  const ids = await fourAuthorised();
  for (const id of ids) await bench.cancel(id);
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
