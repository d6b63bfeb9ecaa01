import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { KnownVaults } from '../index.js';
import { CHAIN, ReconciliationBench } from './reconciliation.support.js';
import { PLACE } from './testing/builders.js';

const OTHER = `0x${'7b'.repeat(20)}` as Address;

let bench: ReconciliationBench;
beforeAll(async () => {
  bench = await ReconciliationBench.start();
});
afterAll(() => bench.stop());

it('are those that were read and those that were planned on, each from its oldest block', async () => {
  const vaults = new KnownVaults(bench.database);
  expect(await vaults.of(CHAIN)).toEqual([]);
  await bench.authorised();
  expect(await vaults.of(CHAIN)).toEqual([{ vault: PLACE.vault, startBlock: PLACE.fromBlock }]);
  await bench.store.begin(PLACE, 5n);
  await vaults.add(CHAIN, { vault: OTHER, startBlock: 40n });
  await vaults.add(CHAIN, { vault: OTHER, startBlock: 1n });
  await bench.store.begin({ chainId: CHAIN + 1, vault: OTHER }, 1n);
  expect(await vaults.of(CHAIN)).toEqual([
    { vault: PLACE.vault, startBlock: 5n },
    { vault: OTHER, startBlock: 40n },
  ]);
});
