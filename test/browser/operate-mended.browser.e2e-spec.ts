/**
 * Tests problems of operators who are new to the pages: links, secrets shown once, services that are down, and actions
 * that wait for a second operator.
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { OPERATOR, type Place } from '../../apps/console/src/testing/console-harness.support.js';
import { seedIndex, STAKER } from '../../apps/console/src/testing/operate-rows.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const ACTION = 'End it: the partner took no points';
/** More than APPROVAL_ABOVE_USD, which is 1,000. */
const USD = { digits: 500_000n, scale: 2 };

let indexer: Server;
const desk = useDesk(startBench);
afterAll(() => {
  if (indexer.listening) indexer.close();
});

/** Starts the bench with an indexer that answers. */
async function startBench(place: Place): Promise<DeskBench> {
  indexer = createServer((_, answer) => {
    answer.setHeader('content-type', 'application/json');
    answer.end(JSON.stringify({ status: 'ready', checks: {} }));
  });
  await new Promise<void>((done) => indexer.listen(0, '127.0.0.1', done));
  const { port } = indexer.address() as AddressInfo;
  const INDEXER_URL = `http://127.0.0.1:${port}`;
  return DeskBench.start({ INDEXER_URL, APPROVAL_ABOVE_USD: '1000' }, place);
}

describe('a link', () => {
  it('that is pasted into the tab of a used one signs in', async () => {
    const [used, fresh] = [await desk.bench.console.link(), await desk.bench.console.link()];
    const first = await desk.open();
    await first.goto(`/sign-in/link#${used}`);
    await first.heading('Overview');

    const { page } = await desk.open();
    await page.goto(`${desk.bench.console.origin}/sign-in/link#${used}`);
    await page.getByText('This link was used or has expired. Make a new one.').waitFor();
    // Like the address bar: a URL that differs only after the # does not reload the page.
    await page.evaluate(`location.href = '/sign-in/link#${fresh}'`);
    await page.getByRole('heading', { name: 'Overview', exact: true }).first().waitFor();
    expect(page.url()).not.toContain(fresh);
  });

  it('without its token is named as such, and not sent', async () => {
    const { page } = await desk.open();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    await page.goto(`${desk.bench.console.origin}/sign-in/link`);
    await page.getByText('This address is not the whole link.').waitFor();
    expect(sent).not.toContain('/api/auth/link');
  });

  it('is what the sign-in page names the commands for, of a clone and of compose', async () => {
    const visit = await desk.open();
    await visit.goto('/operate/sign-in');
    const page = visit.page.getByRole('main');
    await page.getByText('npm run --silent cli -- console link --role admin').waitFor();
    await page.getByText('./lowmark console link --role admin').waitFor();
    expect(await page.innerText()).not.toContain('`');
  });
});

describe('what is shown once', () => {
  async function staysOpen(visit: DeskVisit, dialog: Locator): Promise<void> {
    await visit.page.keyboard.press('Escape');
    await visit.page.mouse.click(5, 5);
    expect(await dialog.getByRole('button', { name: 'Close', exact: true }).count()).toBe(0);
    expect(await dialog.isVisible()).toBe(true);
  }

  it('the credential of a new partner stays until it is said that it is kept', async () => {
    const visit = await desk.operator();
    await visit.goto('/operate/partners');
    await visit.press('New partner');
    const dialog = visit.dialog('New partner');
    await dialog.getByLabel('Name').fill('Kept');
    await dialog.getByLabel('Requests per second').fill('0');
    await dialog.getByText('A whole number, at least 1.').waitFor();
    const create = dialog.getByRole('button', { name: 'New partner', exact: true });
    expect(await create.isDisabled()).toBe(true);
    expect(await dialog.getByLabel('Requests per second').inputValue()).toBe('0');
    await dialog.getByLabel('Requests per second').fill('7');
    await create.click();
    await dialog.getByLabel('Shared secret', { exact: true }).waitFor();
    await staysOpen(visit, dialog);
    await dialog.getByLabel('Shared secret', { exact: true }).waitFor();
    await visit.press('I have them: forget them here');
    await dialog.waitFor({ state: 'detached' });
  });

  it('so do a further credential, and the link of an invitation', async () => {
    const partner = await desk.bench.game('Twice');
    const visit = await desk.operator();
    await visit.goto(`/operate/partners/${partner}`);
    await visit.press('Add a credential');
    await visit.press('Add a credential', visit.dialog('Add a credential'));
    const added = visit.dialog('Add a credential');
    await added.getByLabel('Shared secret', { exact: true }).waitFor();
    await staysOpen(visit, added);
    await visit.press('I have them: forget them here');
    await added.waitFor({ state: 'detached' });

    await visit.press('Invite');
    const invite = visit.dialog('Invite');
    await invite.getByLabel('Whom it is for').fill('ann@game.example');
    await visit.press('Invite', invite);
    await invite.getByLabel('The link', { exact: true }).waitFor();
    await staysOpen(visit, invite);
    await visit.press('I have it: forget it here');
    await invite.waitFor({ state: 'detached' });
  });
});

