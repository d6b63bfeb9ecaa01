/**
 * Tests the limits of the vault: caps, pauses, its balance, roles, tokens for which it was not made, and the largest loss
 * after a theft of keys.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeDeployData, encodeFunctionData, getAddress, keccak256, stringToBytes } from 'viem';
import {
  lowmarkTokenAbi,
  redemptionVaultAbi,
  redemptionVaultBytecode,
  VoucherSigner,
} from '#libs/chain';
import { mineOne } from '#libs/devchain';
import { type Address, ZERO_ADDRESS } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { compileFile } from '#libs/testing/solidity';
import { VaultBench } from '#libs/testing/vault';

const { CANCELLER, PAUSER, RECIPIENT, SIGNER_KEY, STRANGER } = VaultBench;
const UNAUTHORISED = 'AccessControlUnauthorizedAccount';
const SIGNER_ROLE = keccak256(stringToBytes('SIGNER_ROLE'));
const HOUR = 3_600;
const CAP = 1_000n;
const FUNDS = 100_000n;
const THIEF = aWallet(0x7e1f);

let chain: VaultBench;
/** The vault of the running test. */
let vault: VaultBench | undefined;
beforeAll(async () => {
  chain = await VaultBench.start();
});
afterEach(() => {
  chain.seconds = vault?.seconds ?? chain.seconds;
});
afterAll(() => chain.stop());

async function anotherVault(setup: Parameters<VaultBench['another']>[0]): Promise<VaultBench> {
  vault = await chain.another(setup);
  return vault;
}

/** A vault whose first block is in the first second of a window. */
function cappedVault(windowCap: bigint, funds?: bigint): Promise<VaultBench> {
  chain.seconds = (Math.floor(chain.seconds / HOUR) + 1) * HOUR;
  const limits = { windowCap, windowSeconds: BigInt(HOUR) };
  return anotherVault({ ...limits, ...(funds !== undefined && { funds }) });
}

function signerOf({ place }: VaultBench): Address {
  return new VoucherSigner(place, SIGNER_KEY).address;
}

