/**
 * Tests two-person approval with two operators, each with a browser: one requests an action, the other decides, and the
 * action runs once.
 */
import { expect, it } from '@jest/globals';
import { ADMIN, OPERATOR } from '../../apps/console/src/testing/console-harness.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const ACTION = 'End it: the partner took no points';
const REASON = '<b>Their mail of Monday</b> says so.';
/** More than APPROVAL_ABOVE_USD, which is 1,000. */
const USD = { digits: 500_000n, scale: 2 };

const desk = useDesk((place) => DeskBench.start({ APPROVAL_ABOVE_USD: '1000' }, place));

/** Requests in one browser an action on a redemption of 5,000 USD; the action waits for a second operator. */
async function asked(name: string): Promise<{ readonly id: string; readonly first: DeskVisit }> {
  const partner = await desk.bench.game(name);
  const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved', {
    usdAmount: USD,
  });
  const first = await desk.operator(OPERATOR);
  await first.goto(`/operate/redemptions/${id}`);
  await first.press(ACTION);
  await first.dialog(`${ACTION}?`).getByLabel('Reason').fill(REASON);
  await first.press(ACTION, first.dialog(`${ACTION}?`));
  await first.page.getByText('It waits for a second operator').waitFor();
  return { id, first };
}

const request = ({ page }: DeskVisit, id: string) =>
  page.getByRole('region', { name: 'redemption resolve' }).filter({ hasText: id });
const actionsOn = async (id: string) => {
  const { rows } = await desk.bench.console.database.pool.query<{
    actor: string;
    arguments: object;
  }>(
    `SELECT actor, arguments FROM redemption.audit WHERE redemption_id = $1 AND command = 'redemption resolve'`,
    [id],
  );
  return rows;
};

it('the own request cannot be approved; another operator’s approval does it, once', async () => {
  const { id, first } = await asked('Approved');
  await first.page.getByRole('link', { name: 'To the approvals' }).click();
  await request(first, id).getByText('You asked for it: another operator decides.').waitFor();
  const approve = { name: 'Approve and do it' };
  expect(await request(first, id).getByRole('button', approve).count()).toBe(0);
  expect(await actionsOn(id)).toEqual([]);

  // The second operator has the same request in two windows; the later approval is too late.
  const second = await desk.operator(ADMIN);
  const late = await desk.operator(ADMIN);
  for (const visit of [second, late]) await visit.goto('/operate/approvals');
  await request(late, id).getByRole('button', approve).waitFor();
  await late.page.route('**/api/operate/approvals?*', (route) => route.abort());
  const approved = async (visit: DeskVisit) => {
    await request(visit, id).getByRole('button', approve).click();
    await visit.press(approve.name, visit.dialog(`${approve.name}?`));
  };
  await approved(second);
  await request(second, id).waitFor({ state: 'detached' });
  await approved(late);
  await request(late, id).getByRole('alert').waitFor();

  await second.page.getByText('All', { exact: true }).click();
  await request(second, id).getByText('attention -> failed').waitFor();
  const [row, ...more] = await actionsOn(id);
  expect(more).toEqual([]);
  expect(row?.actor).toBe(`operator:${OPERATOR.address.toLowerCase()}`);
  expect(JSON.stringify(row?.arguments)).toContain(ADMIN.address.toLowerCase());
  await first.goto(`/operate/redemptions/${id}`);
  await first.page.getByText('Nothing can be done with it in this state.').waitFor();
});

it('who asked can take it back, and then nothing is done', async () => {
  const { id, first } = await asked('Taken back');
  await first.goto('/operate/approvals');
  await first.press('Take it back', request(first, id));
  await request(first, id).waitFor({ state: 'detached' });
  const second = await desk.operator(ADMIN);
  await second.goto('/operate/approvals');
  await second.page.getByText('All', { exact: true }).click();
  await request(second, id).getByText('withdrawn', { exact: true }).waitFor();
  expect(await actionsOn(id)).toEqual([]);
});

it('a higher budget of a partner waits too, with its reason', async () => {
  const partner = await desk.bench.game('Budgeted');
  const first = await desk.operator(ADMIN);
  await first.goto(`/operate/partners/${partner}`);
  await first.press('Change');
  const form = first.page.getByRole('dialog');
  expect(await form.getByLabel('Reason').count()).toBe(0);
  await form.getByLabel('Tokens in a UTC day').fill('7000000');
  await first.press('Set', form);
  await form
    .getByText(/“Reason” must be given/)
    .first()
    .waitFor();
  await form.getByRole('textbox', { name: 'Reason' }).fill(REASON);
  await first.press('Set', form);
  await first.page.getByText('It waits for a second operator').waitFor();
  await first.goto('/operate/approvals');
  const waiting = first.page.getByRole('region', { name: 'partner set' });
  await waiting.getByText(REASON).waitFor();
  await waiting.getByRole('link', { name: `Budgeted, ${partner}` }).click();
  await first.page.getByRole('heading', { name: 'Budgeted' }).waitFor();
});

it('a lower one is set at once, without a reason', async () => {
  const partner = await desk.bench.game('Cut');
  const first = await desk.operator(ADMIN);
  await first.goto(`/operate/partners/${partner}`);
  await first.press('Change');
  const form = first.page.getByRole('dialog');
  const budget = form.getByLabel('Tokens in a UTC day');
  await budget.fill('1000000.1');
  await form.getByLabel('Reason').waitFor();
  await budget.fill('77.5');
  await form.getByText('A lower budget is set at once').waitFor();
  expect(await form.getByLabel('Reason').count()).toBe(0);
  await first.press('Set', form);
  await first.page
    .getByRole('status')
    .getByText(/^Cut, [0-9a-f-]{36}, is set\.$/)
    .waitFor();
  await first.page
    .getByTitle(/^77\.5/)
    .first()
    .waitFor();
});

it('the end of a pause asks for a reason, and waits with it', async () => {
  const partner = await desk.bench.game('Resumed');
  expect((await desk.bench.cli('partner', 'pause', 'Resumed', '--as', 'mia')).code).toBe(0);
  const first = await desk.operator(OPERATOR);
  await first.goto(`/operate/partners/${partner}`);
  await first.press('Resume');
  const dialog = first.dialog('Resume');
  const reason = dialog.getByLabel('Reason');
  const resume = dialog.getByRole('button', { name: 'Resume', exact: true });
  await reason.waitFor();
  expect(await resume.isDisabled()).toBe(true);
  await reason.fill('   ');
  expect(await resume.isDisabled()).toBe(true);
  await reason.fill(REASON);
  await resume.click();
  await first.page.getByText('It waits for a second operator').waitFor();
  await first.page.getByText('paused', { exact: true }).waitFor();

  const second = await desk.operator(ADMIN);
  await second.goto('/operate/approvals');
  const card = second.page.getByRole('region', { name: 'partner resume' });
  await card.getByText(REASON).waitFor();
  expect(await card.locator('b').filter({ hasText: 'Monday' }).count()).toBe(0);
  await second.press('Approve and do it', card);
  await second.press('Approve and do it', second.dialog('Approve and do it?'));
  await card.waitFor({ state: 'detached' });
  await first.page.reload();
  await first.page.getByText('open', { exact: true }).waitFor();
});
