import { aPartnerId } from '#libs/testing/partner';
import { type PartnerId } from '#libs/domain';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CHAIN, CLAIM_BLOCK, FINAL, onChain, LedgerBench, TOKENS } from './ledger-bench.support.js';
import { aBlock, aNewRedemption, PLACE, someWallet, START_MS } from './testing/builders.js';

let bench: LedgerBench;
beforeEach(async () => {
  bench = await LedgerBench.start();
});
afterEach(() => bench.stop());

describe('the books', () => {
  it('add up, partner by partner', async () => {
    const [busy, quiet] = [aPartnerId(), aPartnerId()].sort() as [PartnerId, PartnerId];
    await bench.claimed({ partner: busy });
    await bench.claimed({ partner: busy });
    await bench.reverted({ partner: busy });
    await bench.authorised({ partner: busy });
    await bench.created({ partner: busy });
    await bench.created({ partner: quiet });
    const { figures } = await bench.store.books(CHAIN, 0);
    const money = (count: number) => ({
      count,
      points: 5000n * BigInt(count),
      tokens: TOKENS * BigInt(count),
    });
    const figure = (partner: PartnerId, ...counts: [number, number, number, number]) => {
      const [all, claims, reverts, open] = counts.map(money);
      return { partner, deducted: all, claimed: claims, reverted: reverts, open };
    };
    expect(figures.ledgers).toEqual([figure(busy, 4, 2, 1, 1), figure(quiet, 0, 0, 0, 0)]);
    expect(figures.elsewhere).toEqual({ count: 2, tokens: 2n * TOKENS });
    expect(figures.vaults).toEqual([]);
  });

  it('agree where each claim is of a claimed row, also one that is claimed only now', async () => {
    const [one, late] = [await bench.claimed(), await bench.authorised()];
    await bench.read(onChain(one), onChain(late));
    expect(await bench.differences()).toEqual({});
    const { figures } = await bench.store.books(CHAIN, 0);
    expect(figures.vaults[0]?.unsettled.open.chain.count).toBe(1);
    await bench.paid(late);
    expect(await bench.differences()).toEqual({});
    await bench.store.settle(PLACE);
    expect(await bench.differences()).toEqual({});
  });

  it('leave out what is claimed above the checkpoint', async () => {
    await bench.claimed();
    await bench.store.advance(
      await bench.begun(),
      aBlock(Number(CLAIM_BLOCK.number) - 1),
      [],
      START_MS,
    );
    expect(await bench.differences()).toEqual({});
  });

  it('show a claim without a row, of an id of ours or of another form', async () => {
    const ours = onChain(aNewRedemption());
    const vaultId = `0x${'ab'.repeat(32)}`;
    await bench.read(ours, onChain(aNewRedemption(), { vaultId, redemptionId: undefined }));
    const found = await bench.differences();
    expect(Object.keys(found)).toEqual(['claim-without-row']);
    expect(new Set(found['claim-without-row'])).toEqual(new Set([ours.redemptionId, vaultId]));
  });

  it.each([
    ['never authorised', 'deducted', {}, 'claim-unpayable'],
    ['reverted', 'reverted', {}, 'claim-unpayable'],
    ['of another amount', 'claimed', { amount: 7n }, 'claim-different'],
    ['of another recipient', 'claimed', { recipient: someWallet() }, 'claim-different'],
    ['of another amount, still open', 'authorised', { amount: 7n }, 'claim-different'],
  ] as const)('show a claim of a redemption %s', async (_case, make, change, kind) => {
    const redemption = await bench[make]();
    await bench.read(onChain(redemption, change));
    expect(await bench.differences()).toEqual({ [kind]: [redemption.id] });
  });

  it('show a claim on another vault than planned, on both vaults', async () => {
    const redemption = await bench.claimed();
    await bench.begun();
    const vault = someWallet();
    await bench.store.begin({ chainId: CHAIN, vault }, 0n);
    for (const checkpoint of await bench.store.checkpoints(CHAIN)) {
      const claims = checkpoint.vault === vault ? [onChain(redemption)] : [];
      await bench.store.advance(checkpoint, FINAL, claims, START_MS);
      await bench.store.settle(checkpoint);
    }
    expect(await bench.differences()).toEqual({
      'claim-different': [redemption.id],
      'row-without-claim': [redemption.id],
    });
  });

  it('show a claim that stays unrecorded', async () => {
    const redemption = await bench.authorised();
    await bench.read(onChain(redemption));
    expect(await bench.differences(START_MS)).toEqual({});
    expect(await bench.differences(START_MS + 1)).toEqual({ 'claim-overdue': [redemption.id] });
  });

  it('show a claimed row without a claim, and from where to look again', async () => {
    const redemption = await bench.claimed();
    await bench.read();
    expect(await bench.differences()).toEqual({ 'row-without-claim': [redemption.id] });
    const { missingFrom } = await bench.store.books(CHAIN, 0);
    expect(missingFrom).toEqual(new Map([[PLACE.vault, CLAIM_BLOCK.number]]));
  });

  it('show a claim that vanished from what was read', async () => {
    const redemption = await bench.claimed();
    await bench.read(onChain(redemption), onChain(await bench.claimed()));
    await bench.database.query({
      text: 'UPDATE redemption.reconciliation_checkpoint SET claims = 3',
    });
    expect(await bench.differences()).toEqual({ 'sums-differ': [] });
  });
});