describe('redemptions', () => {
  it('have their amounts on a screen of 1280 px', async () => {
    const partner = await desk.bench.game('A partner with a name of some length');
    const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved');
    const visit = await desk.operator(OPERATOR);
    await visit.page.setViewportSize({ width: 1280, height: 900 });
    await visit.goto('/operate/redemptions');
    const table = visit.page.getByRole('region', { name: 'To do' });
    await table.getByRole('row').filter({ hasText: id }).waitFor();
    const region = await table.boundingBox();
    const rightOf = ({ x, width }: { x: number; width: number }) => x + width;
    for (const name of ['Points', 'Tokens', 'USD']) {
      const box = await table.getByRole('columnheader', { name, exact: true }).boundingBox();
      if (box === null || region === null) throw new Error('nothing is shown');
      expect([name, rightOf(box) <= rightOf(region) + 1]).toEqual([name, true]);
    }
    const scrolled = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
      document.querySelector('[role=region][aria-label="To do"]'))`;
    expect(await visit.page.evaluate<number>(scrolled)).toBeLessThanOrEqual(0);
  });

  it('in attention name the buttons, also of what cannot be done yet, and from when', async () => {
    const partner = await desk.bench.game('Early');
    const stored = await desk.bench.stored(partner, 'attention: deduction-unresolved');
    const { id, lastDeductAtMs } = stored;
    desk.bench.console.clock.set((lastDeductAtMs ?? 0) + 60_000);
    const visit = await desk.operator(OPERATOR);
    await visit.goto(`/operate/redemptions/${id}`);
    const waits = visit.page.getByRole('region', { name: 'How it stands' });
    await waits.getByText(/^It waits for an operator\./).waitFor();
    await waits.getByText(`“${ACTION}”`).waitFor();
    expect(await waits.innerText()).not.toContain('`');
    const actions = visit.page.getByRole('region', { name: 'Actions' });
    const button = actions.getByRole('button', { name: ACTION });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    const from = new Date((lastDeductAtMs ?? 0) + 600_001).toISOString();
    await actions.getByText(/Possible from .* UTC on\./).waitFor();
    expect(await actions.locator(`time[datetime="${from}"]`).count()).toBe(1);
    expect(await actions.innerText()).not.toContain(from);
  });
});

it('a second operator sees the worth, the partner and the redemption, and is asked once more', async () => {
  const partner = await desk.bench.game('Worth');
  const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved', {
    usdAmount: USD,
  });
  const first = await desk.operator(OPERATOR);
  await first.goto(`/operate/redemptions/${id}`);
  await first.press(ACTION);
  const asking = first.dialog(`${ACTION}?`);
  await asking.getByText('This is final: nothing takes it back.').waitFor();
  await asking.getByText('from 1000 USD on another operator than you approves it').waitFor();
  await asking.getByLabel('Reason').fill('Their mail says so.');
  await first.press(ACTION, asking);
  await first.page.getByText('It waits for a second operator').waitFor();

  const second = await desk.operator();
  await second.goto('/operate');
  const figures = second.page.getByRole('region', { name: 'Redemptions' });
  await figures.getByText('1 waits for a second operator').waitFor();
  const menu = second.page.getByRole('navigation');
  await menu.getByRole('img', { name: '1 waits for a second operator' }).waitFor();
  await menu.getByRole('link', { name: 'Approvals' }).click();
  await second.page.getByText('Actions on redemptions of 1000 USD or more wait here').waitFor();
  const card = second.page.getByRole('region', { name: 'redemption resolve' });
  await card.getByTitle('5000.00', { exact: true }).waitFor();
  await card.getByText('Worth', { exact: true }).waitFor();
  const link = card.getByRole('link', { name: id });
  expect(await link.getAttribute('href')).toBe(`/operate/redemptions/${id}`);

  await second.press('Approve and do it', card);
  const dialog = second.dialog('Approve and do it?');
  await dialog.getByText('cannot be taken back').waitFor();
  await second.press('Cancel', dialog);
  await dialog.waitFor({ state: 'detached' });
  await second.press('Approve and do it', card);
  await second.press('Approve and do it', dialog);
  await second.page.getByRole('status').getByText('attention -> failed').waitFor();
  await card.waitFor({ state: 'detached' });
  await menu.getByRole('img').waitFor({ state: 'detached' });
});

