import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addressOfKey } from '#libs/chain';
import { PublicationStore } from '#libs/db';
import { type NodeHash } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { TestRegistry } from '#libs/testing/registry';
import { VaultBench } from '#libs/testing/vault';
import { DoctorBench } from './testing/doctor-bench.support.js';

const KEY = '44'.repeat(32);
let bench: DoctorBench;
let registry: TestRegistry;
beforeAll(async () => {
  bench = await DoctorBench.start();
  const seconds = bench.vault.seconds + 12;
  registry = await TestRegistry.deploy(bench.vault.chain, addressOfKey(KEY), { seconds });
});
afterAll(() => bench.stop());

const settings = (changes: Record<string, string> = {}) => ({
  REGISTRY_ADDRESS: registry.address,
  REGISTRY_PRIVATE_KEY: KEY,
  ...changes,
});

describe('doctor of a registry', () => {
  it('finds all well, and says nothing where none is set', async () => {
    const { out } = await bench.run(settings());
    expect(out).toMatch(/ok +registry +0x[0-9a-f]{40} is a SnapshotRegistry/);
    expect(out).toMatch(/ok +registry: contracts +it is of the indexed contracts/);
    expect(out).toMatch(/ok +registry: publisher +0x[0-9a-f]{40} holds PUBLISHER_ROLE/);
    expect(out).toMatch(/ok +registry: publisher's coin +0x[0-9a-f]{40} can pay/);
    expect((await bench.run()).out).not.toContain('registry');
  });

  it('finds other roots than ours', async () => {
    const place = { chainId: bench.vault.chain.chainId, registry: registry.address };
    const database = await bench.test.open();
    const store = new PublicationStore(database, place);
    const root = `0x${'7'.repeat(64)}` as NodeHash;
    const day = 20_000;
    expect((await bench.finding('registry: roots', settings())).state).toBe('ok');
    await store.add({ day, revision: 1, root }, 'default', 1);
    await store.final(day, 2);
    expect((await bench.finding('registry: roots', settings())).state).toBe('ok');
    await database.query({
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software)
        VALUES (20000, 1, decode(repeat('66', 32), 'hex'), 1, 1, 1, decode(repeat('11', 32), 'hex'), 'test')`,
    });
    expect(await bench.finding('registry: roots', settings())).toMatchObject({
      ...{ state: 'fault', code: 1 },
      found: expect.stringMatching(/days of 1 publications were sealed again/),
      mend: expect.stringContaining('registry status'),
    });
  });

  it.each([
    ['an address without code', { REGISTRY_ADDRESS: aWallet(9) }, 'registry', /no contract at/],
    [
      'a key without the role',
      { REGISTRY_PRIVATE_KEY: '55'.repeat(32) },
      'registry: publisher',
      /does not hold PUBLISHER_ROLE/,
    ],
    [
      'a key of the vault',
      { REGISTRY_PRIVATE_KEY: VaultBench.SIGNER_KEY },
      "registry: publisher's key",
      /the key of VOUCHER_SIGNER_KEY/,
    ],
  ])('finds %s', async (_, changes, what, found) => {
    expect(await bench.finding(what, settings(changes))).toMatchObject({
      ...{ state: 'fault', code: 1 },
      found: expect.stringMatching(found),
      mend: expect.any(String),
    });
  });

  it('finds another contract there, and a registry of other contracts', async () => {
    const { token } = bench.vault.chain.contracts;
    const other = await bench.finding('registry', settings({ REGISTRY_ADDRESS: token }));
    expect(other).toMatchObject({ state: 'fault', found: `${token} is not a SnapshotRegistry` });
    const of = { seconds: bench.vault.seconds + 24, stakedIn: 'eip155:1:0x01' };
    const wrong = await TestRegistry.deploy(bench.vault.chain, registry.publisher, of);
    const changes = settings({ REGISTRY_ADDRESS: wrong.address });
    expect(await bench.finding('registry: contracts', changes)).toMatchObject({
      state: 'fault',
      found: expect.stringMatching(/is of eip155:1:0x01, and the index of eip155:/),
    });
  });

  it('warns of a publisher that soon cannot pay', async () => {
    // Coin for ten publications at 1 gwei, the gas price of the local chain.
    const coin = `0x${(10n * 80_000n * 10n ** 9n).toString(16)}`;
    await bench.vault.chain.rpc.call('anvil_setBalance', registry.publisher, coin);
    expect(await bench.finding("registry: publisher's coin", settings())).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/has coin for about 10 publications/),
    });
  });
});
