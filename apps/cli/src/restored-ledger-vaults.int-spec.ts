/** The vaults that an operator names for a restored ledger. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { KnownVaults } from '#libs/db';
import { VaultBench } from '#libs/testing';
import { CliBench } from './testing/cli-bench.support.js';

let bench: CliBench;
let vault: VaultBench;
beforeAll(async () => {
  [bench, vault] = await Promise.all([CliBench.start(), VaultBench.start()]);
});
afterAll(() => Promise.all([bench.drop(), vault.stop()]));

function note(...vaults: string[]) {
  const { chain } = vault;
  const settings = {
    CHAIN_ID: String(chain.chainId),
    RPC_URLS: chain.url,
    TOKEN_CONTRACT: chain.contracts.token,
  };
  const options = ['--lost-since', '2026-03-01T02:00:00Z', '--voucher-ttl', '1800', '--yes'];
  const named = vaults.flatMap((one) => ['--vault', one]);
  return bench.runWith({ settings }, 'ledger', 'restored', ...options, ...named);
}

async function known() {
  return new KnownVaults(bench.database).of(vault.chain.chainId);
}

it('are refused where no vault answers', async () => {
  const { code, err } = await note(vault.vault, vault.chain.contracts.token);
  expect([code, err]).toEqual([1, expect.stringContaining('is not a redemption vault')]);
  expect(await known()).toEqual([]);
});

it('are known from then on, and in the audit', async () => {
  const other = await vault.another({});
  const ran = await note(`${vault.vault}:7`, other.vault.toUpperCase().replace('0X', '0x'));
  expect(ran).toMatchObject({ code: 0, err: '' });
  const expected = [
    { vault: vault.vault, startBlock: 7n },
    { vault: other.vault, startBlock: 0n },
  ].sort((a, b) => (a.vault < b.vault ? -1 : 1));
  expect(await known()).toEqual(expected);
  expect((await bench.audit())[0]).toMatchObject({
    command: 'ledger restored',
    arguments: { vaults: [vault.vault, other.vault] },
  });
});
