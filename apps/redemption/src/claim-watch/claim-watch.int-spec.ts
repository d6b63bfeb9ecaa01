/** Thefts on a real vault: detected before they are final, reported once, and stopped where a pauser's key is set. */
import { describe, expect, it } from '@jest/globals';
import { type Voucher, vaultIdOf } from '#libs/chain';
import { LedgerRestoreStore } from '#libs/db';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import {
  aNode,
  aWatch,
  alerts,
  authorised,
  bench,
  clock,
  database,
  eachTest,
  isPaused,
  kinds,
  nextBlock,
  PAUSER,
  steal,
  test,
  THIEF,
} from './claim-watch.support.js';

const { STRANGER } = VaultBench;

eachTest();

describe('a claim that was authorised', () => {
  it('is nothing to tell, and final ones are read once', async () => {
    expect(await kinds()).toEqual([]);
    const { payout, payouts, redemptions } = await authorised();
    const { calldata } = await payouts.authorise({ ...payout, isSealed: true });
    await bench.mine(bench.to(STRANGER, calldata as `0x${string}`));
    expect(await kinds()).toEqual([]);
    await bench.finalise();
    const before = await nextBlock();
    expect(await kinds()).toEqual([]);
    await redemptions.settled(payout);
    expect(await kinds()).toEqual([]);
    const head = await bench.chain.player.head();
    expect(before).toBeLessThan(head);
    expect(await nextBlock()).toBe(head - 4n + 1n);
    expect(alerts).toEqual([]);
    await bench.mine();
    expect(await isPaused()).toBe(false);
  });
});

describe('a claim that nothing authorised', () => {
  it('is told before it is final, once, with all there is to know, and pauses the vault', async () => {
    await kinds();
    const redemptionId = await steal({ amount: 777n });
    expect(await kinds()).toEqual(['without-row']);
    expect(alerts).toEqual([
      {
        severity: 'critical',
        code: 'claim-unauthorised',
        redemptionId,
        detail: expect.stringMatching(
          new RegExp(
            `^${bench.vault} paid 777 .* to ${THIEF}, signed by 0x.*no redemption has this id$`,
          ),
        ),
      },
    ]);
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('EnforcedPause');
    await bench.finalise();
    expect(await kinds()).toEqual([]);
    expect(alerts).toHaveLength(1);
  });

  it('pauses once: what an administrator unpauses stays so, until the next theft', async () => {
    await kinds();
    await steal();
    await kinds();
    await bench.mine();
    await kinds();
    await bench.mine(bench.call(bench.admin, 'unpause'));
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(false);
    await steal();
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(true);
    expect(alerts).toHaveLength(2);
  });

  it('raises no alert if the pause comes into a block while the vault is asked', async () => {
    await kinds();
    await steal();
    await kinds();
    await bench.mine();
    expect(await isPaused()).toBe(true);
    const notPaused = `0x${'00'.repeat(32)}`;
    const late = await aNode({ kind: 'result', method: 'eth_call', result: notPaused, times: 1 });
    expect(await kinds(aWatch({ urls: [late] }))).toEqual([]);
    expect(alerts).toHaveLength(1);
  });

  it.each<[string, Partial<Voucher>]>([
    ['amount', { amount: 101n }],
    ['recipient', { recipient: THIEF }],
  ])('of the plan’s %s: found at the redemption', async (_field, changes) => {
    await kinds();
    const { payout } = await authorised();
    const { redemptionId, plan } = payout;
    const voucher = { ...plan, vaultId: vaultIdOf(redemptionId), ...changes };
    expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
    expect(await kinds()).toEqual(['different']);
    expect(alerts).toMatchObject([{ code: 'claim-unauthorised', redemptionId }]);
  });

  it('is found where it was made while no process ran', async () => {
    await kinds();
    await steal();
    for (let block = 0; block < 20; block++) await bench.mine();
    expect(await kinds()).toEqual(['without-row']);
  });

  it('is told where there is no key to pause, and where the key lacks the role', async () => {
    await kinds();
    await steal();
    expect(await kinds(aWatch({ pauserKey: null }))).toEqual(['without-row']);
    await kinds(aWatch({ pauserKey: VaultBench.OTHER_KEY }));
    await bench.mine();
    expect(await isPaused()).toBe(false);
    expect(alerts).toMatchObject([
      { code: 'claim-unauthorised' },
      {
        severity: 'critical',
        code: 'vault-not-paused',
        detail: expect.stringMatching(/lacks PAUSER_ROLE.*Pause it by hand/),
      },
    ]);
  });

  it('of a contract that only the database names makes the service sign nothing', async () => {
    const named = aWallet(0x515c);
    // A contract that accepts any call.
    await bench.chain.rpc.call('anvil_setCode', named, '0x00');
    await bench.mine();
    const service = await test.open({ url: test.urlAs('redemption') });
    const place = [bench.place.chainId, Buffer.from(named.slice(2), 'hex')];
    await service.query(
      {
        text: `INSERT INTO redemption.reconciliation_checkpoint (chain_id, vault, start_block) VALUES ($1, $2, 0)`,
      },
      place,
    );
    await service.query(
      {
        text: `INSERT INTO redemption.claim_alarm (chain_id, vault, vault_id, transaction_hash, block_number, block_at,
            recipient, amount, kind, may_be_lost, found_at)
          VALUES ($1, $2, $3, $3, 1, now(), $4, 1, 'without-row', false, now())`,
      },
      [...place, Buffer.alloc(32, 0xab), Buffer.alloc(20, 0xef)],
    );
    await kinds();
    await bench.mine();
    expect(await bench.chain.rpc.call('eth_getTransactionCount', PAUSER, 'latest')).toBe('0x0');
    expect(alerts).toMatchObject([
      { code: 'vault-not-paused', detail: expect.stringContaining(`${named} could not be paused`) },
    ]);
  });

  it('pauses nothing at any price', async () => {
    await kinds();
    await steal();
    const result = `0x${(9_000_000n * 10n ** 9n).toString(16)}`;
    const url = await aNode({ kind: 'result', method: 'eth_gasPrice', result });
    await kinds(aWatch({ urls: [url] }));
    await bench.mine();
    expect(await isPaused()).toBe(false);
    expect(alerts).toMatchObject([
      { code: 'claim-unauthorised' },
      { code: 'vault-gas-refused', detail: expect.stringMatching(/13500000 gwei.* the 0\.5 that/) },
    ]);
  });

  it('of which a restored ledger may have lost the redemption is told and pauses nothing', async () => {
    await kinds();
    await steal();
    await new LedgerRestoreStore(database).record({
      lostSinceMs: bench.seconds * 1000 - 60_000,
      nowMs: clock.nowMs() + 60_000,
      voucherSeconds: 600,
      actor: 'operator:test',
      command: 'ledger restored',
      arguments: {},
    });
    expect(await kinds()).toEqual(['without-row']);
    await bench.mine();
    expect(await isPaused()).toBe(false);
    expect(alerts).toMatchObject([{ detail: expect.stringContaining('no pause') }]);
  });
});
