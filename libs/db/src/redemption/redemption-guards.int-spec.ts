/** Guards of the database that hold even for raw SQL: a program's fault, or a person's in psql, must not move money. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption, type RedemptionEvent } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing';
import { type Database, RedemptionStore } from '../index.js';
import {
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  decided,
  expiryOf,
  planOf,
  someLimits,
} from './testing/builders.js';

let test: TestDatabase;
let database: Database;
let store: RedemptionStore;
/** One redemption in each state, by name. */
const at: Record<string, Redemption> = {};

beforeAll(async () => {
  test = await createTestDatabase();
  database = await test.open();
  store = new RedemptionStore(database);
  at['created'] = await created();
  at['failed'] = await after(await created(), { type: 'cancel', by: 'user' });
  const deducting = await after(await created(), { type: 'call-due', requestId: aUuid() });
  at['deducting'] = deducting;
  at['deducted'] = await deducted();
  at['authorised'] = await authorised();
  const [paying, expiring] = [await authorised(), await authorised()];
  const evidence = claimOf(paying);
  at['claimed'] = await after(paying, { type: 'payout-paid', redemptionId: paying.id, evidence });
  at['reverting'] = await after(expiring, {
    type: 'payout-dead',
    redemptionId: expiring.id,
    evidence: expiryOf(expiring),
  });
  const cancelled = await after(await deducted(), { type: 'cancel', by: 'user' });
  const due = { type: 'call-due', requestId: aUuid(), neverPaid: expiryOf(cancelled) } as const;
  const calling = await after(cancelled, due);
  const { requestId } = calling.openCall ?? { requestId: aUuid() };
  at['reverted'] = await after(calling, { type: 'revert-already', requestId });
});
afterAll(() => test.drop());

async function created(): Promise<Redemption> {
  const redemption = aNewRedemption();
  await store.create(redemption, aKey(), someLimits());
  return redemption;
}

async function after(redemption: Redemption, event: RedemptionEvent): Promise<Redemption> {
  const write = decided(redemption, event);
  await store.apply(write);
  return write.decision.next;
}

async function deducted(): Promise<Redemption> {
  const calling = await after(await created(), { type: 'call-due', requestId: aUuid() });
  const { requestId } = calling.openCall ?? { requestId: aUuid() };
  const partnerTransactionId = 'tx-1';
  return after(calling, { type: 'deduct-confirmed', requestId, partnerTransactionId });
}

