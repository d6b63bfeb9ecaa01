/** The evidence about payouts on a real chain, including reorganisations, and the facts that a service reads before it starts. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import { RpcPool } from '../rpc/rpc-pool.js';
import { redemptionIdOf } from './vault-event.js';
import { VaultReader, type VaultReaderOptions, type WatchedPayout } from './vault-reader.js';
import { type Voucher, VoucherSigner } from './voucher.js';
import { readVaultFacts, vaultFaults, type VaultQuestion } from './vault-facts.js';
import { accountOf } from '../accounts/private-key.js';

const { PAUSER, RECIPIENT, STRANGER, SIGNER_KEY, OTHER_KEY } = VaultBench;

describe('VaultReader', () => {
  let bench: VaultBench;
  let reader: VaultReader;
  let node: FaultyNode;
  let fromBlock: bigint;

  beforeAll(async () => {
    bench = await VaultBench.start();
    await bench.finalise();
    node = await startFaultyNode({ upstream: bench.chain.url });
    reader = aReader();
    fromBlock = (await reader.finalised()).number;
  });
  afterAll(async () => {
    await node.close();
    await bench.stop();
  });

  /** Our clock follows the chain's. */
  const chainTime = { nowMs: () => bench.seconds * 1000 };

  function aReader(options: Partial<VaultReaderOptions> = {}): VaultReader {
    const pool = new RpcPool({
      urls: [node.url],
      clock: new FakeClock(0),
      sleep: () => Promise.resolve(),
    });
    const { vault } = bench;
    const { token } = bench.chain.contracts;
    return new VaultReader(pool, { vault, token, clock: chainTime, ...options });
  }

  function watched(voucher: Voucher, changes: Partial<WatchedPayout> = {}): WatchedPayout {
    const { vaultId, recipient, amount, deadlineSeconds } = voucher;
    const redemptionId = redemptionIdOf(vaultId) ?? '';
    return { redemptionId, recipient, amount, deadlineSeconds, fromBlock, ...changes };
  }

  async function observed(voucher: Voucher, changes: Partial<WatchedPayout> = {}) {
    const [evidence] = await reader.observe([watched(voucher, changes)]);
    return evidence;
  }

  describe('finds a payout', () => {
    it('live until its claim is final, then paid, with all there is to know of it', async () => {
      const voucher = bench.voucher({ amount: 777n });
      expect(await observed(voucher)).toEqual({ outcome: 'live' });
      const [claim] = await bench.mine(await bench.claim(voucher));
      const [number, timestampSeconds] = [await bench.chain.player.head(), bench.seconds];
      expect(await observed(voucher)).toEqual({ outcome: 'live' });
      await bench.finalise();
      const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/);
      expect(await observed(voucher)).toEqual({
        outcome: 'paid',
        finalised: { number, hash, timestampSeconds },
        transactionHash: claim?.transactionHash,
        block: { number, hash, timestampSeconds },
        recipient: RECIPIENT,
        amount: 777n,
      });
      await bench.mine();
      expect(await observed(voucher)).toMatchObject({ outcome: 'paid', block: { number } });
    });

    it('dead by a cancellation once that is final', async () => {
      const voucher = bench.voucher();
      const [cancel] = await bench.mine(bench.cancel(voucher));
      expect(await observed(voucher)).toEqual({ outcome: 'live' });
      await bench.finalise();
      expect(await observed(voucher)).toMatchObject({
        outcome: 'dead',
        reason: 'cancelled',
        transactionHash: cancel?.transactionHash,
      });
    });

    it('dead by silence once a final block is later than its deadline, not at it', async () => {
      const voucher = bench.voucher({ deadlineSeconds: bench.seconds + 10 });
      await bench.mineAt(voucher.deadlineSeconds);
      await bench.mineAt(voucher.deadlineSeconds + 1);
      for (let block = 0; block < 4; block++) {
        expect(await observed(voucher)).toEqual({ outcome: 'live' });
        await bench.mine();
      }
      expect(await observed(voucher)).toMatchObject({
        outcome: 'dead',
        reason: 'expired',
        finalised: { timestampSeconds: voucher.deadlineSeconds + 1 },
      });
    });

    it('live in spite of a pause and of failed claims, until its deadline', async () => {
      const voucher = bench.voucher({ deadlineSeconds: bench.seconds + 60 });
      const claim = await bench.claim(voucher);
      const [, failed] = await bench.mine(bench.call(PAUSER, 'pause'), claim);
      expect(failed?.error).toBe('EnforcedPause');
      await bench.mine(bench.call(bench.admin, 'unpause'));
      await bench.finalise();
      expect(await observed(voucher)).toEqual({ outcome: 'live' });
      await bench.finalise();
      expect(await observed(voucher)).toMatchObject({ outcome: 'dead', reason: 'expired' });
    });

    it('by a smaller depth where the chain is final sooner', async () => {
      const voucher = bench.voucher();
      await bench.mine(await bench.claim(voucher));
      await bench.mine();
      const sooner = aReader({ finality: 'depth:1' });
      expect(await sooner.observe([watched(voucher)])).toMatchObject([{ outcome: 'paid' }]);
      expect(await observed(voucher)).toEqual({ outcome: 'live' });
    });
  });

  describe('in a reorganisation', () => {
    it('gives a claim the hash and the block that remain', async () => {
      const voucher = bench.voucher();
      const [first] = await bench.mine(await bench.claim(voucher));
      await bench.mine();
      await bench.rollback(2);
      await bench.mine();
      const [second] = await bench.mine(await bench.claim(voucher, { from: aWallet(0x77) }));
      const number = await bench.chain.player.head();
      await bench.finalise();
      expect(second?.transactionHash).not.toBe(first?.transactionHash);
      expect(await observed(voucher)).toMatchObject({
        outcome: 'paid',
        transactionHash: second?.transactionHash,
        block: { number },
      });
    });

    it('takes a claim that is gone for no evidence, and lets the voucher expire', async () => {
      const voucher = bench.voucher({ deadlineSeconds: bench.seconds + 100 });
      await bench.mine(await bench.claim(voucher));
      await bench.mine();
      await bench.rollback(2);
      await bench.finalise();
      expect(await observed(voucher)).toEqual({ outcome: 'live' });
      await bench.mineAt(voucher.deadlineSeconds + 1);
      await bench.finalise();
      expect(await observed(voucher)).toMatchObject({ outcome: 'dead', reason: 'expired' });
    });

    it('goes by what became final, not by what was seen first', async () => {
      const voucher = bench.voucher();
      await bench.mine(bench.cancel(voucher));
      await bench.mine();
      await bench.rollback(2);
      await bench.mine(await bench.claim(voucher), bench.cancel(voucher));
      await bench.finalise();
      expect(await observed(voucher)).toMatchObject({ outcome: 'paid' });
    });

    it('reads a status at the block it was asked for, and at no other of that number', async () => {
      const voucher = bench.voucher();
      await bench.mine();
      const before = await aReader({ finality: 'depth:0' }).finalised();
      await bench.mine(await bench.claim(voucher));
      const after = await aReader({ finality: 'depth:0' }).finalised();
      expect(await reader.statuses([voucher.vaultId], before)).toEqual(['none']);
      expect(await reader.statuses([voucher.vaultId], after)).toEqual(['claimed']);
      await bench.rollback(1);
      await bench.mineAt(bench.seconds + 5);
      const gone = { failures: [{ code: 'RPC_NODE_BEHIND' }] };
      await expect(reader.statuses([voucher.vaultId], after)).rejects.toMatchObject(gone);
      await expect(reader.events({ from: 0n, head: after })).rejects.toMatchObject(gone);
    });
  });

  it('observes many at once, each by its own, whatever their order', async () => {
    const vouchers = Array.from({ length: 130 }, () => bench.voucher());
    const claims = vouchers.filter((_, index) => index % 3 === 0);
    const cancels = vouchers.filter((_, index) => index % 3 === 1);
    await bench.mine(...(await Promise.all(claims.map((voucher) => bench.claim(voucher)))));
    await bench.mine(...cancels.map((voucher) => bench.cancel(voucher)));
    await bench.finalise();
    const low = (index: number) => fromBlock - BigInt((index * 7) % 5);
    const before = node.requests.length;
    const evidence = await reader.observe(
      vouchers.map((voucher, index) => watched(voucher, { fromBlock: low(index) })),
    );
    expect(evidence.map(({ outcome }) => outcome)).toEqual(
      vouchers.map((_, index) => ['paid', 'dead', 'live'][index % 3]),
    );
    expect(node.requests.length - before).toBeLessThan(15);
    expect(await reader.observe([])).toEqual([]);
  });

  it('reports a claim below the block from which it was to search', async () => {
    const voucher = bench.voucher();
    await bench.mine(await bench.claim(voucher));
    await bench.finalise();
    const { number } = await reader.finalised();
    expect(await observed(voucher, { fromBlock: number })).toMatchObject({ outcome: 'paid' });
    expect(await observed(voucher, { fromBlock: number + 1n })).toMatchObject({
      outcome: 'live',
      doubt: { kind: 'contradiction', text: expect.stringContaining('claimed, with no event') },
    });
  });

  it('reports a claim of another amount or recipient than was planned', async () => {
    const voucher = bench.voucher();
    await bench.mine(await bench.claim(voucher));
    await bench.finalise();
    for (const changes of [{ amount: 99n }, { recipient: STRANGER }]) {
      expect(await observed(voucher, changes)).toMatchObject({
        outcome: 'live',
        doubt: { kind: 'contradiction', text: expect.stringContaining('the claim paid') },
      });
    }
  });

  it('lists all events in order, of any ids, in parts where a node takes fewer blocks', async () => {
    const start = await bench.chain.player.head();
    const [one, two] = [bench.voucher(), bench.voucher()];
    const foreign = { ...bench.voucher(), vaultId: `0x${'ff'.repeat(32)}` as never };
    await bench.mine(await bench.claim(one), bench.cancel(two));
    await bench.mine(await bench.claim(foreign));
    await bench.finalise();
    const head = await reader.finalised();
    const all = await reader.events({ from: start, head });
    expect(all).toMatchObject([
      { kind: 'claimed', vaultId: one.vaultId, recipient: RECIPIENT, amount: 100n },
      { kind: 'cancelled', vaultId: two.vaultId, canceller: VaultBench.CANCELLER },
      { kind: 'claimed', vaultId: foreign.vaultId },
    ]);
    node.fault = { kind: 'range-limit', blocks: 3 };
    const narrow = aReader();
    const whole = await narrow.events({ from: 0n, head });
    expect(whole.slice(-3)).toEqual(all);
    node.fault = undefined;
    expect(whole).toEqual(await reader.events({ from: 0n, head }));
  });

  describe('takes silence for nothing', () => {
    it('where there is no vault, or the vault of another token', async () => {
      const voucher = bench.voucher({ deadlineSeconds: 1 });
      const wrong = [
        { vault: aWallet(0xdead) },
        { vault: bench.chain.contracts.staking, token: aWallet(0xdead) },
        { token: aWallet(0xdead) },
      ];
      for (const options of wrong) {
        await expect(aReader(options).observe([watched(voucher)])).rejects.toThrow(
          /knows no vault of token|reverted/,
        );
      }
    });
  });
});

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
