/** Tests what the vault pays and refuses, when, and who may change its roles. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getAddress, keccak256, stringToBytes } from 'viem';
import { claimCalldata, vaultIdOf, type Voucher, VoucherSigner } from '#libs/chain';
import { type Address, ZERO_ADDRESS } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';

const { CANCELLER, OTHER_KEY, PAUSER, RECIPIENT, SIGNER_KEY, STRANGER } = VaultBench;
const [NONE, CLAIMED, CANCELLED] = [0, 1, 2];
const HOUR = 3_600;
const DELAY = 259_200;
const DEFAULT_ADMIN_ROLE = `0x${'0'.repeat(64)}`;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const role = (name: string) => keccak256(stringToBytes(name));

let bench: VaultBench;
beforeAll(async () => {
  bench = await VaultBench.start({ maxTtlSeconds: BigInt(HOUR), adminDelaySeconds: DELAY });
});
afterAll(() => bench.stop());

describe('the vault', () => {
  /** Expects that the vault refuses a claim with this error and moves nothing. */
  async function expectRefused(error: string, voucher: Voucher, by = {}): Promise<void> {
    const before = await bench.tokens(bench.vault);
    const status = await bench.status(voucher);
    expect(await bench.refusal(bench.claim(voucher, by))).toBe(error);
    expect(await bench.status(voucher)).toBe(status);
    expect(await bench.tokens(bench.vault)).toBe(before);
  }

  it('pays the voucher’s recipient for any sender, and says so', async () => {
    const voucher = bench.voucher({ amount: 12_345n });
    const before = await bench.tokens(RECIPIENT);
    const [outcome] = await bench.mine(await bench.claim(voucher, { from: STRANGER }));
    const { address: signer } = new VoucherSigner(bench.place, SIGNER_KEY);
    expect(outcome?.events).toEqual([
      {
        eventName: 'Claimed',
        args: {
          redemptionId: voucher.vaultId,
          recipient: getAddress(RECIPIENT),
          amount: 12_345n,
          signer: getAddress(signer),
        },
      },
    ]);
    expect(await bench.tokens(RECIPIENT)).toBe(before + 12_345n);
    expect(await bench.tokens(STRANGER)).toBe(0n);
    expect(await bench.status(voucher)).toBe(CLAIMED);
  });

  it('pays a redemption once: not in the same block, not later, not by another voucher', async () => {
    const voucher = bench.voucher();
    const before = await bench.tokens(RECIPIENT);
    const claims = [await bench.claim(voucher), await bench.claim(voucher, { from: RECIPIENT })];
    const [first, second] = await bench.mine(...claims);
    expect(first?.error).toBeUndefined();
    expect(second).toMatchObject({
      error: 'RedemptionNotOpen',
      errorArgs: [voucher.vaultId, CLAIMED],
    });
    await expectRefused('RedemptionNotOpen', voucher);
    await expectRefused('RedemptionNotOpen', { ...voucher, amount: 7n, recipient: STRANGER });
    expect(await bench.tokens(RECIPIENT)).toBe(before + voucher.amount);
  });

  describe('refuses a voucher', () => {
    it.each<[string, { key?: string; chainId?: number; vault?: Address }]>([
      ['of another signer', { key: OTHER_KEY }],
      ['for another chain', { chainId: 1 }],
      ['for another vault', { vault: aWallet(0xbad) }],
    ])('%s', async (_what, { key = SIGNER_KEY, ...other }) => {
      const place = { ...bench.place, ...other };
      await expectRefused('NotASigner', bench.voucher(), { key, place });
    });

    it.each<[string, Partial<Voucher>]>([
      ['recipient', { recipient: STRANGER }],
      ['amount', { amount: 101n }],
      ['deadline', { deadlineSeconds: 1_760_003_000 }],
      ['redemption', { vaultId: vaultIdOf('0199d000-0000-7000-8000-ffffffffffff') }],
    ])('whose %s was changed', async (_field, changes) => {
      const voucher = bench.voucher();
      const signature = await new VoucherSigner(bench.place, SIGNER_KEY).sign(voucher);
      const data = claimCalldata({ ...voucher, ...changes }, signature);
      expect(await bench.refusal(bench.to(STRANGER, data))).toBe('NotASigner');
    });

    it('with the twin of its signature, or a part of it', async () => {
      const voucher = bench.voucher();
      const signature = await new VoucherSigner(bench.place, SIGNER_KEY).sign(voucher);
      const s = BigInt(`0x${signature.slice(66, 130)}`);
      const v = signature.endsWith('1b') ? '1c' : '1b';
      const high = (CURVE_ORDER - s).toString(16).padStart(64, '0');
      const compact = signature.slice(0, 66) + high;
      const variants: [string, string][] = [
        [`${signature.slice(0, 66)}${high}${v}`, 'ECDSAInvalidSignatureS'],
        [compact, 'ECDSAInvalidSignatureLength'],
        [`${signature}00`, 'ECDSAInvalidSignatureLength'],
        ['0x', 'ECDSAInvalidSignatureLength'],
        [`0x${'0'.repeat(130)}`, 'ECDSAInvalidSignature'],
        [`${signature.slice(0, -2)}00`, 'ECDSAInvalidSignature'],
      ];
      for (const [variant, error] of variants) {
        const data = claimCalldata(voucher, variant as `0x${string}`);
        expect(await bench.refusal(bench.to(STRANGER, data))).toBe(error);
      }
      expect(await bench.status(voucher)).toBe(NONE);
    });

    it('to nobody, to the vault itself, or of nothing', async () => {
      // These claims have no valid signature; the vault must refuse them before it checks the signature.
      const zero = ZERO_ADDRESS;
      const claim = (recipient: string, amount: bigint) =>
        bench.call(
          STRANGER,
          'claim',
          ...[bench.voucher().vaultId, recipient, amount, BigInt(bench.seconds + 600), '0x'],
        );
      expect(await bench.refusal(claim(zero, 1n))).toBe('InvalidRecipient');
      expect(await bench.refusal(claim(bench.vault, 1n))).toBe('InvalidRecipient');
      expect(await bench.refusal(claim(RECIPIENT, 0n))).toBe('ZeroAmount');
    });
  });

  it('pays in a block of exactly the deadline, and not one second later', async () => {
    const last = bench.voucher();
    const [outcome] = await bench.mineAt(last.deadlineSeconds, await bench.claim(last));
    expect(outcome?.error).toBeUndefined();
    expect(await bench.status(last)).toBe(CLAIMED);
    const voucher = bench.voucher();
    const late = voucher.deadlineSeconds + 1;
    const [refused] = await bench.mineAt(late, await bench.claim(voucher));
    expect(refused).toMatchObject({
      error: 'VoucherExpired',
      errorArgs: [voucher.vaultId, BigInt(voucher.deadlineSeconds)],
    });
    expect(await bench.status(voucher)).toBe(NONE);
  });

  describe('a cancellation', () => {
    it('ends a redemption, with its event, even if a voucher was handed out', async () => {
      const voucher = bench.voucher();
      const [outcome] = await bench.mine(bench.cancel(voucher));
      expect(outcome?.events).toEqual([
        {
          eventName: 'Cancelled',
          args: { redemptionId: voucher.vaultId, canceller: getAddress(CANCELLER) },
        },
      ]);
      expect(await bench.status(voucher)).toBe(CANCELLED);
      await expectRefused('RedemptionNotOpen', voucher);
    });

    it('is refused a second time, and after a claim', async () => {
      const [once, claimed] = [bench.voucher(), bench.voucher()];
      await bench.mine(bench.cancel(once), await bench.claim(claimed));
      expect(await bench.refusal(bench.cancel(once))).toBe('RedemptionNotOpen');
      expect(await bench.refusal(bench.cancel(claimed))).toBe('RedemptionNotOpen');
      expect(await bench.status(once)).toBe(CANCELLED);
      expect(await bench.status(claimed)).toBe(CLAIMED);
    });

    it('is for its role alone', async () => {
      for (const from of [STRANGER, RECIPIENT, PAUSER, bench.admin]) {
        expect(await bench.refusal(bench.cancel(bench.voucher(), from))).toBe(
          'AccessControlUnauthorizedAccount',
        );
      }
    });

    it.each([
      ['claim first', [CLAIMED, undefined, 'RedemptionNotOpen']],
      ['cancellation first', [CANCELLED, undefined, 'RedemptionNotOpen']],
    ])('and a claim in one block, %s: the first one holds', async (_case, [status, ...errors]) => {
      const voucher = bench.voucher();
      const before = await bench.tokens(RECIPIENT);
      const both = [await bench.claim(voucher), bench.cancel(voucher)];
      if (status === CANCELLED) both.reverse();
      const outcomes = await bench.mine(...both);
      expect(outcomes.map(({ error }) => error)).toEqual(errors);
      expect(outcomes.flatMap(({ events }) => events)).toHaveLength(1);
      expect(await bench.status(voucher)).toBe(status);
      const paid = (await bench.tokens(RECIPIENT)) - before;
      expect(paid).toBe(status === CLAIMED ? voucher.amount : 0n);
    });
  });

  it('takes a revoked signer’s vouchers no more, and a new one’s at once', async () => {
    const { address: old } = new VoucherSigner(bench.place, SIGNER_KEY);
    const { address: other } = new VoucherSigner(bench.place, OTHER_KEY);
    const voucher = bench.voucher();
    const change = (name: 'grantRole' | 'revokeRole', holder: string) =>
      bench.call(bench.admin, name, role('SIGNER_ROLE'), holder);
    const claim = await bench.claim(voucher);
    const [, , late] = await bench.mine(
      change('grantRole', other),
      change('revokeRole', old),
      claim,
    );
    expect(late).toMatchObject({ error: 'NotASigner', errorArgs: [getAddress(old)] });
    expect(await bench.status(voucher)).toBe(NONE);
    expect(await bench.refusal(bench.claim(bench.voucher(), { key: OTHER_KEY }))).toBeUndefined();
    // The signer's role at the moment of the claim decides, so the old voucher is valid again once the role is back.
    await bench.mine(change('grantRole', old), change('revokeRole', other));
    expect(await bench.refusal(claim)).toBeUndefined();
  });
});

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
    const change = (name: string) => bench.call(bench.admin, name, role('SIGNER_ROLE'), address);
    await bench.mine(change('revokeRole'));
    const [late] = await bench.mineAt(voucher.deadlineSeconds - HOUR, claim);
    expect(late?.error).toBe('NotASigner');
    await bench.mine(change('grantRole'));
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
});
