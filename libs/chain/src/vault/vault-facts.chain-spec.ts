/** The vault before a service starts, its cancellations, and its deployment, on a real chain. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Address } from '#libs/domain';
import { aWallet, FakeClock, VaultBench } from '#libs/testing';
import { RpcPool } from '../rpc/rpc-pool.js';
import { deployVault } from './deploy-vault.js';
import { VaultCanceller } from './vault-canceller.js';
import { readVaultFacts, vaultFaults, type VaultQuestion } from './vault-facts.js';
import { accountOf, VoucherSigner } from './voucher-signer.js';

const { SIGNER_KEY, OTHER_KEY, CANCELLER, PAUSER } = VaultBench;
const SCRIPT = fileURLToPath(new URL('../../../../contracts/deploy-vault.mjs', import.meta.url));

describe('a vault', () => {
  let bench: VaultBench;
  let pool: RpcPool;
  let question: VaultQuestion;

  beforeAll(async () => {
    const canceller = accountOf(OTHER_KEY).address.toLowerCase() as Address;
    bench = await VaultBench.start({
      canceller,
      funds: 5_000n,
      windowCap: 1_000n,
      windowSeconds: 3_600n,
    });
    pool = new RpcPool({ urls: [bench.chain.url], clock: new FakeClock(0) });
    const { token } = bench.chain.contracts;
    const signer = new VoucherSigner(bench.place, SIGNER_KEY).address;
    question = { place: bench.place, token, signer, canceller };
  });
  afterAll(() => bench.stop());

  it('tells what a service must know before it starts', async () => {
    await bench.mine(await bench.claim(bench.voucher({ amount: 300n })));
    const facts = await readVaultFacts(pool, question);
    expect(facts).toEqual({
      hasCode: true,
      takesOurVouchers: true,
      token: question.token,
      isSigner: true,
      isCanceller: true,
      isPaused: false,
      balance: 4_700n,
      windowCap: 1_000n,
      remainingInWindow: 700n,
      windowSeconds: 3_600n,
    });
    expect(vaultFaults(facts, question)).toEqual([]);
  });

  it.each<[string, Partial<VaultQuestion>, RegExp]>([
    [
      'another signer',
      { signer: aWallet(0xfeed) },
      /^VOUCHER_SIGNER_KEY: .* does not hold SIGNER_ROLE/,
    ],
    [
      'another token',
      { token: aWallet(0xfeed) },
      /^VAULT_CONTRACT: .* pays token .*, not 0x0+feed/,
    ],
  ])('says that it is of %s', async (_case, changes, text) => {
    const asked = { ...question, ...changes };
    const facts = await readVaultFacts(pool, asked);
    expect(vaultFaults(facts, asked)).toEqual([expect.stringMatching(text)]);
  });

  it('is told from wallets, other contracts and vaults of other chains', async () => {
    const { chainId, vault } = bench.place;
    const cases: [VaultQuestion['place'], RegExp][] = [
      [{ chainId, vault: aWallet(0xfeed) }, /there is no contract/],
      [{ chainId, vault: bench.chain.contracts.staking }, /is not a redemption vault/],
      [{ chainId, vault: bench.chain.contracts.token }, /is not a redemption vault/],
      [{ chainId: chainId + 1, vault }, /is not a redemption vault/],
    ];
    for (const [place, text] of cases) {
      const asked = { ...question, place };
      const faults = vaultFaults(await readVaultFacts(pool, asked), asked);
      expect(faults).toEqual([expect.stringMatching(text)]);
    }
  });

  it('takes a pause for no fault', async () => {
    await bench.mine(bench.call(PAUSER, 'pause'));
    const facts = await readVaultFacts(pool, question);
    expect([facts.isPaused, vaultFaults(facts, question)]).toEqual([true, []]);
    await bench.mine(bench.call(bench.admin, 'unpause'));
  });

  it('cancels for who holds the role, and refuses what is over', async () => {
    const voucher = bench.voucher();
    const canceller = new VaultCanceller(pool, bench.place, OTHER_KEY);
    const hash = await canceller.cancel(voucher.vaultId);
    await bench.mine();
    expect(await bench.chain.rpc.call('eth_getTransactionReceipt', hash)).toMatchObject({
      status: '0x1',
    });
    expect(await bench.status(voucher)).toBe(2);
    const refused = { code: 'RPC_EXECUTION_REVERTED' };
    await expect(canceller.cancel(voucher.vaultId)).rejects.toMatchObject(refused);
    const stranger = new VaultCanceller(pool, bench.place, SIGNER_KEY);
    await expect(stranger.cancel(bench.voucher().vaultId)).rejects.toMatchObject(refused);
  });

  describe('is deployed', () => {
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'lowmark-vault-'));
      await bench.chain.rpc.call('evm_setAutomine', true);
    });
    afterAll(() => rm(directory, { recursive: true }));

    const deployment = (changes = {}) => ({
      rpcUrl: bench.chain.url,
      chainId: bench.chain.chainId,
      token: question.token,
      admin: aWallet(0xad),
      signer: question.signer,
      canceller: CANCELLER,
      pauser: PAUSER,
      windowSeconds: 3_600n,
      windowCap: 50n,
      ...changes,
    });

    it('by a function, with the roles as given and none for the deployer', async () => {
      const { vault, deployer } = await deployVault(deployment(), OTHER_KEY);
      const place = { ...bench.place, vault };
      const facts = await readVaultFacts(pool, { ...question, place, canceller: CANCELLER });
      expect(facts).toMatchObject({ isSigner: true, isCanceller: true, windowCap: 50n });
      const as = { ...question, place, signer: deployer, canceller: deployer };
      expect(await readVaultFacts(pool, as)).toMatchObject({ isSigner: false, isCanceller: false });
    });

    it.each([
      ['another chain', { chainId: 5 }, 'RPC_CHAIN_MISMATCH'],
      ['a token that is none', { token: aWallet(0xfeed) }, 'VAULT_DEPLOYMENT_FAILED'],
      [
        'a node that is not there',
        { rpcUrl: 'http://127.0.0.1:9/s3cr3t' },
        'VAULT_DEPLOYMENT_FAILED',
      ],
    ])('not with %s, and without a secret in the error', async (_case, changes, code) => {
      const error: unknown = await deployVault(deployment(changes), OTHER_KEY).catch(
        (caught: unknown) => caught,
      );
      expect(error).toMatchObject({ code });
      expect(String(error)).not.toMatch(/s3cr3t|2222222222/);
    });

    it('by the command, from files', async () => {
      const [settings, key] = [join(directory, 'vault.json'), join(directory, 'deployer.key')];
      const text = { ...deployment(), windowSeconds: 3_600, windowCap: '50' };
      await writeFile(settings, JSON.stringify(text));
      await writeFile(key, `${OTHER_KEY}\n`, { mode: 0o600 });
      const run = (...args: string[]) => promisify(execFile)(process.execPath, [SCRIPT, ...args]);
      const { stdout } = await run('--settings', settings, '--key-file', key);
      const { vault } = JSON.parse(stdout) as { vault: Address };
      const place = { ...bench.place, vault };
      expect(await readVaultFacts(pool, { ...question, place })).toMatchObject({ isSigner: true });

      const refusal = async (...args: string[]) => {
        const error = (await run(...args).catch((caught: unknown) => caught)) as { stderr: string };
        expect(error.stderr).not.toContain(OTHER_KEY);
        return error.stderr;
      };
      expect(await refusal('--settings', settings)).toContain('usage:');
      await chmod(key, 0o644);
      expect(await refusal('--settings', settings, '--key-file', key)).toContain('chmod 600');
      await chmod(key, 0o600);
      await writeFile(settings, JSON.stringify({ ...text, pauser: 'me', windowCap: 50 }));
      const faults = await refusal('--settings', settings, '--key-file', key);
      expect(faults).toMatch(/pauser: .*\n.*windowCap: /);
    });
  });
});