it('an overview whose services are silent says so in every card', async () => {
  // Seeded in this test, since an index counts as level for one minute only.
  await seedIndex(desk.bench.console.database, Date.now());
  const visit = await desk.operator();
  await visit.goto('/operate');
  const alerts = visit.page.getByRole('region', { name: 'Alerts' });
  const index = visit.page.getByRole('region', { name: 'Index' });
  await index.getByText('level with the chain').waitFor();
  await alerts.getByText('The api does not answer').waitFor();
  await alerts.getByText('No Alertmanager is set.').waitFor();
  expect(await alerts.getByText('The indexer does not answer').count()).toBe(0);

  indexer.closeAllConnections();
  await new Promise((done) => indexer.close(done));
  await visit.goto('/operate');
  await alerts.getByText('The indexer does not answer').waitFor();
  await index.getByText('the indexer does not answer').waitFor();
  expect(await index.getByText('level with the chain').count()).toBe(0);
});

it('an index that is behind says what the api does then, and how old a balance is', async () => {
  const { pool } = desk.bench.console.database;
  await pool.query('UPDATE staking.index_state SET head_seconds = head_seconds - 660');
  const visit = await desk.operator();
  await visit.goto('/operate');
  const alerts = visit.page.getByRole('region', { name: 'Alerts' });
  await alerts.getByText(/^The index is .* behind\. The API refuses snapshots from/).waitFor();
  await visit.goto(`/operate/wallets/${STAKER}`);
  await visit.page.getByText(/^as of 1\d min .* ago$/).waitFor();
});

it('a held price is critical, and is accepted on the page', async () => {
  await desk.bench.console.database.query({
    text: `INSERT INTO staking.price_hold (reason, before_usd, max_change, usd, source, observed_at)
      VALUES ('jump', 0.15, 0.2, 0.3, 'fixed', now())`,
  });
  const visit = await desk.operator();
  await visit.goto('/operate');
  const alerts = visit.page.getByRole('region', { name: 'Alerts' });
  const alert = alerts.getByText('PriceHeld').locator('..');
  await alert.getByText('critical').waitFor();
  await alerts.getByText('Nothing can be redeemed until you accept one.').waitFor();
  await visit.press('Accept a price');
  const dialog = visit.dialog('Which price is right?');
  const accept = dialog.getByRole('button', { name: 'Accept this price' });
  expect(await accept.isDisabled()).toBe(true);
  await dialog.getByLabel('US dollars for one token').fill('0.5');
  await dialog.getByLabel('Reason').fill('Two exchanges say so.');
  await accept.click();
  await visit.page.getByText('It waits for a second operator').waitFor();
  const second = await desk.operator(OPERATOR);
  await second.goto('/operate/approvals');
  const card = second.page.getByRole('region', { name: 'price accept' });
  await second.press('Approve and do it', card);
  await second.press('Approve and do it', second.dialog('Approve and do it?'));
  await second.page
    .getByText(/too far from the one that was named/)
    .first()
    .waitFor();
});

it('a partner with trouble is not shown as good, and dollars have cents', async () => {
  const partner = await desk.bench.game('Troubled');
  await desk.bench.stored(partner, 'attention: deduction-unresolved', {
    usdAmount: { digits: 228n, scale: 1 },
  });
  const visit = await desk.operator();
  await visit.goto('/operate/partners');
  const row = visit.page.getByRole('row').filter({ hasText: 'Troubled' });
  await row.getByText('1 redemption needs attention').waitFor();
  await visit.goto('/operate/redemptions');
  await visit.page.getByText('22.80', { exact: true }).first().waitFor();
});

it('what a form is refused for is said at the field, in the words of the form', async () => {
  const partner = await desk.bench.game('Terms');
  const visit = await desk.operator();
  await visit.goto(`/operate/partners/${partner}`);
  await visit.press('Change');
  const dialog = visit.dialog('Terms and callback');
  await dialog.getByLabel('USD per point').fill('cheap');
  await visit.press('Set', dialog);
  await dialog.getByRole('alert').getByText('“USD per point” must be a decimal').waitFor();
  expect(
    await dialog.getByRole('textbox', { name: 'USD per point' }).getAttribute('aria-invalid'),
  ).toBe('true');
  expect(await dialog.innerText()).not.toContain('usdPerPoint');
});

it('the keyboard skips the menu', async () => {
  const visit = await desk.operator();
  await visit.goto('/operate/log');
  await visit.heading('Log');
  await visit.page.getByRole('button', { name: 'Sign out' }).focus();
  await visit.page.keyboard.press('Tab');
  await visit.page.keyboard.press('Enter');
  await visit.page.keyboard.press('Tab');
  const focused = await visit.page.evaluate<string>('document.activeElement.labels[0].innerText');
  expect(focused).toBe('Operator');
});
