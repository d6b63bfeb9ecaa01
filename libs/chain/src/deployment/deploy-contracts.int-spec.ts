/** The deployment of a vault and of a registry, on a real chain and on chains that cannot run them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type DevChain, launchDevChain } from '#libs/devchain';
import { type Address, ZERO_ADDRESS } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { RpcPool } from '../rpc/rpc-pool.js';
import { isRegistryOf, readRegistryFacts } from '../registry/registry-facts.js';
import { deployRegistry, deployVault } from './deploy-contracts.js';
import { isVaultCode, readVaultFacts, type VaultQuestion } from '../vault/vault-facts.js';
import { accountOf } from '../accounts/private-key.js';
import { VoucherSigner } from '../vault/voucher.js';

const { SIGNER_KEY, OTHER_KEY, CANCELLER, PAUSER } = VaultBench;

/** Runs a script that deploys, and gives what it says. */
const run = (script: string, ...args: string[]) => {
  const path = fileURLToPath(new URL(`../../../../contracts/${script}.mjs`, import.meta.url));
  return promisify(execFile)(process.execPath, [path, ...args]);
};
/** What the script says when it refuses to deploy; it never shows the deployer's key. */
async function refusal(script: string, ...args: string[]): Promise<string> {
  const error = await run(script, ...args).catch((caught: unknown) => caught);
  const { stderr } = error as { stderr: string };
  expect(stderr).not.toContain(OTHER_KEY);
  return stderr;
}

let bench: VaultBench;
let question: VaultQuestion;
let pool: RpcPool;

beforeAll(async () => {
  // This account receives some of the chain's coin.
  const canceller = accountOf(OTHER_KEY).address.toLowerCase() as Address;
  bench = await VaultBench.start({ canceller });
  await bench.chain.rpc.call('evm_setAutomine', true);
  pool = new RpcPool({ urls: [bench.chain.url], clock: new FakeClock(0) });
  const signer = new VoucherSigner(bench.place, SIGNER_KEY).address;
  question = { place: bench.place, token: bench.chain.contracts.token, signer };
});
afterAll(() => bench.stop());

function deployment(changes = {}) {
  return {
    rpcUrl: bench.chain.url,
    chainId: bench.chain.chainId,
    token: question.token,
    admin: aWallet(0xad),
    signer: question.signer,
    canceller: CANCELLER,
    pauser: PAUSER,
    windowSeconds: 3_600n,
    windowCap: 50n,
    maxTtlSeconds: 1_800n,
    adminDelaySeconds: 86_400,
    ...changes,
  };
}

const PUBLISHER = aWallet(0xbb);
const CONTRACTS = [aWallet(1), aWallet(2)];

function aRegistry(changes = {}) {
  return {
    rpcUrl: bench.chain.url,
    chainId: bench.chain.chainId,
    admin: aWallet(0xad),
    publisher: PUBLISHER,
    adminDelaySeconds: 86_400,
    stakeContracts: CONTRACTS,
    stakeChainId: 8453,
    ...changes,
  };
}

function failure(changes = {}): Promise<unknown> {
  return deployVault(deployment(changes), OTHER_KEY).catch((error: unknown) => error);
}

describe('a vault is deployed', () => {
  it('with the roles as given and none for the deployer', async () => {
    const { vault, deployer } = await deployVault(deployment(), OTHER_KEY);
    const place = { ...bench.place, vault };
    const facts = await readVaultFacts(pool, { ...question, place, canceller: CANCELLER });
    expect(facts).toMatchObject({
      isSigner: true,
      isCanceller: true,
      windowCap: 50n,
      maxTtlSeconds: 1_800n,
    });
    const as = { ...question, place, signer: deployer, canceller: deployer };
    expect(await readVaultFacts(pool, as)).toMatchObject({ isSigner: false, isCanceller: false });
  });

  it.each([
    ['another chain', { chainId: 5 }, 'RPC_CHAIN_MISMATCH'],
    ['an admin that is nobody', { admin: ZERO_ADDRESS }, 'ROLE_UNHELD'],
    ['a pauser that is a precompile', { pauser: `0x${'1'.padStart(40, '0')}` }, 'ROLE_UNHELD'],
    ['a token that is none', { token: aWallet(0xfeed) }, 'VAULT_DEPLOYMENT_FAILED'],
    [
      'a node that is not there',
      { rpcUrl: 'http://127.0.0.1:9/s3cr3t' },
      'VAULT_DEPLOYMENT_FAILED',
    ],
  ])('not with %s, and without a secret in the error', async (_case, changes, code) => {
    const error = await failure(changes);
    expect(error).toMatchObject({ code });
    expect(String(error)).not.toMatch(/s3cr3t|2222222222/);
  });
});

