/** The deployment of a registry, by the function and by the command. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type DevChain, launchDevChain } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { RpcPool } from '../rpc/rpc-pool.js';
import { addressOfKey } from '../accounts/private-key.js';
import { deployRegistry } from './deploy-contracts.js';
import { isRegistryOf, readRegistryFacts } from '../registry/registry-facts.js';

const SCRIPT = fileURLToPath(new URL('../../../../contracts/deploy-registry.mjs', import.meta.url));
const KEY = '66'.repeat(32);
const PUBLISHER = aWallet(0xbb);
const CONTRACTS = [aWallet(1), aWallet(2)];

let chain: DevChain;
let pool: RpcPool;
beforeAll(async () => {
  chain = await launchDevChain();
  await chain.rpc.call('anvil_setBalance', addressOfKey(KEY), '0x21e19e0c9bab2400000');
  await chain.rpc.call('evm_setAutomine', true);
  pool = new RpcPool({ urls: [chain.url], clock: new FakeClock(0) });
});
afterAll(() => chain.stop());

const deployment = (changes = {}) => ({
  ...{ rpcUrl: chain.url, chainId: chain.chainId, admin: aWallet(0xad), publisher: PUBLISHER },
  ...{ adminDelaySeconds: 86_400, stakeContracts: CONTRACTS, stakeChainId: 8453 },
  ...changes,
});

describe('a registry is deployed', () => {
  it('for the contracts and with the publisher as given, and no role for the deployer', async () => {
    const { registry, deployer } = await deployRegistry(deployment(), KEY);
    const facts = await readRegistryFacts(pool, { registry, publisher: PUBLISHER });
    expect(facts).toMatchObject({ hasCode: true, isRegistry: true, mayPublish: true });
    expect(isRegistryOf(facts.stakedIn ?? '', 8453, CONTRACTS.toReversed())).toBe(true);
    expect(isRegistryOf(facts.stakedIn ?? '', 1, CONTRACTS)).toBe(false);
    expect(isRegistryOf(facts.stakedIn ?? '', 8453, CONTRACTS.slice(1))).toBe(false);
    const asDeployer = await readRegistryFacts(pool, { registry, publisher: deployer });
    expect(asDeployer.mayPublish).toBe(false);
  });

  it('not on another chain, nor on one that cannot run it', async () => {
    await expect(deployRegistry(deployment({ chainId: 5 }), KEY)).rejects.toMatchObject({
      code: 'RPC_CHAIN_MISMATCH',
    });
    const old = await launchDevChain({ hardfork: 'london' });
    try {
      const place = { rpcUrl: old.url, chainId: old.chainId };
      await expect(deployRegistry(deployment(place), KEY)).rejects.toMatchObject({
        code: 'REGISTRY_CHAIN_UNSUITABLE',
        message: expect.stringContaining('which the registry uses. Nothing was sent'),
      });
    } finally {
      await old.stop();
    }
  });

  it('by the command, from files, which tells every fault at once and no key', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'lowmark-registry-'));
    const [settings, key] = [join(directory, 'registry.json'), join(directory, 'deployer.key')];
    const run = () =>
      promisify(execFile)(process.execPath, [SCRIPT, '--settings', settings, '--key-file', key]);
    const refusal = async (): Promise<string> => {
      const { stderr } = (await run().catch((error: unknown) => error)) as { stderr: string };
      expect(stderr).not.toContain(KEY);
      return stderr;
    };
    try {
      await writeFile(key, `${KEY}\n`, { mode: 0o600 });
      // Settings that are not given have a default.
      const given = { ...deployment(), adminDelaySeconds: undefined, stakeChainId: undefined };
      await writeFile(settings, JSON.stringify(given));
      const { stdout } = await run();
      const { registry, set, stakedIn } = JSON.parse(stdout) as Record<string, string>;
      expect(set).toBe(`REGISTRY_ADDRESS=${registry ?? ''}`);
      expect(stakedIn).toContain(`eip155:${chain.chainId}:${aWallet(1)},`);
      const question = { registry: registry as Address, publisher: PUBLISHER };
      expect(await readRegistryFacts(pool, question)).toMatchObject({ mayPublish: true });
      const wrong = { ...given, publisher: given.admin, stakeContracts: [aWallet(1), 'x'] };
      await writeFile(settings, JSON.stringify(wrong));
      expect(await refusal()).toMatch(/stakeContracts: expected .*\npublisher: must be another/);
      await chmod(key, 0o644);
      expect(await refusal()).toContain('stakeContracts');
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
