import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ClaimStore, ClaimWatchStore, NoSuchClaimError } from '../index.js';
import { onChain, LedgerBench, TOKENS } from './ledger-bench.support.js';
import { aNewRedemption, aUuid, PLACE, START_MS } from './testing/builders.js';

let bench: LedgerBench;
let claims: ClaimStore;
beforeEach(async () => {
  bench = await LedgerBench.start();
  claims = new ClaimStore(bench.database);
});
afterEach(() => bench.stop());

const acknowledge = (id: string | undefined, note = 'The game has it: forgotten by the backup.') =>
  claims.acknowledge({
    id: id ?? '',
    note,
    atMs: START_MS,
    actor: 'operator:ann',
    command: 'reconciliation acknowledge',
  });
const listed = async (all = false) =>
  (await claims.list(0, { all, limit: 100 })).map(({ id }) => id);

describe('a claim without a row', () => {
  it('is no difference any more once it is acknowledged, and stays to be seen', async () => {
    const claim = onChain(aNewRedemption());
    await bench.read(claim);
    expect(await listed()).toEqual([claim.redemptionId]);
    expect(await acknowledge(claim.redemptionId)).toBe(1);
    expect(await bench.differences()).toEqual({});
    expect(await listed()).toEqual([]);
    expect(await claims.list(0, { all: true, limit: 100 })).toEqual([
      {
        id: claim.redemptionId,
        kind: 'without-row',
        state: null,
        chainId: PLACE.chainId,
        vault: PLACE.vault,
        recipient: claim.recipient,
        amount: TOKENS,
        block: claim.block.number,
        blockAt: new Date(claim.block.timestampSeconds * 1000),
        transactionHash: claim.transactionHash,
        acknowledged: {
          at: new Date(START_MS),
          actor: 'operator:ann',
          note: 'The game has it: forgotten by the backup.',
        },
      },
    ]);
    const [audit] = await bench.database.query({ text: 'SELECT * FROM redemption.audit' });
    expect(audit).toMatchObject({
      actor: 'operator:ann',
      command: 'reconciliation acknowledge',
      redemption_id: null,
      arguments: { id: claim.redemptionId },
      outcome: 'acknowledged',
    });
  });

  it('is one beside others, each to be acknowledged by itself', async () => {
    const [one, other] = [onChain(aNewRedemption()), onChain(aNewRedemption())];
    await bench.read(one);
    await acknowledge(one.redemptionId);
    await bench.store.record(START_MS - 1, (await bench.store.books(PLACE.chainId, 0)).figures, []);
    expect((await bench.store.lastRun())?.isOutdated).toBe(true);
    const [checkpoint] = await bench.store.checkpoints(PLACE.chainId);
    if (checkpoint?.block === undefined) throw new Error('no checkpoint');
    await bench.store.advance(checkpoint, checkpoint.block, [other], START_MS);
    expect(await bench.differences()).toEqual({ 'claim-without-row': [other.redemptionId] });
    expect(await listed()).toEqual([other.redemptionId]);
  });

  it('of another form is named by its id in the vault', async () => {
    const vaultId = `0x${'ab'.repeat(32)}`;
    await bench.read(onChain(aNewRedemption(), { vaultId, redemptionId: undefined }));
    expect(await acknowledge(vaultId)).toBe(1);
    expect(await bench.differences()).toEqual({});
  });

  it('is one again where the chain has it in another transaction', async () => {
    const claim = onChain(aNewRedemption());
    await bench.store.forget(await bench.read(claim));
    await bench.read(claim);
    await acknowledge(claim.redemptionId);
    const [checkpoint] = await bench.store.checkpoints(PLACE.chainId);
    if (checkpoint === undefined) throw new Error('no checkpoint');
    await bench.store.forget(checkpoint);
    await bench.read({ ...claim, transactionHash: `0x${'d'.repeat(64)}` });
    expect(await bench.differences()).toEqual({ 'claim-without-row': [claim.redemptionId] });
  });
});

describe('a claim of a redemption that must not be paid', () => {
  it('is a difference again when its redemption moves on', async () => {
    const redemption = await bench.deducted();
    await bench.read(onChain(redemption));
    await acknowledge(redemption.id);
    expect(await bench.differences()).toEqual({});
    await bench.cancelled(redemption);
    expect(await bench.differences()).toEqual({ 'claim-unpayable': [redemption.id] });
  });
});

describe('a claim that the watch found', () => {
  it('is a difference again where its redemption moved on before the reconciliation reads it', async () => {
    const redemption = await bench.deducted();
    const claim = onChain(redemption);
    await bench.begun();
    const watched = { ...PLACE, claims: [claim], nextBlock: undefined, nowMs: START_MS };
    await new ClaimWatchStore(bench.database).record(watched);
    expect(await acknowledge(redemption.id)).toBe(1);
    expect(await listed()).toEqual([]);
    await bench.cancelled(redemption);
    await bench.read(claim);
    expect(await bench.differences()).toEqual({ 'claim-unpayable': [redemption.id] });
    expect(await listed()).toEqual([redemption.id]);
  });
});

it.each(['0x', 'x', '', "' OR true --", aUuid()])('knows no claim of %j', async (id) => {
  await bench.read(onChain(aNewRedemption()));
  await expect(acknowledge(id)).rejects.toThrow(NoSuchClaimError);
  expect(await bench.database.query({ text: 'SELECT FROM redemption.audit' })).toEqual([]);
});

it('that the worker has not recorded yet is not for a person', async () => {
  const redemption = await bench.authorised();
  await bench.read(onChain(redemption));
  await expect(acknowledge(redemption.id)).rejects.toThrow(NoSuchClaimError);
  expect(await listed()).toEqual([]);
  expect(await claims.list(START_MS + 1, { all: false, limit: 9 })).toMatchObject([
    { kind: 'overdue' },
  ]);
});
