/** Tests the list of points that a conformance run could not give back to the partner's player. */
import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { type OwnPartner, PartnerBench, WALLET } from '../console/partner-bench.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const TITLE = 'Points of earlier runs are not back yet';
const MARKUP = `<img src=x onerror="document.title='taken'">`;

const desk = useDesk((place) => PartnerBench.start({}, place));
let visit: DeskVisit;

async function open({ id }: OwnPartner): Promise<void> {
  visit = await desk.member(id);
  await visit.goto('/partner/conformance');
  await visit.page.getByRole('button', { name: 'Run the tester' }).waitFor();
  await visit.page.waitForLoadState('networkidle');
}

/**
 * Inserts a deduction as a console has it that took over from a killed one. It is due far in the future, so that no
 * console retries it during the test.
 */
async function left(partner: OwnPartner, transactionId: string | null, attempts = 3) {
  const redemptionId = randomUUID();
  const { rows } = await desk.bench.console.database.pool.query<{ dueAt: Date }>(
    `INSERT INTO console.conformance_deduction (redemption_id, run_id, partner, address, points, transaction_id, attempts, due_at)
      VALUES ($1, gen_random_uuid(), $2, $3, 2.5, $4, $5, now() + interval '1 day') RETURNING due_at AS "dueAt"`,
    [redemptionId, partner.id, WALLET, transactionId, attempts],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('it was added');
  return { redemptionId, dueAt: row.dueAt };
}

it('are not there where nothing is open, or where a run still has it', async () => {
  await left(desk.bench.acme, 'TX-0', 0);
  await open(desk.bench.acme);
  expect(await visit.page.getByText(TITLE).count()).toBe(0);
});

it('are listed with what finds them in the partner’s own books, and when they are tried again', async () => {
  const [named, silent] = [await left(desk.bench.acme, MARKUP), await left(desk.bench.acme, null)];
  await open(desk.bench.acme);
  const alert = visit.page.getByRole('alert').filter({ hasText: TITLE });
  await alert.getByText('answer that with ERR-ALREADY-REVERTED').waitFor();
  const table = visit.page.getByRole('region', { name: TITLE });
  const row = table.getByRole('row').filter({ hasText: named.redemptionId });
  await row.getByText(MARKUP).waitFor();
  await row.getByText(WALLET).waitFor();
  await row.getByText('2.5', { exact: true }).waitFor();
  expect(await row.locator('time').getAttribute('datetime')).toBe(named.dueAt.toISOString());
  const other = table.getByRole('row').filter({ hasText: silent.redemptionId });
  await other.getByText('–', { exact: true }).waitFor();
  expect(await table.getByRole('row').count()).toBe(3);
  expect(await visit.page.locator('img').count()).toBe(0);
  expect(await visit.findings()).toEqual([]);
});

it('of another partner are not there, and those that are back are gone', async () => {
  const { redemptionId } = await left(desk.bench.beta, 'TX-9');
  await open(desk.bench.beta);
  const table = visit.page.getByRole('region', { name: TITLE });
  await table.getByText(redemptionId).waitFor();
  expect(await table.getByRole('row').count()).toBe(2);
  await desk.bench.console.database.pool.query(
    'DELETE FROM console.conformance_deduction WHERE redemption_id = $1',
    [redemptionId],
  );
  await visit.page.reload();
  await visit.page.getByRole('button', { name: 'Run the tester' }).waitFor();
  await visit.page.waitForLoadState('networkidle');
  expect(await visit.page.getByText(TITLE).count()).toBe(0);
});
