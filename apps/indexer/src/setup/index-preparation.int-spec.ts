import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fingerprintOf, IndexStore } from '#libs/db';
import { systemClock } from '#libs/platform';
import { createLogger } from '#libs/service';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { type ChainReader } from '#libs/chain';
import { IndexStatus } from '../health/index-status.js';
import { type IndexOptions, indexSettingsOf } from '../settings/index-options.js';
import { IndexPreparation } from './index-preparation.js';

const logger = createLogger({ app: 'test', level: 'silent' });
const wanted = {
  chainId: 31_337,
  contracts: [aWallet(0xa1)],
  tokenContract: aWallet(0xa2),
  firstBlock: 1n,
  events: [{ event: 'Staked' }],
  verification: 'auto',
  maxRangeBlocks: 1_000,
} as unknown as IndexOptions;

let test: TestDatabase;
let store: IndexStore;
beforeAll(async () => {
  test = await createTestDatabase();
  store = new IndexStore(await test.open());
});
beforeEach(() => test.empty());
afterAll(() => test.drop());

const BLOCK = { ...aBlock(0), parentHash: aBlock(0).hash };

function prepare(reader: ChainReader, status: IndexStatus, options = wanted) {
  return new IndexPreparation(reader, store, status, systemClock, logger, options).prepare();
}

/**
 * A reader behind which another process creates the index, after this process has looked for one and before it creates
 * its own.
 */
function readerBehind(other: IndexOptions): ChainReader {
  const settings = indexSettingsOf(other);
  const made = anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } });
  return {
    verifyChainId: () => Promise.resolve(),
    hasCode: () => Promise.resolve(true),
    headers: () => Promise.resolve([BLOCK]),
    agreedHeader: () => Promise.resolve(BLOCK),
    token: async () => {
      await store.create(made);
      return { symbol: 'LOW', decimals: 18 };
    },
    heads: () => Promise.resolve({ endpoint: 'node#1', latest: BLOCK, finalised: BLOCK }),
    skippedHeight: () => Promise.resolve(undefined),
    endpointsWithoutLogs: () => Promise.resolve(new Map()),
    endpointsWithLogs: () => Promise.resolve(['node#1']),
    stakeTotal: () => Promise.resolve(0n),
    stakeBalances: () => Promise.resolve([0n]),
    endpoints: ['node#1'],
    budgets: [undefined],
    unansweredViews: [],
    hasTotal: true,
  } as Partial<ChainReader> as ChainReader;
}

describe('IndexPreparation', () => {
  it('tells how far the index is, though no endpoint answers', async () => {
    const settings = indexSettingsOf(wanted);
    const { head } = await store.create(
      anInitialIndex({ fingerprint: fingerprintOf(settings), settings: { ...settings } }),
    );
    const status = new IndexStatus();
    const away = () => Promise.reject(new Error('no endpoint'));
    const reader = Object.assign(readerBehind(wanted), { verifyChainId: away });
    await expect(prepare(reader, status)).rejects.toThrow('no endpoint');
    expect(status.head).toEqual(head);
  });

  it('refuses the index that another process has made meanwhile with other settings', async () => {
    const other = { ...wanted, events: [{ event: 'Deposited' }] } as unknown as IndexOptions;
    await expect(prepare(readerBehind(other), new IndexStatus())).rejects.toMatchObject({
      code: 'SETTINGS_CHANGED',
      message: expect.stringContaining('STAKE_EVENTS was [{"event":"Deposited"}]'),
    });
    const status = new IndexStatus();
    await prepare(readerBehind(other), status, other);
    expect(status.verification).toMatchObject({ mode: 'total' });
  });
});
