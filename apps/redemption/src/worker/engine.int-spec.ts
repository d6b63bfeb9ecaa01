import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cancelCalldata, vaultIdOf } from '#libs/chain';
import { DeliveryStore } from '#libs/db';
import { type PartnerId, type UuidV7 } from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { Gate } from '../testing/gate.support.js';
import { SIGNER } from '../testing/stage.support.js';

let bench: EngineBench;
beforeAll(async () => {
  bench = await EngineBench.start();
});
afterAll(() => bench.stop());

function pointsOf({ wallet }: { wallet: string }) {
  return bench.partner.points.get(wallet);
}

function confirmationsOf(id: string) {
  return bench.partner.confirmations.filter((body) => body['svcRedemptionId'] === id);
}

function callsOf(id: string, path: string) {
  const { calls } = bench.partner;
  return calls.filter((one) => one.path === path && one.body['svcRedemptionId'] === id);
}

async function eventsOf(id: UuidV7) {
  return (await bench.views.show(id))?.transitions.map(({ event, to }) => `${event} ${to}`);
}

describe('a redemption', () => {
  it('goes from points to tokens, and the partner is told once', async () => {
    const id = await bench.authorised();
    expect(await bench.claim(id)).toBeUndefined();
    const redemption = await bench.until(id, 'claimed');
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.chain.tokens(redemption.wallet)).toBe(340n);
    expect(redemption.claimedAtMs).toBe(
      (redemption.paidEvidence?.block.timestampSeconds ?? 0) * 1000,
    );
    expect(confirmationsOf(id)).toEqual([
      expect.objectContaining({
        status: 'claimed',
        txnConfirmed: true,
        txnHash: redemption.paidEvidence?.transactionHash,
        deductPoints: POINTS,
      }),
    ]);
    expect(await eventsOf(id)).toEqual([
      'create created',
      'call-due deducting',
      'deduct-confirmed deducted',
      'plan-committed authorised',
      'payout-paid claimed',
    ]);
  });

  it('whose transaction id is another one’s stops in attention', async () => {
    const first = await bench.redeem();
    const { partnerTransactionId } = await bench.until(first, 'authorised');
    bench.partner.next('deduct', () => ({ success: true, partnerTransactionId }));
    const id = await bench.redeem();
    const redemption = await bench.until(id, 'attention');
    expect([redemption.reason, redemption.plan]).toEqual(['transaction-id-reused', null]);
    expect(bench.logs.join('')).toContain('"alert":"transaction-id-reused","severity":"critical"');
  });

  it('that a thief of the canceller’s key cancels gets its points back once; what was claimed stays claimed', async () => {
    const [claimed, open] = [await bench.authorised(), await bench.authorised()];
    const voucher = await bench.voucher(open);
    expect(await bench.claim(claimed)).toBeUndefined();
    const thefts = [claimed, open].map((id) =>
      bench.chain.to(SIGNER, cancelCalldata(vaultIdOf(id))),
    );
    const outcomes = await bench.chain.mine(...thefts);
    expect(outcomes.map(({ error }) => error)).toEqual(['RedemptionNotOpen', undefined]);
    await bench.until(claimed, 'claimed');
    const redemption = await bench.until(open, 'reverted');
    expect(pointsOf(redemption)).toBe(POINTS);
    expect(callsOf(open, '/revert-deduct-points')).toHaveLength(1);
    expect(await bench.send(voucher)).toBe('RedemptionNotOpen');
  });

  it('of a partner that is not there any more ends with its quote where nothing was begun', async () => {
    const id = await bench.redeem({ partner: '00000000-0000-4000-8000-00000000dead' as PartnerId });
    const redemption = await bench.until(id, 'failed');
    expect(redemption.reason).toBe('quote-expired');
    expect(bench.logs.join('')).toContain('partner-not-callable');
  });
});

describe('a poll in which no payout has ended', () => {
  it('writes when each is to be looked at again, all in one statement, and no version', async () => {
    const ids = [await bench.authorised(), await bench.authorised(), await bench.authorised()];
    const versions = async () =>
      (await Promise.all(ids.map((id) => bench.read(id)))).map(({ version }) => version);
    const before = await versions();
    await bench.pass(20);
    await bench.engine.sweep();
    const { pool } = bench.database;
    // Counts these rows in each statement that updates redemptions.
    const these = ids.map((id) => `'${id}'`).join();
    await pool.query(`CREATE TABLE redemption.updated (rows int);
      CREATE FUNCTION redemption.count_updated() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        INSERT INTO redemption.updated SELECT count(*) FROM changed WHERE id IN (${these}) HAVING count(*) > 0;
        RETURN NULL;
      END $$;
      CREATE TRIGGER count_updated AFTER UPDATE ON redemption.redemption REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION redemption.count_updated()`);
    try {
      await bench.pass(20);
      await bench.engine.sweep();
      expect((await pool.query('SELECT rows FROM redemption.updated')).rows).toEqual([{ rows: 3 }]);
    } finally {
      await pool.query(`DROP FUNCTION redemption.count_updated CASCADE;
        DROP TABLE redemption.updated`);
    }
    expect(await versions()).toEqual(before);
    for (const id of ids) await bench.until(id, 'reverted');
  });
});

