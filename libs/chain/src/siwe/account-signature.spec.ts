import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Chain } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import * as chains from 'viem/chains';
import { type Address } from '#libs/domain';
import { isSignedByAccount, UNIVERSAL_VERIFIERS } from './wallet-signatures.js';

const TEXT = 'example.com wants you to sign in\n€ and 𝄞';
const owner = privateKeyToAccount(`0x${'33'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'44'.repeat(32)}`);
const OWNER = owner.address.toLowerCase() as Address;
let signature: string;
beforeAll(async () => {
  signature = await owner.signMessage({ message: TEXT });
});

const isSigned = (text: string, given: string): Promise<boolean> =>
  isSignedByAccount(OWNER, text, given);

describe('isSignedByAccount', () => {
  it('knows the signature of the account, in either case of its digits', async () => {
    expect(await isSigned(TEXT, signature)).toBe(true);
    expect(await isSigned(TEXT, `0x${signature.slice(2).toUpperCase()}`)).toBe(true);
  });

  it('knows no signature of another account, or of another text', async () => {
    const theirs = await stranger.signMessage({ message: TEXT });
    expect(await isSigned(TEXT, theirs)).toBe(false);
    expect(await isSigned(`${TEXT} `, signature)).toBe(false);
    const account = stranger.address.toLowerCase() as Address;
    expect(await isSignedByAccount(account, TEXT, theirs)).toBe(true);
  });

  it.each<[string, (good: string) => string]>([
    ['nothing', () => ''],
    ['no digits', () => '0x'],
    ['no prefix', (good) => good.slice(2)],
    ['a byte less', (good) => good.slice(0, -2)],
    ['a byte more', (good) => `${good}00`],
    ['half a byte less', (good) => good.slice(0, -1)],
    ['a compact signature of 64 bytes', (good) => good.slice(0, 130)],
    ['zeroes', () => `0x${'00'.repeat(65)}`],
    ['the highest digits', () => `0x${'ff'.repeat(65)}`],
    ['a recovery byte of no use', (good) => `${good.slice(0, -2)}05`],
    ['the signature of a contract wallet', (good) => `0x${good.slice(2).repeat(20)}`],
    ['a line behind it', (good) => `${good}\n`],
  ])('is false for %s', async (_, change) => {
    expect(await isSigned(TEXT, change(signature))).toBe(false);
  });

  it('throws for no text and no bytes at all', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.uint8Array({ minLength: 60, maxLength: 70 }),
        async (text, data) => {
          const given = `0x${Buffer.from(data).toString('hex')}`;
          expect(await isSigned(text, given)).toBe(false);
          expect(await isSigned(text, text)).toBe(false);
        },
      ),
    );
  });
});

describe('the universal verifiers', () => {
  it('are those of viem’s chain definitions', () => {
    const named = Object.values(chains as unknown as Record<string, Chain>).flatMap(
      ({ id, contracts }) => {
        const verifier = contracts?.erc6492Verifier?.address;
        return verifier === undefined ? [] : [[id, verifier.toLowerCase()] as const];
      },
    );
    expect(new Map(named).size).toBeGreaterThan(0);
    expect(new Map(named)).toEqual(new Map(UNIVERSAL_VERIFIERS));
  });
});
