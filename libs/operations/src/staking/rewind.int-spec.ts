import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ChainReader, RpcPool } from '#libs/chain';
import { type Database, type IndexState, IndexStore, LeaderLock } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { startChain, type TestChain } from '#libs/testing/chain';
import {
  aFold,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { planRewind, rewindIndex } from './rewind.js';

const START = 1_760_000_000;
const FINAL = 40n;
const operator = { actor: 'operator:mia', command: 'index rewind' };
const stakeSet = 'default';

let chain: TestChain;
let test: TestDatabase;
let database: Database;
let reader: ChainReader;
let store: IndexStore;
beforeAll(async () => {
  [chain, test] = await Promise.all([startChain({ deployedSeconds: START }), createTestDatabase()]);
  await chain.player.mine(...Array.from({ length: 57 }, (_, index) => START + 100 + index * 12));
  database = await test.open();
  store = new IndexStore(database);
  reader = new ChainReader(new RpcPool({ urls: [chain.rpc.url], clock: systemClock }));
});
afterAll(async () => {
  await chain.stop();
  await test.drop();
});
beforeEach(async () => {
  await test.empty();
  await database.query({ text: 'DELETE FROM staking.seal_recheck' });
  const [first] = await reader.headers([0n]);
  if (first === undefined) throw new Error('a chain has a first block');
  const { number, hash, timestampSeconds } = first;
  let { head } = await store.create(
    anInitialIndex({ head: { number, hash, timestampSeconds }, settings: { startBlock: '1' } }),
  );
  const fence = await store.takeLead();
  const headers = await reader.headers(Array.from({ length: 60 }, (_, index) => BigInt(index + 1)));
  for (const header of headers) {
    if (header === undefined) throw new Error('the chain has 60 blocks');
    const block: BlockRef = {
      number: header.number,
      hash: header.hash,
      timestampSeconds: header.timestampSeconds,
    };
    const wallet = aWallet(Number(block.number % 5n));
    const { timestampSeconds } = block;
    const change = { wallet, balance: block.number, blockNumber: block.number, timestampSeconds };
    await store.commit({
      ...{ fence, previousHead: head, head: block, folded: aFold({ changes: [change] }) },
      blocks: [block],
      ...(block.number >= FINAL && { finalised: headers[Number(FINAL) - 1] as BlockRef }),
    });
    head = block;
  }
});

async function state(): Promise<IndexState> {
  const found = await store.state();
  if (found === undefined) throw new Error('there is an index');
  return found;
}

function rewind(to: bigint, onProgress: (said: string) => void = () => undefined) {
  const lock = new LeaderLock({ url: test.url, applicationName: 'rewind' });
  const context = { database, stakeSet, reader };
  return state()
    .then((found) => planRewind(context, found, to))
    .then((plan) => rewindIndex(context, plan, { lock, operator, onProgress, stepChanges: 7 }));
}

describe('rewindIndex', () => {
  it('goes down in steps of about as many changes, and says how far it is', async () => {
    const said: string[] = [];
    expect(await rewind(10n, (one) => said.push(one))).toMatchObject({
      changes: 50,
      head: { number: 10n },
    });
    expect((await state()).rollbacks).toBe(8n);
    expect(said).toContain('At block 60: 0 of 50 changes are taken back');
    expect(said.length).toBe(10);
    const { head, finalised, total } = await state();
    expect(finalised).toEqual(head);
    // The sum was wrong before, as where rows were changed by hand.
    expect(total).toBe(6n + 7n + 8n + 9n + 10n);
    const rows = await database.query({
      text: 'SELECT actor, command, arguments, outcome FROM redemption.audit ORDER BY id DESC LIMIT 1',
    });
    expect(rows).toEqual([{ ...operator, arguments: { to: '10' }, outcome: '50 changes' }]);
  });

  it('leaves a whole index where it ends early, and goes on from there', async () => {
    let left = 5;
    const ends = (): void => {
      if (--left < 0) throw new Error('killed');
    };
    await expect(rewind(10n, ends)).rejects.toThrow('killed');
    const { head } = await state();
    expect(head.number).toBeLessThan(60n);
    expect(head.number).toBeGreaterThan(10n);
    const [header] = await reader.headers([head.number]);
    expect(header?.hash).toBe(head.hash);
    const [newest] = await database.query<{ block: string }>({
      text: 'SELECT max(block) AS block FROM staking.balance_change',
    });
    expect(BigInt(newest?.block ?? 0)).toBeLessThanOrEqual(head.number);
    expect((await rewind(10n)).head.number).toBe(10n);
  });

  it('takes back what lies above a fork in one step, so that the index never stands on another fork', async () => {
    await chain.player.rollback(10);
    await chain.player.mine(...Array.from({ length: 12 }, (_, index) => START + 700 + index * 12));
    const common = await planRewind({ database, stakeSet, reader }, await state());
    expect(common.to.number).toBe(50n);
    await expect(rewind(55n)).rejects.toMatchObject({
      code: 'REWIND_REFUSED',
      message: expect.stringContaining('--to 50'),
    });
    const said: string[] = [];
    await rewind(45n, (one) => said.push(one));
    expect(said.filter((one) => one.startsWith('At block')).slice(0, 2)).toEqual([
      'At block 60: 0 of 15 changes are taken back',
      'At block 50: 10 of 15 changes are taken back',
    ]);
    expect((await state()).head.number).toBe(45n);
  });

  it.each([
    [60n, 'ends at block 60'],
    [-1n, 'begins at block 1'],
  ])('does not take the index back to block %s', async (to, why) => {
    await expect(rewind(to)).rejects.toMatchObject({
      code: 'REWIND_REFUSED',
      message: expect.stringContaining(why),
    });
  });
});
