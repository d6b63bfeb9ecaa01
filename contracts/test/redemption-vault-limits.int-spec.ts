/** Tests the external limits of the vault: caps, pauses, its balance, roles, and tokens for which it was not made. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeDeployData, encodeFunctionData, getAddress } from 'viem';
import {
  lowmarkTokenAbi,
  redemptionVaultAbi,
  redemptionVaultBytecode,
  VoucherSigner,
} from '#libs/chain';
import { mineOne } from '#libs/devchain';
import { type Address, ZERO_ADDRESS } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { compileTestContracts } from './compile-test-contracts.js';

const { CANCELLER, PAUSER, RECIPIENT, SIGNER_KEY, STRANGER } = VaultBench;
const UNAUTHORISED = 'AccessControlUnauthorizedAccount';
const HOUR = 3_600;

describe('RedemptionVault', () => {
  let chain: VaultBench;
  beforeAll(async () => {
    chain = await VaultBench.start();
  });
  afterAll(() => chain.stop());

  describe('the cap', () => {
    const capped = async (windowCap: bigint) => {
      chain.seconds = (Math.floor(chain.seconds / HOUR) + 1) * HOUR;
      return chain.another({ windowCap, windowSeconds: BigInt(HOUR) });
    };
    const claim = (bench: VaultBench, amount: bigint) => bench.claim(bench.voucher({ amount }));

    it('is reached exactly and not passed by one', async () => {
      const bench = await capped(1_000n);
      expect(await bench.refusal(claim(bench, 1_001n))).toBe('WindowCapExceeded');
      expect(await bench.refusal(claim(bench, 400n))).toBeUndefined();
      expect(await bench.view('remainingInWindow')).toBe(600n);
      const [over] = await bench.mine(await claim(bench, 601n));
      expect(over).toMatchObject({ error: 'WindowCapExceeded', errorArgs: [600n, 601n] });
      expect(await bench.refusal(claim(bench, 600n))).toBeUndefined();
      expect(await bench.refusal(claim(bench, 1n))).toBe('WindowCapExceeded');
      expect(await bench.view('remainingInWindow')).toBe(0n);
      chain.seconds = bench.seconds;
    });

    it('begins again with the first second of a window, and leaves a refused voucher good', async () => {
      const bench = await capped(1_000n);
      const edge = bench.seconds + HOUR;
      const voucher = bench.voucher({ amount: 1n, deadlineSeconds: edge + HOUR });
      await bench.mine(await claim(bench, 1_000n));
      const [before] = await bench.mineAt(edge - 1, await bench.claim(voucher));
      expect(before?.error).toBe('WindowCapExceeded');
      const [after] = await bench.mineAt(edge, await bench.claim(voucher));
      expect(after?.error).toBeUndefined();
      expect(await bench.view('remainingInWindow')).toBe(999n);
      chain.seconds = bench.seconds;
    });

    it('may be changed by the administrator, for the running window too', async () => {
      const bench = await capped(1_000n);
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
      chain.seconds = bench.seconds;
    });

    it('is not overflown by the largest amount there is', async () => {
      const bench = await capped((1n << 256n) - 1n);
      await bench.mine(await claim(bench, 5n));
      expect(await bench.refusal(claim(bench, (1n << 256n) - 1n))).toBe('WindowCapExceeded');
      chain.seconds = bench.seconds;
    });
  });

  it('pays nothing while paused, touches no status, and lets cancel', async () => {
    const bench = await chain.another({});
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
    chain.seconds = bench.seconds;
  });

  it('refuses what it cannot pay in full, and pays it once it can', async () => {
    const bench = await chain.another({ funds: 99n });
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
    chain.seconds = bench.seconds;
  });

  it('gives a surplus to the administrator alone', async () => {
    const bench = await chain.another({ funds: 1_000n });
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
    chain.seconds = bench.seconds;
  });

  describe('with a token it was not made for', () => {
    const odd = compileTestContracts('odd-tokens.sol');

    async function withToken(name: string, args: readonly unknown[] = []) {
      const { abi, bytecode } = odd(name);
      const data = encodeDeployData({ abi, bytecode, args });
      const { rpc, contracts } = chain.chain;
      const from = contracts.treasury;
      const receipt = await mineOne(rpc, chain.seconds, { from, data });
      const token = receipt.contractAddress as Address;
      return { bench: await chain.another({ token, funds: 10_000n }), token, abi };
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
      chain.seconds = bench.seconds;
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
      chain.seconds = bench.seconds;
    });
  });

  it('is not deployed without a token, a role’s holder, a window or a bound in time', async () => {
    const { token, treasury } = chain.chain.contracts;
    const signer = new VoucherSigner(chain.place, SIGNER_KEY).address;
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
