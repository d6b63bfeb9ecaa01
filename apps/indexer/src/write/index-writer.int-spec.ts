import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ReadRange } from '#libs/chain';
import { type Database, fingerprintOf, IndexStore } from '#libs/db';
import { type BlockDeltas } from '#libs/domain';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { type IndexOptions, indexSettingsOf } from '../settings/index-options.js';
import { IndexWriter } from './index-writer.js';

const OPTIONS = {
  chainId: 31_337,
  contracts: [aWallet(0xa1)],
  tokenContract: aWallet(0xa2),
  firstBlock: 1n,
  events: [],
  cachedWallets: 1,
} as unknown as IndexOptions;
const NO_FACTS = { finalised: undefined, synced: false };

let test: TestDatabase;
let database: Database;
let lead: AbortController;
let writer: IndexWriter;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open({ url: test.urlAs('indexer') });
});
beforeEach(async () => {
  await test.empty();
  const settings = indexSettingsOf(OPTIONS);
  const fingerprint = fingerprintOf(settings);
  await new IndexStore(database).create(anInitialIndex({ settings: { ...settings }, fingerprint }));
  lead = new AbortController();
  writer = await IndexWriter.takeLead(new IndexStore(database), OPTIONS, lead.signal);
});
afterAll(() => test.drop());

/** The answer for one block, in which each of the wallets stakes 5. */
function range(number: number, ...wallets: readonly number[]): ReadRange {
  const head = aBlock(number);
  const block: BlockDeltas = {
    ...{ blockNumber: head.number, timestampSeconds: head.timestampSeconds },
    deltas: wallets.map((wallet) => ({ wallet: aWallet(wallet), amount: 5n })),
  };
  return {
    head: { ...head, parentHash: head.hash },
    headers: [],
    blocks: [block],
  } as unknown as ReadRange;
}

// What it keeps in memory, and what the database refuses of it: test/simulation.
describe('IndexWriter', () => {
  it('writes nothing once its lead has ended', async () => {
    await writer.apply(range(1, 1), NO_FACTS);
    await writer.settled();
    const next = await IndexWriter.takeLead(
      new IndexStore(database),
      OPTIONS,
      new AbortController().signal,
    );
    const before = await new IndexStore(database).state();
    lead.abort(new Error('the lead has ended'));
    for (const write of [
      () => writer.apply(range(2, 1), NO_FACTS),
      () => writer.note({ finalised: aBlock(1), synced: true }),
      () => writer.rollback(aBlock(0)),
      () => writer.halt('a reason'),
      () => writer.resume(),
    ]) {
      await expect(write()).rejects.toThrow('the lead has ended');
    }
    expect(await new IndexStore(database).state()).toEqual(before);
    await next.apply(range(2, 1), NO_FACTS);
    await next.settled();
    expect(next.stored.total).toBe(10n);
  });

  it('remembers the finalised block after a reload, also the one before the first', async () => {
    const facts = { finalised: aBlock(0), synced: false };
    const answer = { ...range(1, 1), headers: [aBlock(1)] };
    await writer.apply(answer, facts);
    await writer.settled();
    expect(writer.rememberedBlocks()).toEqual([aBlock(0), aBlock(1)]);
    await writer.reload();
    expect(writer.rememberedBlocks()).toEqual([aBlock(0), aBlock(1)]);
  });
});
