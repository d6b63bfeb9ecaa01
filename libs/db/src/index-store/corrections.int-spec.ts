import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address, foldBlocks } from '#libs/domain';
import {
  aBlock,
  aWallet,
  anIndexOf,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { aCredentialId, aNewCredential } from '#libs/testing/partner';
import {
  CorrectionStore,
  type Database,
  PartnerStore,
  RepairStore,
  RequestBatch,
  RequestLogStore,
  type SignedAnswer,
} from '../index.js';

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
});
afterAll(() => test.drop());
beforeEach(() => test.empty());

const deltas = (number: number, wallet: Address, amount: bigint) => ({
  blockNumber: BigInt(number),
  timestampSeconds: aBlock(number).timestampSeconds,
  deltas: [{ wallet, amount }],
});

describe('RepairStore', () => {
  it('finds a right total right while the index goes on growing above the compared block', async () => {
    const wallet = aWallet(1);
    const { store, fence, head } = await anIndexOf(database, [deltas(5, wallet, 100n)]);
    const repair = new RepairStore(database);
    expect(await repair.totalOff(head, 100n)).toBe(0n);
    const states = await store.walletStates([wallet], 0);
    const folded = foldBlocks(states, [deltas(6, wallet, 7n)]);
    await store.commit({ fence, previousHead: head, head: aBlock(6), folded, blocks: [] });
    expect(await repair.totalOff(head, 100n)).toBe(0n);
    expect(await repair.totalOff(head, 99n)).toBe(1n);
  });
});

describe('CorrectionStore', () => {
  it('names the default stake set for the answers of a partner without one of its own', async () => {
    const credential = aNewCredential();
    const partners = new PartnerStore(database);
    const { partnerId } = await partners.create({ name: 'Acme', rate: 1, burst: 1, credential });
    const { credentialId } = (await partners.findCredential(credential.keyHash)) ?? {};
    const batch = new RequestBatch();
    batch.add({
      ...{
        partnerId,
        credentialId: credentialId ?? aCredentialId(),
        requestId: 'a',
        atMs: Date.now(),
      },
      ...{ method: 'GET', path: '/api/staking/history?walletAddress=0x1', status: 200 },
      ...{ body: 'x'.repeat(9000), signature: 'ab'.repeat(32), durationUs: 1 },
    });
    await new RequestLogStore(database).note(batch);
    const store = new CorrectionStore(database);
    const until = new Date(Date.now() + 60_000);
    const found: SignedAnswer[] = [];
    for await (const page of store.signedAnswers(until, ['/api/staking/history%'])) {
      found.push(...page);
    }
    expect(found).toMatchObject([{ partnerId, stakeSet: 'default', bodyBytes: 9000 }]);
    expect(found[0]?.body.length).toBeLessThan(9000);
  });
});
