import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { recoverTypedDataAddress } from 'viem';
import { type Address } from '#libs/domain';
import { claimCalldata, type Voucher, VoucherSigner, voucherTypedData } from './voucher.js';
import { vaultIdOf } from './vault-event.js';

// The first account of every local development chain.
const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const ADDRESS = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const address = (digit: string) => `0x${digit.repeat(40)}` as Address;
const place = { chainId: 4_242, vault: address('9') };
const voucher: Voucher = {
  vaultId: vaultIdOf('0199d8f2-6c1a-7b3e-9f00-c0ffee123456'),
  recipient: address('a'),
  amount: 340n * 10n ** 18n,
  deadlineSeconds: 1_760_001_800,
};

describe('the signer of vouchers', () => {
  it('gives the same bytes for the same voucher, always', async () => {
    const signature = await new VoucherSigner(place, KEY).sign(voucher);
    expect(await new VoucherSigner(place, `0x${KEY}`).sign({ ...voucher })).toBe(signature);
    expect(await new VoucherSigner(place, ` ${KEY.toUpperCase()}\n`).sign(voucher)).toBe(signature);
    // Fixed by hand: a library that signs differently would break vouchers that are already issued.
    expect(signature).toBe(
      '0x3956bc66d148849db1a4be8d8830304f80f06ef3b8957268824c2f2fb6c0a43d7b2181344e0e9503e756feeb0d6b523b17c4311df259e5ee83bfbaf78b067af81c',
    );
  });

  it('signs for its address, in the lower half of the curve', async () => {
    const signer = new VoucherSigner(place, KEY);
    const signature = await signer.sign(voucher);
    expect(signer.address).toBe(ADDRESS);
    const typed = voucherTypedData(place, voucher);
    const recovered = await recoverTypedDataAddress({ ...typed, signature });
    expect(recovered.toLowerCase()).toBe(ADDRESS);
    expect(signature).toMatch(/^0x[0-9a-f]{64}[0-7][0-9a-f]{63}1[bc]$/);
  });

  it('gives other bytes for anything else', async () => {
    const others: [typeof place, Voucher][] = [
      [place, voucher],
      [{ ...place, chainId: 4_243 }, voucher],
      [{ ...place, vault: address('8') }, voucher],
      [place, { ...voucher, vaultId: vaultIdOf('0199d8f2-6c1a-7b3e-9f00-c0ffee123457') }],
      [place, { ...voucher, recipient: address('b') }],
      [place, { ...voucher, amount: voucher.amount + 1n }],
      [place, { ...voucher, deadlineSeconds: voucher.deadlineSeconds + 1 }],
    ];
    const signatures = await Promise.all(
      others.map(([where, what]) => new VoucherSigner(where, KEY).sign(what)),
    );
    expect(new Set(signatures).size).toBe(others.length);
    const calldata = others.map(([, what], index) =>
      claimCalldata(what, signatures[index] ?? '0x'),
    );
    expect(new Set(calldata).size).toBe(others.length);
  });

  it.each<[string, Partial<Voucher>]>([
    ['nobody', { recipient: address('0') }],
    ['a precompile', { recipient: `0x${'4'.padStart(40, '0')}` as Address }],
    ['the vault itself', { recipient: place.vault }],
    ['nothing', { amount: 0n }],
    ['less than nothing', { amount: -1n }],
    ['more than fits', { amount: 1n << 256n }],
    ['no time', { deadlineSeconds: 0 }],
    ['half a second', { deadlineSeconds: 1.5 }],
    ['a time out of range', { deadlineSeconds: Number.MAX_VALUE }],
  ])('signs no voucher for %s', async (_case, changes) => {
    const signing = new VoucherSigner(place, KEY).sign({ ...voucher, ...changes });
    await expect(signing).rejects.toMatchObject({ code: 'VOUCHER_INVALID', retryable: false });
  });

  it('never shows its key', () => {
    const signer = new VoucherSigner(place, KEY);
    const shown = [inspect(signer, { depth: 10, showHidden: true }), JSON.stringify(signer)];
    for (const text of shown) {
      expect(text).not.toContain(KEY.slice(4, 20));
      expect(text).toContain(ADDRESS);
    }
  });

  it.each(['', '12', `${KEY}00`, KEY.replace('a', 'g'), '0'.repeat(64), 'f'.repeat(64)])(
    'refuses a key that is none, without repeating it: %p',
    (key) => {
      let caught: unknown;
      try {
        new VoucherSigner(place, key);
      } catch (error) {
        caught = error;
      }
      expect(caught).toMatchObject({ code: 'PRIVATE_KEY_INVALID' });
      if (key.length > 2) expect(inspect(caught)).not.toContain(key);
    },
  );
});