it('the engine tells what it does in its metrics', async () => {
  const text = await bench.registry.metrics();
  expect(text).toMatch(/lowmark_redemptions\{state="attention"\} 1/);
  expect(text).toMatch(/lowmark_redemption_work_failures_total\{queue="confirmations"\} 0/);
  expect(text).toMatch(/lowmark_redemption_transitions_total\{event="payout-paid"/);
  expect(text).toMatch(/lowmark_partner_call_seconds_count\{partner="The Game",step="deduct"/);
  expect(text).toMatch(
    /lowmark_alerts_total\{code="transaction-id-reused",severity="critical"\} 1/,
  );
});

// The last suite, since it leaves the partner's calls to the gate.
describe('a partner that is down while points wait to go back and confirmations to be taken', () => {
  let gate: Gate;
  let deliveries: DeliveryStore;
  beforeAll(async () => {
    gate = await Gate.closed();
    deliveries = new DeliveryStore(bench.database);
  });
  afterAll(() => {
    gate.close();
  });

  async function threeAuthorised(): Promise<UuidV7[]> {
    const ids = [await bench.redeem(), await bench.redeem(), await bench.redeem()];
    for (const id of ids) await bench.until(id, 'authorised');
    return ids;
  }

  const rowsOf = (ids: readonly UuidV7[]) => Promise.all(ids.map((id) => bench.read(id)));

  async function deliveriesOf(ids: readonly UuidV7[]) {
    const stored = await Promise.all(ids.map((id) => deliveries.get(id)));
    return stored.map((one) => one?.delivery);
  }

  async function countCalls(ids: readonly UuidV7[], step: string): Promise<number> {
    const shown = await Promise.all(ids.map((id) => bench.views.show(id)));
    return shown.flatMap((one) => one?.calls ?? []).filter((call) => call.step === step).length;
  }

  it('for an hour is asked for all that never left when its circuit closes, and no attempt before that counts', async () => {
    const [left, claimed] = [await threeAuthorised(), await threeAuthorised()];
    await bench.setCallback(gate.url);
    for (const id of claimed) expect(await bench.claim(id)).toBeUndefined();
    for (const id of claimed) await bench.until(id, 'claimed');
    for (const id of left) await bench.until(id, 'reverting');
    for (let minutes = 0; minutes < 60; minutes++) {
      await bench.engine.sweep();
      await bench.pass(60);
    }
    const [reverting, owed] = [await rowsOf(left), await deliveriesOf(claimed)];
    expect(reverting.map(({ attempts }) => attempts.revert)).toEqual([0, 0, 0]);
    expect(owed.map((one) => [one?.state, one?.attempts])).toEqual(
      claimed.map(() => ['pending', 0]),
    );
    // Calls that the circuit would hold back are not begun.
    expect(await countCalls(left, 'revert')).toBeLessThan(120);
    expect(await countCalls(claimed, 'confirm')).toBeLessThan(120);

    // The backoff of each alone would be some minutes.
    await gate.open(bench.partner.url);
    const due = [...reverting, ...owed].map((one) => one?.nextActionAtMs ?? 0);
    bench.clock.set(Math.max(Math.min(...due), bench.clock.nowMs()));
    const backAtMs = bench.clock.nowMs();
    const isOver = async () =>
      (await rowsOf(left)).every(({ state }) => state === 'reverted') &&
      (await deliveriesOf(claimed)).every((one) => one?.state === 'delivered');
    for (let seconds = 0; seconds <= 20; seconds++) {
      await bench.engine.sweep();
      if (await isOver()) break;
      await bench.pass(1);
    }
    expect(await isOver()).toBe(true);
    expect(bench.clock.nowMs() - backAtMs).toBeLessThanOrEqual(20_000);
    for (const { wallet } of await rowsOf(left))
      expect(bench.partner.points.get(wallet)).toBe(POINTS);
    expect((await deliveriesOf(claimed)).map((one) => one?.attempts)).toEqual([1, 1, 1]);
    expect(bench.logs.filter((line) => line.includes('could not be brought forward'))).toEqual([]);
  });
});
