/**
 * A thief of the canceller's key cancels every open voucher: each player gets the points back once, and no token moves.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { addressOfKey, cancelCalldata, vaultIdOf } from '#libs/chain';
import { type UuidV7 } from '#libs/domain';
import { VaultBench } from '#libs/testing';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';

const CANCELLER = addressOfKey(VaultBench.SIGNER_KEY);

let bench: EngineBench;
beforeAll(async () => {
  bench = await EngineBench.start();
});
afterAll(() => bench.stop());

it('ends every open voucher: its points go back once, and what was claimed stays claimed', async () => {
  const ids: UuidV7[] = [];
  for (let count = 0; count < 4; count++) ids.push(await bench.redeem());
  for (const id of ids) await bench.until(id, 'authorised');
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
