/**
 * The owner of the database alters the deadlines of plans: points go back although the vouchers can still be claimed.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { VaultBench } from '#libs/testing';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';

const TOKENS = 340n;
const CAP = 2n * TOKENS;

let bench: EngineBench;
beforeAll(async () => {
  bench = await EngineBench.start(undefined, { windowCap: CAP });
});
afterAll(() => bench.stop());

it('gives points back beside vouchers that can be claimed: within the cap of the window, and with an alert', async () => {
  const taken = [];
  for (let count = 0; count < 3; count++) {
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    const calldata = await bench.voucher(id);
    await bench.database.transaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        'UPDATE redemption.redemption SET plan_deadline_seconds = plan_deadline_seconds - 601 WHERE id = $1',
        [id],
      );
    });
    const { wallet } = await bench.until(id, 'reverted');
    taken.push({ wallet, calldata });
  }
  expect(bench.logs.join('')).toContain('"alert":"evidence-invalid","severity":"critical"');
  const ends = [];
  for (const { calldata } of taken) {
    ends.push(await bench.chain.refusal(bench.chain.to(VaultBench.STRANGER, calldata)));
  }
  expect(ends).toEqual([undefined, undefined, 'WindowCapExceeded']);
  const wallets = taken.map(({ wallet }) => wallet);
  expect(wallets.map((wallet) => bench.partner.points.get(wallet))).toEqual([
    POINTS,
    POINTS,
    POINTS,
  ]);
  const tokens = await Promise.all(wallets.map((wallet) => bench.chain.tokens(wallet)));
  expect(tokens).toEqual([TOKENS, TOKENS, 0n]);
});
