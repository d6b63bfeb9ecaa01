/**
 * Guards of the database that hold even for raw SQL: a program's fault, or a person's in psql, must not move money. What a
 * program can ask its stores to write is in test/simulation/engine/ledger/ledger-contract.int-spec.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption } from '#libs/domain';
import { type Database } from '../index.js';
import { LedgerBench } from './ledger-bench.support.js';
import { aNewRedemption, aUuid } from './testing/builders.js';

let bench: LedgerBench;
let database: Database;
/** One redemption in each state, by name. */
const at: Record<string, Redemption> = {};

beforeAll(async () => {
  bench = await LedgerBench.start();
  ({ database } = bench);
  at['created'] = await bench.created();
  at['failed'] = await bench.cancelled(await bench.created());
  at['deducting'] = (await bench.called(await bench.created())).calling;
  at['deducted'] = await bench.deducted();
  at['authorised'] = await bench.authorised();
  at['claimed'] = await bench.claimed();
  at['reverting'] = await bench.expired(await bench.authorised());
  at['reverted'] = await bench.reverted();
});
afterAll(() => bench.stop());

/**
 * One transaction that includes the transition row of the next version, so that only the change itself can be refused.
 */
async function change(name: string, set: string): Promise<void> {
  const { id, version } = at[name] ?? aNewRedemption();
  await database.transaction(async (client) => {
    await client.query(`UPDATE redemption.redemption SET ${set} WHERE id = $1`, [id]);
    await client.query(
      `INSERT INTO redemption.transition (redemption_id, version, event, to_state, actor)
       SELECT id, version, 'raw', state, 'psql' FROM redemption.redemption WHERE id = $1 AND version > $2`,
      [id, version],
    );
  });
}

const NEXT = 'version = version + 1';
const REFUSED = { sqlState: expect.stringMatching(/^23/) };
const LEASE = `leased_until = now(), lease_owner = 'x'`;

describe('a redemption row', () => {
  it.each([
    ['claimed', 'reason = NULL'],
    ['claimed', LEASE],
    ['claimed', `${NEXT}, state = 'reverting', claimed_at = NULL, next_action_at = now()`],
    ['reverted', `${NEXT}, state = 'claimed', claimed_at = now(), reverted_at = NULL`],
    ['reverted', `${NEXT}, reverted_at = now()`],
    ['created', `${NEXT}, id = gen_random_uuid()`],
    ['created', `${NEXT}, partner = gen_random_uuid()`],
    ['created', `${NEXT}, wallet = '\\x${'00'.repeat(20)}'`],
    ['created', `${NEXT}, points = points + 1`],
    ['created', `${NEXT}, usd_amount = usd_amount + 1`],
    ['created', `${NEXT}, token_amount = token_amount + 1`],
    ['created', `${NEXT}, token_decimals = 6`],
    ['created', `${NEXT}, price_usd = price_usd + 1`],
    ['created', `${NEXT}, quote_expires_at = now()`],
    ['created', `${NEXT}, initial_at = now()`],
    ['authorised', `${NEXT}, plan_vault = '\\x${'11'.repeat(20)}'`],
    ['authorised', `${NEXT}, plan_chain_id = 1`],
    ['authorised', `${NEXT}, plan_from_block = 0`],
  ])('is frozen where it is %s: no "%s"', async (name, set) => {
    await expect(change(name, set)).rejects.toMatchObject({ sqlState: '23000' });
  });

  const hash = `"0x${'ab'.repeat(32)}"`;
  const block = `{"number":"1","hash":${hash},"timestampSeconds":1}`;
  const mined = `"finalised":${block},"transactionHash":${hash},"block":${block}`;
  const recipient = `"recipient":"0x${'cd'.repeat(20)}"`;
  const paid = `paid_evidence = '{"outcome":"paid",${mined},${recipient},"amount":"1"}'`;
  const odd = `dead_evidence = '{"outcome":"paid","reason":"expired","finalised":${block}}'`;
  const call = `open_call = '{"requestId":"${aUuid()}","startedAtMs":1}'`;
  const waiting = `state = 'attention', resume = 'reverting', next_action_at = NULL`;
  it.each([
    ['claimed_by_evidence', 'reverting', paid],
    ['evidence_of_its_kind', 'authorised', `state = 'reverting', ${odd}`],
    ['open_call_in_its_state', 'deducting', call],
    ['whole_lease', 'created', `lease_owner = 'x'`],
    ['leased_while_due', 'reverting', `${waiting}, ${LEASE}`],
  ])('must keep %s: where it is %s, no "%s"', async (constraint, name, set) => {
    await expect(change(name, `${NEXT}, ${set}`)).rejects.toMatchObject({
      sqlState: '23514',
      cause: { constraint },
    });
  });

  it('is made and moves only together with its transition, and calls only together with the call', async () => {
    const id = at['created']?.id ?? '';
    const made = `INSERT INTO redemption.redemption
      SELECT (jsonb_populate_record(r, '{"id": "${aUuid()}", "partner": "${aUuid()}"}')).*
      FROM redemption.redemption r WHERE id = '${id}'`;
    const moved = `UPDATE redemption.redemption SET ${NEXT}, reason = 'x' WHERE id = '${id}'`;
    for (const text of [made, moved]) {
      await expect(database.query({ text })).rejects.toThrow('has no transition row');
    }
    const call = JSON.stringify({ step: 'deduct', requestId: aUuid(), startedAtMs: 1 });
    await expect(change('deducting', `${NEXT}, open_call = '${call}'`)).rejects.toThrow(
      'has no call row',
    );
  });
});

