/**
 * The database refuses evidence and calls of another shape, so that everything the service reads of
 * a redemption is valid.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption } from '#libs/domain';
import { type Database } from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { aUuid } from './testing/builders.js';

const HASH = `0x${'ab'.repeat(32)}`;
const BLOCK = { number: '1', hash: HASH, timestampSeconds: 1 };
const EVENT = { finalised: BLOCK, transactionHash: HASH, block: BLOCK };
const EXPIRED = { outcome: 'dead', reason: 'expired', finalised: BLOCK };
const CANCELLED = { ...EXPIRED, ...EVENT, reason: 'cancelled' };
const PAID = { outcome: 'paid', ...EVENT, recipient: `0x${'cd'.repeat(20)}`, amount: '1' };
const CALL = { requestId: aUuid(), startedAtMs: 1 };
const TARGET = { by: 'candidate', transactionId: 'tx' };

let bench: LedgerBench;
let intruder: Database;
let authorised: Redemption;
beforeAll(async () => {
  bench = await LedgerBench.start();
  intruder = await bench.test.open({ url: bench.test.urlAs('cli') });
  authorised = await bench.authorised();
});
afterAll(() => bench.stop());

/** Tries a write that is never committed. */
async function write(set: string, value: unknown): Promise<void> {
  const undone = new Error('undone');
  const written = intruder.transaction(async (client) => {
    await client.query(
      `UPDATE redemption.redemption SET ${set}, version = version + 1 WHERE id = $1`,
      [authorised.id, JSON.stringify(value)],
    );
    throw undone;
  });
  await written.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
}

const REFUSED = { sqlState: '23000', message: expect.stringContaining('cannot be read') };

describe.each<[string, object, readonly unknown[]]>([
  [
    `state = 'reverting', dead_evidence = $2`,
    EXPIRED,
    [
      {},
      [],
      'dead',
      { outcome: 'dead' },
      { ...EXPIRED, reason: 'tired' },
      { ...EXPIRED, finalised: { ...BLOCK, number: 1 } },
      { ...EXPIRED, finalised: { ...BLOCK, number: 'x' } },
      { ...EXPIRED, finalised: { ...BLOCK, number: '1'.repeat(79) } },
      { ...EXPIRED, finalised: { ...BLOCK, hash: 'ab' } },
      { ...EXPIRED, finalised: { ...BLOCK, timestampSeconds: '1' } },
      { ...EXPIRED, reason: 'cancelled' },
    ],
  ],
  [
    `state = 'reverting', dead_evidence = $2`,
    CANCELLED,
    [
      { ...CANCELLED, block: [] },
      { ...CANCELLED, transactionHash: '0x' },
    ],
  ],
  [
    `state = 'claimed', claimed_at = now(), next_action_at = NULL, paid_evidence = $2`,
    PAID,
    [
      { outcome: 'paid' },
      { ...PAID, amount: 1 },
      { ...PAID, amount: '-1' },
      { ...PAID, recipient: '0x' },
      { ...PAID, finalised: 1 },
    ],
  ],
])('evidence: %s', (set, right, wrong) => {
  it('is kept as the service writes it', async () => {
    await write(set, right);
  });

  it.each(wrong.map((value) => [value]))('is refused as %j', async (value) => {
    await expect(write(set, value)).rejects.toMatchObject(REFUSED);
  });
});

describe('an open call', () => {
  it.each([CALL, { ...CALL, target: TARGET }, { ...CALL, target: { by: 'redemption' } }])(
    'has a shape that can be read: %j',
    async (call) => {
      // The row is not in a state that allows a call, which another constraint refuses.
      const refused = { cause: { constraint: 'open_call_in_its_state' } };
      await expect(write('open_call = $2', call)).rejects.toMatchObject(refused);
    },
  );

  it.each([
    {},
    { step: 'deduct' },
    { ...CALL, requestId: 1 },
    { ...CALL, startedAtMs: 'now' },
    { ...CALL, target: [] },
    { ...CALL, target: { by: 'candidate' } },
    { ...CALL, target: { ...TARGET, by: 'name' } },
  ])('is refused as %j', async (call) => {
    await expect(write('open_call = $2', call)).rejects.toMatchObject(REFUSED);
  });
});
