/** The facts that a service reads about the vault before it starts, on a real chain. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { VaultBench } from '#libs/testing/vault';
import { RpcPool } from '../rpc/rpc-pool.js';
import { readVaultFacts, vaultFaults, type VaultQuestion } from './vault-facts.js';
import { accountOf } from '../accounts/private-key.js';
import { VoucherSigner } from './voucher.js';

const { SIGNER_KEY, OTHER_KEY, PAUSER } = VaultBench;

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
      maxTtlSeconds: 1_800n,
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
      hasOurVoucherDomain: true,
      token: question.token,
      admin: bench.admin,
      isSigner: true,
      isCanceller: true,
      isPauser: false,
      isPaused: false,
      maxTtlSeconds: 1_800n,
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
      /^VAULT_CONTRACT: .* pays token .*, not 0x(?:a11ce)+0+feed/,
    ],
    [
      'a shorter time than vouchers are to live',
      { voucherTtlSeconds: 1_801 },
      /^VOUCHER_TTL_SECONDS: 1801 is longer than 1800, the maxTtlSeconds of 0x/,
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
});