describe('by the command, from files, is deployed', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lowmark-deployment-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('a vault', async () => {
    const [settings, key] = [join(directory, 'vault.json'), join(directory, 'deployer.key')];
    const given = { ...deployment(), windowSeconds: 3_600, windowCap: '50' };
    // Settings that are not given have a default.
    const text = { ...given, maxTtlSeconds: undefined, adminDelaySeconds: undefined };
    await writeFile(settings, JSON.stringify(text));
    await writeFile(key, `${OTHER_KEY}\n`, { mode: 0o600 });
    const { stdout } = await run('deploy-vault', '--settings', settings, '--key-file', key);
    const { vault } = JSON.parse(stdout) as { vault: Address };
    const place = { ...bench.place, vault };
    expect(await readVaultFacts(pool, { ...question, place })).toMatchObject({
      isSigner: true,
      maxTtlSeconds: 3_600n,
    });

    expect(await refusal('deploy-vault', '--settings', settings)).toContain('usage:');
    await chmod(key, 0o644);
    expect(await refusal('deploy-vault', '--settings', settings, '--key-file', key)).toContain(
      'chmod 600',
    );
    await chmod(key, 0o600);
    await writeFile(settings, JSON.stringify({ ...text, pauser: 'me', windowCap: 50 }));
    const faults = await refusal('deploy-vault', '--settings', settings, '--key-file', key);
    expect(faults).toMatch(/pauser: .*\n.*windowCap: /);
    const wrong = { ...text, pauser: text.signer, maxTtlSeconds: 0, adminDelaySeconds: 0.5 };
    await writeFile(settings, JSON.stringify(wrong));
    const more = await refusal('deploy-vault', '--settings', settings, '--key-file', key);
    expect(more).toMatch(/maxTtlSeconds: .*\n.*adminDelaySeconds: .*\n.*pauser: must be another/);
  });

  it('a registry', async () => {
    const [settings, key] = [join(directory, 'registry.json'), join(directory, 'registry.key')];
    await writeFile(key, `${OTHER_KEY}\n`, { mode: 0o600 });
    // Settings that are not given have a default.
    const given = { ...aRegistry(), adminDelaySeconds: undefined, stakeChainId: undefined };
    await writeFile(settings, JSON.stringify(given));
    const { stdout } = await run('deploy-registry', '--settings', settings, '--key-file', key);
    const { registry, set, stakedIn } = JSON.parse(stdout) as Record<string, string>;
    expect(set).toBe(`REGISTRY_ADDRESS=${registry ?? ''}`);
    expect(stakedIn).toContain(`eip155:${bench.chain.chainId}:${aWallet(1)},`);
    const asked = { registry: registry as Address, publisher: PUBLISHER };
    expect(await readRegistryFacts(pool, asked)).toMatchObject({ mayPublish: true });
    const wrong = { ...given, publisher: given.admin, stakeContracts: [aWallet(1), 'x'] };
    await writeFile(settings, JSON.stringify(wrong));
    const faults = await refusal('deploy-registry', '--settings', settings, '--key-file', key);
    expect(faults).toMatch(/stakeContracts: expected .*\npublisher: must be another/);
  });
});

