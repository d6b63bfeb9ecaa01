/**
 * Tests the largest loss after a theft of keys: of all the services' keys together, of one of them, and of the
 * administrator's.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keccak256, stringToBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Address } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';

const { CANCELLER, PAUSER, SIGNER_KEY, OTHER_KEY } = VaultBench;
const HOUR = 3_600;
const CAP = 1_000n;
const FUNDS = 100_000n;
const THIEF = aWallet(0x7e1f);
const SIGNER_ROLE = keccak256(stringToBytes('SIGNER_ROLE'));
const UNAUTHORISED = 'AccessControlUnauthorizedAccount';

let chain: VaultBench;
beforeAll(async () => {
  chain = await VaultBench.start();
});
afterAll(() => chain.stop());

const addressOf = (key: string) => privateKeyToAccount(`0x${key}`).address.toLowerCase() as Address;
const balanceOf = async (account: Address): Promise<bigint> =>
  BigInt(await chain.chain.rpc.call<string>('eth_getBalance', account, 'latest'));

/** Deploys a vault whose first block is in the first second of a window. */
async function aVault(): Promise<VaultBench> {
  chain.seconds = (Math.floor(chain.seconds / HOUR) + 1) * HOUR;
  return chain.another({ windowCap: CAP, windowSeconds: BigInt(HOUR), funds: FUNDS });
}

/**
 * Claims vouchers signed with the stolen key, large ones first, until the vault refuses a single unit. @returns the
 * amount paid
 */
async function takeAll(bench: VaultBench, seconds = bench.seconds): Promise<bigint> {
  const before = await bench.tokens(THIEF);
  bench.seconds = seconds;
  for (const amount of [FUNDS, CAP + 1n, 700n, 500n, 200n, 99n, 50n, 1n, 1n, 1n]) {
    const voucher = bench.voucher({ recipient: THIEF, amount });
    const [outcome] = await bench.mineAt(bench.seconds, await bench.claim(voucher));
    if (outcome?.error !== undefined) expect(outcome.error).toBe('WindowCapExceeded');
  }
  expect(await bench.view('remainingInWindow')).toBe(0n);
  chain.seconds = bench.seconds;
  return (await bench.tokens(THIEF)) - before;
}

describe('one who has the keys of signer, canceller and pauser', () => {
  it('is paid windowCap in each window, twice that about the end of one, and not one unit more', async () => {
    const bench = await aVault();
    const edge = bench.seconds + HOUR;
    expect(await takeAll(bench, edge - 1)).toBe(CAP);
    expect(await takeAll(bench, edge)).toBe(CAP);
    for (const window of [1, 2, 3]) expect(await takeAll(bench, edge + window * HOUR)).toBe(CAP);
    expect(await bench.tokens(bench.vault)).toBe(FUNDS - 5n * CAP);
  });

  it('can lift the cap by no call, take no role, and not even end its own pause', async () => {
    const bench = await aVault();
    const { token } = bench.chain.contracts;
    await takeAll(bench);
    await bench.mine(bench.call(PAUSER, 'pause'));
    for (const from of [addressOf(SIGNER_KEY), CANCELLER, PAUSER]) {
      for (const call of [
        bench.call(from, 'setWindowCap', FUNDS),
        bench.call(from, 'withdraw', token, THIEF, 1n),
        bench.call(from, 'unpause'),
        bench.call(from, 'grantRole', SIGNER_ROLE, THIEF),
        bench.call(from, 'beginDefaultAdminTransfer', THIEF),
      ]) {
        expect(await bench.refusal(call)).toBe(UNAUTHORISED);
      }
    }
    const [later] = await bench.mineAt(
      bench.seconds + HOUR,
      await bench.claim(bench.voucher({ deadlineSeconds: bench.seconds + 2 * HOUR })),
    );
    expect(later?.error).toBe('EnforcedPause');
    expect(await bench.tokens(bench.vault)).toBe(FUNDS - CAP);
    chain.seconds = bench.seconds;
  });
});

