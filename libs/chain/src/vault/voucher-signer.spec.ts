/** The signer of vouchers, the ids of redemptions in the vault, and keys that are no secret. */
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { recoverTypedDataAddress } from 'viem';
import { type Address } from '#libs/domain';
import { claimCalldata, type Voucher, VoucherSigner, voucherTypedData } from './voucher.js';
import { redemptionIdOf, vaultIdOf } from './vault-event.js';
import { isDevelopmentKey } from '../accounts/private-key.js';

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

const UUID = '0199d8f2-6c1a-7b3e-9f00-c0ffee123456';
const ID = '0x0199d8f26c1a7b3e9f00c0ffee12345600000000000000000000000000000000';

describe('the id of a redemption in the vault', () => {
  it('is its sixteen bytes, then sixteen zero bytes', () => {
    expect(vaultIdOf(UUID)).toBe(ID);
    expect(vaultIdOf(UUID.toUpperCase())).toBe(ID);
    expect(redemptionIdOf(ID)).toBe(UUID);
  });

  it.each([
    '',
    UUID.replaceAll('-', ''),
    `{${UUID}}`,
    `${UUID} `,
    UUID.replace('-7b', '-4b'),
    UUID.replace('-9f', '-cf'),
    UUID.slice(0, -1),
    '00000000-0000-0000-0000-000000000000',
  ])('is not made of %p', (text) => {
    expect(() => vaultIdOf(text)).toThrow('A redemption id must be a UUIDv7.');
  });

  it.each([
    ID.slice(0, -1),
    `${ID}0`,
    `${ID.slice(0, -1)}1`,
    ID.replace('7b3e', '4b3e'),
    ID.toUpperCase(),
    `0x${'0'.repeat(64)}`,
    `0x${'0'.repeat(32)}${ID.slice(2, 34)}`,
  ])('names no redemption where it is %p', (text) => {
    expect(redemptionIdOf(text)).toBeUndefined();
  });
});

describe('isDevelopmentKey', () => {
  it('knows the keys that anvil prints at its start', () => {
    const first = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
    expect(isDevelopmentKey(first)).toBe(true);
    expect(isDevelopmentKey(`0x${first.toUpperCase()}`)).toBe(true);
  });

  it('knows no other', () => {
    expect(isDevelopmentKey('01'.repeat(32))).toBe(false);
  });
});