async function authorised(): Promise<Redemption> {
  const redemption = await deducted();
  return after(redemption, { type: 'plan-committed', plan: planOf(redemption) });
}

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
    ['claimed', `${NEXT}, reason = 'x'`],
    ['claimed', `${NEXT}, state = 'reverting', claimed_at = NULL, next_action_at = now()`],
    ['reverted', `${NEXT}, state = 'claimed', claimed_at = now(), reverted_at = NULL`],
    ['reverted', `${NEXT}, reverted_at = now()`],
    ['failed', `${NEXT}, failed_at = now()`],
  ])('is final where it is %s: no "%s"', async (name, set) => {
    await expect(change(name, set)).rejects.toMatchObject({ sqlState: '23000' });
  });

  it.each([
    ['created', 'version = version + 2'],
    ['created', `reason = 'x'`],
    ['created', `state = 'failed'`],
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
    ['authorised', `${NEXT}, plan_deadline_seconds = plan_deadline_seconds + 1`],
    ['authorised', `${NEXT}, plan_vault = '\\x${'11'.repeat(20)}'`],
    ['authorised', `${NEXT}, plan_chain_id = 1`],
    ['authorised', `${NEXT}, plan_from_block = 0`],
    ['authorised', `${NEXT}, partner_transaction_id = 'tx-2'`],
    ['authorised', `${NEXT}, deducted_at = now()`],
    ['reverting', `${NEXT}, dead_evidence = NULL`],
    ['reverting', `${NEXT}, pending_at = now()`],
  ])('is frozen where it is %s: no "%s"', async (name, set) => {
    await expect(change(name, set)).rejects.toMatchObject({ sqlState: '23000' });
  });

  const hash = `"0x${'ab'.repeat(32)}"`;
  const block = `{"number":"1","hash":${hash},"timestampSeconds":1}`;
  const mined = `"finalised":${block},"transactionHash":${hash},"block":${block}`;
  const recipient = `"recipient":"0x${'cd'.repeat(20)}"`;
  const paid = `paid_evidence = '{"outcome":"paid",${mined},${recipient},"amount":"1"}'`;
  const expired = (outcome = 'dead') =>
    `dead_evidence = '{"outcome":"${outcome}","reason":"expired","finalised":${block}}'`;
  const dead = expired();
  const call = (step = '') => `open_call = '{${step}"requestId":"${aUuid()}","startedAtMs":1}'`;
  const over = 'next_action_at = NULL';
  const plan = (amount = 'token_amount') => `plan_recipient = wallet, plan_amount = ${amount},
    plan_deadline_seconds = 1, plan_vault = '\\x${'11'.repeat(20)}', plan_chain_id = 1, plan_from_block = 1,
    authorised_at = now()`;
  it.each([
    ['claimed_by_evidence', 'authorised', `state = 'claimed', claimed_at = now(), ${over}`],
    ['claimed_by_evidence', 'authorised', paid],
    ['claimed_by_evidence', 'reverting', paid],
    ['claimed_at_in_its_state', 'authorised', 'claimed_at = now()'],
    ['claimed_at_in_its_state', 'authorised', `state = 'claimed', ${paid}, ${over}`],
    ['reverted_at_in_its_state', 'reverting', 'reverted_at = now()'],
    ['reverted_at_in_its_state', 'reverting', `state = 'reverted', ${over}`],
    [
      'claimed_xor_reverted',
      'authorised',
      `state = 'claimed', claimed_at = now(), reverted_at = now(), ${paid}, ${over}`,
    ],
    ['failed_at_in_its_state', 'created', `state = 'failed', ${over}`],
    ['restored_by_evidence', 'authorised', `state = 'reverting'`],
    ['restored_by_evidence', 'authorised', `state = 'reverted', reverted_at = now(), ${over}`],
    ['evidence_of_its_kind', 'authorised', `state = 'reverting', ${expired('paid')}`],
    ['dead_only_where_authorised', 'deducted', dead],
    ['plan_in_its_state', 'deducted', `state = 'authorised'`],
    ['plan_in_its_state', 'deducted', plan()],
    ['whole_plan', 'deducted', 'plan_deadline_seconds = 1'],
    ['plan_of_this_redemption', 'deducted', `state = 'authorised', ${plan('1')}`],
    ['deducted_in_its_state', 'deducting', `state = 'deducted', open_call = NULL`],
    [
      'deducted_before_paying',
      'deducting',
      `state = 'reverting', open_call = NULL, ${dead}, ${plan()}`,
    ],
    [
      'failed_without_deduction',
      'deducted',
      `state = 'failed', failed_at = now(), unproven_attempts = 0, ${over}`,
    ],
    ['exposed_while_unproven', 'deducting', `exposure = 'none'`],
    ['open_call_in_its_state', 'deducting', call('"step":"revert",')],
    ['open_call_in_its_state', 'deducting', call()],
    ['open_call_in_its_state', 'created', call('"step":"deduct",')],
    ['has_next_step', 'deducted', over],
    ['has_next_step', 'reverting', `state = 'attention', resume = 'reverting'`],
    ['resume_in_attention', 'reverting', `state = 'attention', ${over}`],
    ['resume_in_attention', 'reverting', `resume = 'reverting'`],
    ['pending_once_begun', 'created', `state = 'deducting'`],
    ['whole_lease', 'created', `lease_owner = 'x'`],
    [
      'leased_while_due',
      'reverting',
      `state = 'attention', resume = 'reverting', ${over}, ${LEASE}`,
    ],
  ])('must keep %s: where it is %s, no "%s"', async (constraint, name, set) => {
    await expect(change(name, `${NEXT}, ${set}`)).rejects.toMatchObject({
      sqlState: '23514',
      cause: { constraint },
    });
  });

  it('begins as created, in version 1', async () => {
    const copy = (change: string) => `INSERT INTO redemption.redemption
      SELECT (jsonb_populate_record(r, jsonb_build_object('id', '${aUuid()}',
        'partner', gen_random_uuid()) || '${change}')).*
      FROM redemption.redemption r WHERE id = '${at['created']?.id ?? ''}'`;
    for (const wrong of [`{"version": 2}`, `{"state": "deducting"}`]) {
      await expect(database.query({ text: copy(wrong) })).rejects.toMatchObject(REFUSED);
    }
    const silent = database.query({ text: copy('{}') });
    await expect(silent).rejects.toThrow('has no transition row');
  });

  it('moves only together with its transition, and calls only together with the call', async () => {
    const id = at['created']?.id ?? '';
    const text = `UPDATE redemption.redemption SET ${NEXT}, reason = 'x' WHERE id = '${id}'`;
    await expect(database.query({ text })).rejects.toThrow('has no transition row');
    const call = JSON.stringify({ step: 'deduct', requestId: aUuid(), startedAtMs: 1 });
    await expect(change('deducting', `${NEXT}, open_call = '${call}'`)).rejects.toThrow(
      'has no call row',
    );
  });

  it('is one open redemption of a wallet and partner, whatever the limits say', async () => {
    const { wallet, partner } = at['deducting'] ?? aNewRedemption();
    const second = aNewRedemption({ wallet, partner });
    await expect(store.create(second, aKey(), someLimits({ maxOpen: 9 }))).rejects.toMatchObject({
      sqlState: '23505',
      cause: { constraint: 'redemption_open' },
    });
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

  it('has a call whose end is written once', async () => {
    const requestId = at['deducting']?.openCall?.requestId ?? aUuid();
    const end = { requestId, outcome: 'answer', record: {} };
    expect(await store.endCall(end)).toBe(true);
    const text = `UPDATE redemption.partner_call SET outcome = 'x' WHERE request_id = '${requestId}'`;
    await expect(database.query({ text })).rejects.toMatchObject(REFUSED);
  });
});

describe('the role that only reads', () => {
  it.each([
    'redemption.redemption',
    'redemption.transition',
    'redemption.partner_call',
    'redemption.confirmation',
    'redemption.idempotency_key',
    'redemption.audit',
    'redemption.nonce',
    'partners.callback',
  ])('cannot read %s', async (table) => {
    const reader = await test.open({ readOnly: true, poolSize: 1 });
    await expect(reader.query({ text: `SELECT FROM ${table}` })).rejects.toMatchObject({
      sqlState: '42501',
    });
  });
});
