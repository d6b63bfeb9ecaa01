import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId, type UuidV7 } from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';

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

  it('that nobody claims gets its points back, and no tokens move afterwards', async () => {
    const id = await bench.redeem();
    const redemption = await bench.until(id, 'reverted');
    expect(redemption.deadEvidence).toMatchObject({ outcome: 'dead', reason: 'expired' });
    expect(pointsOf(redemption)).toBe(POINTS);
    expect(await bench.claim(id)).toBe('VoucherExpired');
    expect(confirmationsOf(id)).toEqual([
      expect.objectContaining({ status: 'reverted', txnConfirmed: false }),
    ]);
  });

  it('that is refused fails, and the partner hears no more of it', async () => {
    const id = await bench.redeem({}, POINTS - 1);
    const redemption = await bench.until(id, 'failed');
    expect(redemption.reason).toBe('insufficient-points');
    expect(pointsOf(redemption)).toBe(POINTS - 1);
    expect(confirmationsOf(id)).toEqual([]);
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

  it('that its user cancels is cancelled on chain before the points go back', async () => {
    const id = await bench.authorised();
    await bench.cancel(id);
    const redemption = await bench.until(id, 'reverted');
    expect(redemption.deadEvidence).toMatchObject({ reason: 'cancelled' });
    expect(redemption.reason).toBe('user-cancelled');
    expect(pointsOf(redemption)).toBe(POINTS);
  });

  it('of a partner that is not there any more ends with its quote where nothing was begun', async () => {
    const id = await bench.redeem({ partner: '00000000-0000-4000-8000-00000000dead' as PartnerId });
    const redemption = await bench.until(id, 'failed');
    expect(redemption.reason).toBe('quote-expired');
    expect(bench.logs.join('')).toContain('partner-not-callable');
  });
});

describe('a poll in which no payout has ended', () => {
  it('writes each open payout once, all in one statement', async () => {
    const ids = [await bench.authorised(), await bench.authorised(), await bench.authorised()];
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
    for (const id of ids) await bench.until(id, 'reverted');
  });
});

describe('the engine', () => {
  it('tells what it does in its metrics', async () => {
    const text = await bench.registry.metrics();
    expect(text).toMatch(/lowmark_redemptions\{state="attention"\} 1/);
    expect(text).toMatch(/lowmark_redemption_work_failures_total\{queue="confirmations"\} 0/);
    expect(text).toMatch(/lowmark_redemption_transitions_total\{event="payout-paid"/);
    expect(text).toMatch(/lowmark_partner_call_seconds_count\{partner="The Game",step="deduct"/);
    expect(text).toMatch(
      /lowmark_alerts_total\{code="transaction-id-reused",severity="critical"\} 1/,
    );
  });

  it('writes nothing while a payout is open', async () => {
    const id = await bench.redeem();
    const { version } = await bench.until(id, 'authorised');
    for (let turn = 0; turn < 5; turn++) {
      await bench.pass(20);
      await bench.engine.sweep();
    }
    expect((await bench.read(id)).version).toBe(version);
  });
});