describe('RedemptionVault', () => {
  describe('the cap', () => {
    const claim = (bench: VaultBench, amount: bigint) => bench.claim(bench.voucher({ amount }));

    it('is reached exactly and not passed by one', async () => {
      const bench = await cappedVault(1_000n);
      expect(await bench.refusal(claim(bench, 1_001n))).toBe('WindowCapExceeded');
      expect(await bench.refusal(claim(bench, 400n))).toBeUndefined();
      expect(await bench.view('remainingInWindow')).toBe(600n);
      const [over] = await bench.mine(await claim(bench, 601n));
      expect(over).toMatchObject({ error: 'WindowCapExceeded', errorArgs: [600n, 601n] });
      expect(await bench.refusal(claim(bench, 600n))).toBeUndefined();
      expect(await bench.refusal(claim(bench, 1n))).toBe('WindowCapExceeded');
      expect(await bench.view('remainingInWindow')).toBe(0n);
    });

    it('begins again with the first second of a window, and leaves a refused voucher good', async () => {
      const bench = await cappedVault(1_000n);
      const edge = bench.seconds + HOUR;
      const voucher = bench.voucher({ amount: 1n, deadlineSeconds: edge + HOUR });
      await bench.mine(await claim(bench, 1_000n));
      const [before] = await bench.mineAt(edge - 1, await bench.claim(voucher));
      expect(before?.error).toBe('WindowCapExceeded');
      const [after] = await bench.mineAt(edge, await bench.claim(voucher));
      expect(after?.error).toBeUndefined();
      expect(await bench.view('remainingInWindow')).toBe(999n);
    });

    it('may be changed by the administrator, for the running window too', async () => {
      const bench = await cappedVault(1_000n);
      await bench.mine(await claim(bench, 500n));
      const [lowered] = await bench.mine(bench.call(bench.admin, 'setWindowCap', 100n));
      expect(lowered?.events).toEqual([
        { eventName: 'WindowCapChanged', args: { previous: 1_000n, current: 100n } },
      ]);
      expect(await bench.view('remainingInWindow')).toBe(0n);
      expect(await bench.refusal(claim(bench, 1n))).toBe('WindowCapExceeded');
      await bench.mine(bench.call(bench.admin, 'setWindowCap', 501n));
      expect(await bench.refusal(claim(bench, 1n))).toBeUndefined();
      expect(await bench.refusal(bench.call(STRANGER, 'setWindowCap', 9n))).toBe(UNAUTHORISED);
    });

    it('is not overflown by the largest amount there is', async () => {
      const bench = await cappedVault((1n << 256n) - 1n);
      await bench.mine(await claim(bench, 5n));
      expect(await bench.refusal(claim(bench, (1n << 256n) - 1n))).toBe('WindowCapExceeded');
    });
  });

  it('pays nothing while paused, touches no status, and lets cancel', async () => {
    const bench = await anotherVault({});
    const [voucher, other] = [bench.voucher(), bench.voucher()];
    const [paused] = await bench.mine(bench.call(PAUSER, 'pause'));
    expect(paused?.events).toMatchObject([{ eventName: 'Paused' }]);
    expect(await bench.refusal(bench.claim(voucher))).toBe('EnforcedPause');
    expect(await bench.refusal(bench.cancel(other))).toBeUndefined();
    expect(await bench.status(voucher)).toBe(0);
    expect(await bench.status(other)).toBe(2);
    expect(await bench.refusal(bench.call(PAUSER, 'unpause'))).toBe(UNAUTHORISED);
    expect(await bench.refusal(bench.call(bench.admin, 'unpause'))).toBeUndefined();
    expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
    expect(await bench.refusal(bench.call(STRANGER, 'pause'))).toBe(UNAUTHORISED);
    expect(await bench.refusal(bench.call(bench.admin, 'pause'))).toBe(UNAUTHORISED);
  });

  it('refuses what it cannot pay in full, and pays it once it can', async () => {
    const bench = await anotherVault({ funds: 99n });
    const voucher = bench.voucher({ amount: 100n });
    const [short] = await bench.mine(await bench.claim(voucher));
    expect(short).toMatchObject({ error: 'InsufficientVault', errorArgs: [99n, 100n] });
    expect(await bench.status(voucher)).toBe(0);
    const data = encodeFunctionData({
      abi: lowmarkTokenAbi,
      functionName: 'transfer',
      args: [bench.vault as `0x${string}`, 1n],
    });
    const { token, treasury } = bench.chain.contracts;
    await bench.mine({ from: treasury, to: token, data });
    expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
    expect(await bench.tokens(bench.vault)).toBe(0n);
  });

  it('gives a surplus to the administrator alone', async () => {
    const bench = await anotherVault({ funds: 1_000n });
    const { token } = bench.chain.contracts;
    const take = (from: Address, to: Address, amount: bigint) =>
      bench.call(from, 'withdraw', token, to, amount);
    const target = aWallet(0x7a);
    for (const from of [STRANGER, CANCELLER, PAUSER]) {
      expect(await bench.refusal(take(from, target, 1n))).toBe(UNAUTHORISED);
    }
    expect(await bench.refusal(take(bench.admin, ZERO_ADDRESS, 1n))).toBe('ZeroAddress');
    const [outcome] = await bench.mine(take(bench.admin, target, 700n));
    expect(outcome?.events).toEqual([
      {
        eventName: 'Withdrawn',
        args: { asset: getAddress(token), to: getAddress(target), amount: 700n },
      },
    ]);
    expect(await bench.tokens(target)).toBe(700n);
    expect(await bench.tokens(bench.vault)).toBe(300n);
  });

  describe('with a token it was not made for', () => {
    const odd = compileFile(new URL('odd-tokens.sol', import.meta.url));

    async function withToken(name: string, args: readonly unknown[] = []) {
      const { abi, bytecode } = odd(name);
      const data = encodeDeployData({ abi, bytecode, args });
      const { rpc, contracts } = chain.chain;
      const from = contracts.treasury;
      const receipt = await mineOne(rpc, chain.seconds, { from, data });
      const token = receipt.contractAddress as Address;
      return { bench: await anotherVault({ token, funds: 10_000n }), token, abi };
    }

    it.each([
      ['a fee that the recipient pays', 'FeeToken', [false], 'InexactTransfer'],
      ['a fee that the sender pays', 'FeeToken', [true], 'InexactTransfer'],
      ['a refusal without a revert', 'RefusingToken', [], 'SafeERC20FailedOperation'],
    ])('pays nothing: %s', async (_case, name, args, error) => {
      const { bench, token } = await withToken(name, args);
      const voucher = bench.voucher({ amount: 1_000n });
      const before = await bench.tokens(bench.vault, token);
      expect(await bench.refusal(bench.claim(voucher))).toBe(error);
      expect(await bench.status(voucher)).toBe(0);
      expect(await bench.tokens(bench.vault, token)).toBe(before);
    });

    it('is not entered again in the middle of a payment', async () => {
      const { bench, token, abi } = await withToken('ReentrantToken');
      const [voucher, other] = [bench.voucher(), bench.voucher()];
      const { data: again } = await bench.claim(other);
      const prepare = encodeFunctionData({ abi, functionName: 'prepare', args: [again] });
      await bench.mine({ from: STRANGER, to: token, data: prepare });
      expect(await bench.refusal(bench.claim(voucher))).toBeUndefined();
      expect([await bench.status(voucher), await bench.status(other)]).toEqual([1, 0]);
      expect(await bench.tokens(RECIPIENT, token)).toBe(voucher.amount);
      const refusal = encodeFunctionData({ abi, functionName: 'refusal' });
      const call = { to: token, data: refusal };
      const answer = await chain.chain.rpc.call<string>('eth_call', call, 'latest');
      // Selector of ReentrancyGuardReentrantCall().
      expect(answer).toContain('3ee5aeb5');
    });
  });

  it('is not deployed without a token, a role’s holder, a window or a bound in time', async () => {
    const { token, treasury } = chain.chain.contracts;
    const signer = signerOf(chain);
    const roles = { admin: treasury, signer, canceller: CANCELLER, pauser: PAUSER };
    const limits = { windowSeconds: 60n, windowCap: 1n, maxTtlSeconds: 60n, adminDelaySeconds: 60 };
    const deploy = async (where: Address, changedRoles = {}, changedLimits = {}) => {
      const data = encodeDeployData({
        abi: redemptionVaultAbi,
        bytecode: redemptionVaultBytecode,
        args: [where, { ...roles, ...changedRoles }, { ...limits, ...changedLimits }] as never,
      });
      const [outcome] = await chain.mine({ from: treasury, data });
      return outcome?.error;
    };
    expect(await deploy(token)).toBeUndefined();
    expect(await deploy(STRANGER)).toBe('NotAContract');
    expect(await deploy(ZERO_ADDRESS)).toBe('NotAContract');
    expect(await deploy(token, {}, { windowSeconds: 0n })).toBe('ZeroWindow');
    expect(await deploy(token, {}, { maxTtlSeconds: 0n })).toBe('ZeroMaxTtl');
    expect(await deploy(token, {}, { adminDelaySeconds: 0 })).toBe('ZeroAdminDelay');
    expect(await deploy(token, { pauser: signer })).toBe('PauserIsSigner');
    for (const name of ['signer', 'canceller', 'pauser']) {
      expect(await deploy(token, { [name]: ZERO_ADDRESS })).toBe('ZeroAddress');
    }
    const noAdmin = await deploy(token, { admin: ZERO_ADDRESS });
    expect(noAdmin).toBe('AccessControlInvalidDefaultAdmin');
  });
});

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
  return (await bench.tokens(THIEF)) - before;
}

describe('one who has the keys of signer, canceller and pauser', () => {
  it('is paid windowCap in each window, twice that about the end of one, and not one unit more', async () => {
    const bench = await cappedVault(CAP, FUNDS);
    const edge = bench.seconds + HOUR;
    expect(await takeAll(bench, edge - 1)).toBe(CAP);
    expect(await takeAll(bench, edge)).toBe(CAP);
    for (const window of [1, 2, 3]) expect(await takeAll(bench, edge + window * HOUR)).toBe(CAP);
    expect(await bench.tokens(bench.vault)).toBe(FUNDS - 5n * CAP);
  });

  it('can lift the cap by no call, take no role, and not even end its own pause', async () => {
    const bench = await cappedVault(CAP, FUNDS);
    const { token } = bench.chain.contracts;
    await takeAll(bench);
    await bench.mine(bench.call(PAUSER, 'pause'));
    for (const from of [signerOf(chain), CANCELLER, PAUSER]) {
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
  });
});

describe('one who has the administrator’s key', () => {
  it('takes all that the vault holds at once: the delay is for the role alone, and nothing is paid to wallets any more', async () => {
    const bench = await cappedVault(CAP, FUNDS);
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
  });
});