describe('no vault', () => {
  let node: FaultyNode;
  afterEach(() => node.close());

  async function through(...fault: Fault[]): Promise<unknown> {
    node = await startFaultyNode({ upstream: bench.chain.url, fault });
    return failure({ rpcUrl: node.url });
  }

  it('is sent to a ZK Stack chain without the EVM emulator', async () => {
    const error = await through({ kind: 'no-deployless-calls' });
    expect(error).toMatchObject({ code: 'VAULT_CHAIN_UNSUITABLE', retryable: false });
    expect(String(error)).toMatch(/takes no EVM bytecode.*zksolc.*chains\.md/);
    expect(node.count('eth_sendRawTransaction')).toBe(0);
  });

  it('is refused because calls are, where deployments are taken', async () => {
    const refused = { kind: 'error', method: 'eth_call', code: -32602, message: 'no' } as const;
    expect(await through(refused)).toMatchObject({ blockNumber: expect.any(BigInt) });
  });

  it('is sent by way of a node that cannot say what the chain knows', async () => {
    const when: Fault['when'] = (calls) => JSON.stringify(calls).includes('"0x5f00"');
    const busy = { kind: 'error', method: 'eth_call', code: 429, message: 'rate limit' } as const;
    const error = await through({ ...busy, when });
    expect(error).toMatchObject({ code: 'VAULT_DEPLOYMENT_FAILED', retryable: true });
    expect(node.count('eth_sendRawTransaction')).toBe(0);
  });

  it.each([
    ['nothing', '0x'],
    ['other code', '0x60806040'],
  ])('is accepted where the node shows %s at its address', async (_case, result) => {
    const error = await through({ kind: 'result', method: 'eth_getCode', result });
    expect(error).toMatchObject({ code: 'VAULT_CODE_DIFFERS', retryable: false });
    expect(String(error)).toMatch(/code at 0x[0-9a-f]{40} .*transaction 0x[0-9a-f]{64}/);
  });
});

describe('a registry is deployed', () => {
  it('for the contracts and with the publisher as given, and no role for the deployer', async () => {
    const { registry, deployer } = await deployRegistry(aRegistry(), OTHER_KEY);
    const facts = await readRegistryFacts(pool, { registry, publisher: PUBLISHER });
    expect(facts).toMatchObject({ hasCode: true, isRegistry: true, mayPublish: true });
    expect(isRegistryOf(facts.stakedIn ?? '', 8453, CONTRACTS.toReversed())).toBe(true);
    expect(isRegistryOf(facts.stakedIn ?? '', 1, CONTRACTS)).toBe(false);
    expect(isRegistryOf(facts.stakedIn ?? '', 8453, CONTRACTS.slice(1))).toBe(false);
    const asDeployer = await readRegistryFacts(pool, { registry, publisher: deployer });
    expect(asDeployer.mayPublish).toBe(false);
  });
});

describe('nothing is sent to a chain of before Cancun', () => {
  it.each([
    ['london', 'PUSH0 (Shanghai)'],
    ['shanghai', 'MCOPY (Cancun)'],
  ] as const)('%s lacks %s', async (hardfork, opcode) => {
    const old: DevChain = await launchDevChain({ hardfork });
    try {
      const error = await failure({ rpcUrl: old.url, chainId: old.chainId });
      expect(error).toMatchObject({ code: 'VAULT_CHAIN_UNSUITABLE', retryable: false });
      expect(String(error)).toContain(`does not know the opcode ${opcode}`);
      const place = { rpcUrl: old.url, chainId: old.chainId };
      await expect(deployRegistry(aRegistry(place), OTHER_KEY)).rejects.toMatchObject({
        code: 'REGISTRY_CHAIN_UNSUITABLE',
        message: expect.stringContaining('which the registry uses. Nothing was sent'),
      });
      expect(await old.rpc.call('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' });
    } finally {
      await old.stop();
    }
  });
});

describe('the code of a vault', () => {
  it('is the compiled one with its own immutables, and no byte of another', async () => {
    const code = await bench.chain.rpc.call<string>('eth_getCode', bench.vault, 'latest');
    expect(isVaultCode(code)).toBe(true);
    expect(isVaultCode(code.toUpperCase().replace('0X', '0x'))).toBe(true);
    for (const other of ['0x', code.slice(0, -2), `${code}00`, code.replace('6080', '6081')]) {
      expect(isVaultCode(other)).toBe(false);
    }
    const token = await bench.chain.rpc.call<string>('eth_getCode', question.token, 'latest');
    expect(isVaultCode(token)).toBe(false);
  });
});
