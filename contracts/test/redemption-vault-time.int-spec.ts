/** Tests vouchers with a distant deadline, and an administrator who is replaced only after a delay. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keccak256, stringToBytes } from 'viem';
import { VoucherSigner } from '#libs/chain';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';

const { OTHER_KEY, PAUSER, SIGNER_KEY, STRANGER } = VaultBench;
const HOUR = 3_600;
const DELAY = 259_200;
const DEFAULT_ADMIN_ROLE = `0x${'0'.repeat(64)}`;
const SIGNER_ROLE = keccak256(stringToBytes('SIGNER_ROLE'));

let bench: VaultBench;
beforeAll(async () => {
  bench = await VaultBench.start({ maxTtlSeconds: BigInt(HOUR), adminDelaySeconds: DELAY });
});
afterAll(() => bench.stop());

describe('a voucher of a far deadline', () => {
  it('pays from maxTtlSeconds before its deadline on, and not a second before', async () => {
    const from = bench.seconds + 1_000;
    const voucher = bench.voucher({ deadlineSeconds: from + HOUR });
    const claim = await bench.claim(voucher);
    const [early] = await bench.mineAt(from - 1, claim);
    expect(early).toMatchObject({
      error: 'DeadlineTooFar',
      errorArgs: [voucher.vaultId, BigInt(from + HOUR), BigInt(from + HOUR - 1)],
    });
    expect(await bench.status(voucher)).toBe(0);
    const [due] = await bench.mineAt(from, claim);
    expect(due?.error).toBeUndefined();
    expect(await bench.status(voucher)).toBe(1);
  });

  it('pays nothing where its signer was revoked meanwhile: a stolen signature that was put by', async () => {
    const voucher = bench.voucher({ deadlineSeconds: bench.seconds + 30 * 86_400 });
    const claim = await bench.claim(voucher);
    expect(await bench.refusal(claim)).toBe('DeadlineTooFar');
    const { address } = new VoucherSigner(bench.place, SIGNER_KEY);
    const change = (name: string) => bench.call(bench.admin, name, SIGNER_ROLE, address);
    await bench.mine(change('revokeRole'));
    const [late] = await bench.mineAt(voucher.deadlineSeconds - HOUR, claim);
    expect(late?.error).toBe('NotASigner');
    await bench.mine(change('grantRole'));
  });

  it('in milliseconds by mistake pays nothing', async () => {
    const voucher = bench.voucher({ deadlineSeconds: bench.seconds * 1000 });
    expect(await bench.refusal(bench.claim(voucher))).toBe('DeadlineTooFar');
  });
});

describe('the administrator', () => {
  const heir = aWallet(0x4e);

  it('is replaced only after the delay, by the heir’s own act, and may take it back before', async () => {
    expect(await bench.view('defaultAdminDelay')).toBe(DELAY);
    const { admin } = bench;
    const begin = bench.call(admin, 'beginDefaultAdminTransfer', heir);
    const accept = bench.call(heir, 'acceptDefaultAdminTransfer');
    await bench.mine(begin);
    const [early] = await bench.mineAt(bench.seconds + DELAY, accept);
    expect(early?.error).toBe('AccessControlEnforcedDefaultAdminDelay');
    await bench.mine(bench.call(admin, 'cancelDefaultAdminTransfer'));
    expect(await bench.refusal(accept)).toBe('AccessControlInvalidDefaultAdmin');

    await bench.mine(begin);
    const [stranger] = await bench.mineAt(
      bench.seconds + DELAY + 1,
      bench.call(STRANGER, 'acceptDefaultAdminTransfer'),
    );
    expect(stranger?.error).toBe('AccessControlInvalidDefaultAdmin');
    expect(await bench.refusal(accept)).toBeUndefined();
    expect(await bench.refusal(bench.call(admin, 'setWindowCap', 1n))).toBe(
      'AccessControlUnauthorizedAccount',
    );
    // Restores the administrator for the tests that follow.
    await bench.mine(bench.call(heir, 'beginDefaultAdminTransfer', admin));
    const back = bench.call(admin, 'acceptDefaultAdminTransfer');
    const [home] = await bench.mineAt(bench.seconds + DELAY + 1, back);
    expect(home?.error).toBeUndefined();
  });

  it('cannot be joined or replaced at once by grants', async () => {
    for (const name of ['grantRole', 'revokeRole']) {
      const call = bench.call(bench.admin, name, DEFAULT_ADMIN_ROLE, heir);
      expect(await bench.refusal(call)).toBe('AccessControlEnforcedDefaultAdminRules');
    }
    const { admin } = bench;
    expect(await bench.refusal(bench.call(admin, 'renounceRole', DEFAULT_ADMIN_ROLE, admin))).toBe(
      'AccessControlEnforcedDefaultAdminDelay',
    );
  });

  it('is needed to unpause: the pauser’s key alone stops the vault and does not start it', async () => {
    const { address } = new VoucherSigner(bench.place, OTHER_KEY);
    await bench.mine(bench.call(PAUSER, 'pause'));
    for (const from of [PAUSER, address, STRANGER]) {
      expect(await bench.refusal(bench.call(from, 'unpause'))).toBe(
        'AccessControlUnauthorizedAccount',
      );
    }
    expect(await bench.refusal(bench.call(bench.admin, 'unpause'))).toBeUndefined();
  });
});