describe('one who has the canceller’s key', () => {
  it('ends every open voucher, moves no token, and undoes no claim', async () => {
    const bench = await aVault();
    const paid = bench.voucher({ amount: 10n });
    await bench.mine(await bench.claim(paid));
    const open = Array.from({ length: 5 }, () => bench.voucher());
    const outcomes = await bench.mine(...open.map((voucher) => bench.cancel(voucher)));
    expect(outcomes.map(({ error }) => error)).toEqual(open.map(() => undefined));
    for (const voucher of open) {
      expect(await bench.refusal(bench.claim(voucher))).toBe('RedemptionNotOpen');
    }
    expect(await bench.refusal(bench.cancel(paid))).toBe('RedemptionNotOpen');
    expect(await bench.tokens(bench.vault)).toBe(FUNDS - 10n);
    chain.seconds = bench.seconds;
  });
});

describe.each(['canceller', 'pauser'])('the coin of the %s', (role) => {
  it('is lost with its key to the last wei, and no other coin is', async () => {
    const account = addressOf(OTHER_KEY);
    const bench = await chain.another({ [role]: account });
    const { rpc, chainId } = bench.chain;
    await rpc.call('anvil_setBalance', account, '0xde0b6b3a7640000');
    const others = [addressOf(SIGNER_KEY), bench.vault, bench.admin, CANCELLER, PAUSER];
    const before = await Promise.all(others.map(balanceOf));
    const [gasPrice, nonce] = await Promise.all([
      rpc.call<string>('eth_gasPrice'),
      rpc.call<string>('eth_getTransactionCount', account, 'latest'),
    ]);
    const fee = BigInt(gasPrice) * 21_000n;
    const had = await balanceOf(account);
    const loot = had - fee;
    const send = async (value: bigint, number: number) => {
      const transaction = {
        type: 'legacy' as const,
        chainId,
        to: THIEF as `0x${string}`,
        value,
        gas: 21_000n,
        gasPrice: BigInt(gasPrice),
        nonce: number,
      };
      const raw = await privateKeyToAccount(`0x${OTHER_KEY}`).signTransaction(transaction);
      return rpc.call<string>('eth_sendRawTransaction', raw);
    };
    await expect(send(loot + 1n, Number(nonce))).rejects.toThrow(/insufficient/i);
    const richer = await balanceOf(THIEF);
    await send(loot, Number(nonce));
    await bench.mine();
    expect((await balanceOf(THIEF)) - richer).toBe(loot);
    expect(await balanceOf(account)).toBe(0n);
    await expect(send(1n, Number(nonce) + 1)).rejects.toThrow(/insufficient/i);
    expect(await Promise.all(others.map(balanceOf))).toEqual(before);
    chain.seconds = bench.seconds;
  });
});

describe('one who has the administrator’s key', () => {
  it('takes all that the vault holds at once: the delay is for the role alone, and nothing is paid to wallets any more', async () => {
    const bench = await aVault();
    const { token } = bench.chain.contracts;
    const player = aWallet(0x91);
    await bench.mine(await bench.claim(bench.voucher({ recipient: player, amount: 10n })));
    const before = await bench.tokens(THIEF);
    const held = await bench.tokens(bench.vault);
    const [, taken, accepted] = await bench.mine(
      bench.call(bench.admin, 'beginDefaultAdminTransfer', THIEF),
      bench.call(bench.admin, 'withdraw', token, THIEF, held),
      bench.call(THIEF, 'acceptDefaultAdminTransfer'),
    );
    expect(taken?.error).toBeUndefined();
    expect(accepted?.error).toBe('AccessControlEnforcedDefaultAdminDelay');
    expect((await bench.tokens(THIEF)) - before).toBe(FUNDS - 10n);
    expect(await bench.tokens(bench.vault)).toBe(0n);
    expect(await bench.tokens(player)).toBe(10n);
    expect(await bench.refusal(bench.claim(bench.voucher()))).toBe('InsufficientVault');
    chain.seconds = bench.seconds;
  });
});