describe('what belongs to a redemption', () => {
  it.each([
    `UPDATE redemption.transition SET actor = 'x'`,
    'DELETE FROM redemption.transition',
    `UPDATE redemption.audit SET actor = 'x'`,
    'DELETE FROM redemption.audit',
    'DELETE FROM redemption.redemption',
    'DELETE FROM redemption.confirmation',
    'DELETE FROM redemption.partner_call',
    'TRUNCATE redemption.redemption CASCADE',
    'TRUNCATE redemption.transition',
    `UPDATE redemption.confirmation SET payload = '{"status":"claimed"}'`,
    `UPDATE redemption.confirmation SET attempts = 9`,
    `UPDATE redemption.confirmation SET version = version + 2`,
    `UPDATE redemption.partner_call SET step = 'confirm'`,
    `UPDATE redemption.partner_call SET outcome = 'x' WHERE outcome IS NOT NULL`,
    `INSERT INTO redemption.confirmation SELECT * FROM redemption.confirmation`,
    `INSERT INTO redemption.partner_call (request_id, partner, step) VALUES ('${aUuid()}', gen_random_uuid(), 'deduct')`,
    `INSERT INTO redemption.transition SELECT * FROM redemption.transition`,
  ])('refuses %s', async (text) => {
    await expect(database.query({ text })).rejects.toMatchObject(REFUSED);
  });

  it('is a confirmation only of what it says, and of what is over', async () => {
    const confirm = (name: string, status: string) => {
      const { id, partner } = at[name] ?? aNewRedemption();
      const payload = JSON.stringify({ status, svcRedemptionId: id });
      return database.query(
        {
          text: `INSERT INTO redemption.confirmation (redemption_id, partner, payload, state, version, attempts, next_action_at)
            VALUES ($1, $2, $3, 'pending', 1, 0, now())`,
        },
        [id, partner, payload],
      );
    };
    await expect(confirm('authorised', 'claimed')).rejects.toThrow('does not say what became');
    await expect(confirm('failed', 'reverted')).rejects.toThrow('does not say what became');
    await expect(confirm('failed', 'failed')).rejects.toMatchObject({ sqlState: '23514' });
    await expect(confirm('claimed', 'claimed')).rejects.toMatchObject({ sqlState: '23505' });
  });
});

/** The database refuses evidence and calls of another shape, so that everything the service reads of a redemption is valid. */
describe('what the service reads of a redemption', () => {
  const HASH = `0x${'ab'.repeat(32)}`;
  const BLOCK = { number: '1', hash: HASH, timestampSeconds: 1 };
  const EVENT = { finalised: BLOCK, transactionHash: HASH, block: BLOCK };
  const EXPIRED = { outcome: 'dead', reason: 'expired', finalised: BLOCK };
  const CANCELLED = { ...EXPIRED, ...EVENT, reason: 'cancelled' };
  const PAID = { outcome: 'paid', ...EVENT, recipient: `0x${'cd'.repeat(20)}`, amount: '1' };
  const CALL = { requestId: aUuid(), startedAtMs: 1 };
  const TARGET = { by: 'candidate', transactionId: 'tx' };

  let intruder: Database;
  beforeAll(async () => {
    intruder = await bench.test.open({ url: bench.test.urlAs('cli') });
  });

  /** Tries a write that is never committed. */
  async function write(set: string, value: unknown): Promise<void> {
    const undone = new Error('undone');
    const written = intruder.transaction(async (client) => {
      await client.query(
        `UPDATE redemption.redemption SET ${set}, version = version + 1 WHERE id = $1`,
        [at['authorised']?.id, JSON.stringify(value)],
      );
      throw undone;
    });
    await written.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  }

  const UNREADABLE = { sqlState: '23000', message: expect.stringContaining('cannot be read') };

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
      await expect(write(set, value)).rejects.toMatchObject(UNREADABLE);
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
      await expect(write('open_call = $2', call)).rejects.toMatchObject(UNREADABLE);
    });
  });
});
