/** Tests what the pages of partners and operators keep: the keyboard focus, and typed text. */
import { describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { eventually, PAGE_PATIENCE_MS } from '#libs/testing';
import { PartnerBench, WALLET } from '../console/partner-bench.support.js';
import { seedRequests } from './desk-rows.js';
import { useDesk } from './desk.js';
import { type DeskVisit, WALLET_NAME } from './desk-visit.js';

const AGAIN = 'Sign in again';
const SIGN = `Sign in with ${WALLET_NAME}`;

const desk = useDesk((place) => PartnerBench.start({}, place));
let visit: DeskVisit;

const box = (name: string) => visit.page.getByRole('textbox', { name, exact: true });
const focused = () =>
  visit.page.evaluate<string>(
    'document.activeElement.tagName + " " + document.activeElement.textContent',
  );

/** Waits until the element with this tag and text has the focus. */
async function hasFocus(what: string): Promise<void> {
  await eventually(async () => (await focused()) === what, PAGE_PATIENCE_MS);
}

/** Presses a button by keyboard alone. */
async function enter(name: string, of: Locator = visit.page.locator('body')): Promise<void> {
  const button = of.getByRole('button', { name, exact: true }).first();
  await button.waitFor();
  // A dialog that has just opened moves the focus to itself after a moment.
  await visit.settled();
  await button.focus();
  await visit.page.keyboard.press('Enter');
}

describe('by keyboard', () => {
  it('the focus is back at what opened a dialog, or at the heading where that is gone', async () => {
    visit = await desk.member(desk.bench.acme.id);
    await visit.goto('/partner/credentials');
    await enter('Replace');
    await visit.dialog('Replace').waitFor();
    await visit.page.keyboard.press('Escape');
    await hasFocus('BUTTON Replace');
    await enter('Replace');
    await enter('Replace', visit.dialog('Replace'));
    await enter('I have stored them');
    await hasFocus('H1 Credentials');
    const row = visit.page.getByRole('row').filter({ hasText: 'Replaced, works until' });
    await enter('Revoke', row.first());
    await enter('Revoke', visit.dialog('Revoke?'));
    await visit.page.getByText(/^Revoked/).waitFor();
    await hasFocus('H1 Credentials');
  });

  it('so is it for what is shown of a row, and for an operator', async () => {
    await seedRequests(desk.bench.console.database, {
      keyPrefix: desk.bench.acme.prefix,
      hours: 1,
    });
    visit = await desk.member(desk.bench.acme.id);
    await visit.goto('/partner/requests');
    await visit.page.getByText(/refused with 401 never appears here/).waitFor();
    await enter('Show');
    await visit.dialog('Request').waitFor();
    await visit.page.keyboard.press('Escape');
    await hasFocus('BUTTON Show');
    visit = await desk.operator();
    await visit.goto('/operate/partners');
    await enter('New partner');
    await visit.dialog('New partner').waitFor();
    await visit.page.keyboard.press('Escape');
    await hasFocus('BUTTON New partner');
  });
});

it('the snapshot explorer has what was typed after a sign-in', async () => {
  visit = await desk.member(desk.bench.acme.id);
  await visit.goto('/partner/snapshot');
  await box('walletAddress').fill(WALLET);
  await box('lastDays').fill('30');
  await visit.page.getByLabel('Last day (UTC)').fill('2026-11-20');
  await visit.context.clearCookies();
  await visit.press('Ask the api');
  await visit.heading('Sign in for a partner');
  await visit.press(SIGN);
  await visit.heading('Snapshot explorer');
  expect(await box('walletAddress').inputValue()).toBe(WALLET);
  expect(await box('lastDays').inputValue()).toBe('30');
  expect(await visit.page.getByLabel('Last day (UTC)').inputValue()).toBe('2026-11-20');
});

it('the sign-in of an operator by a link names the operator in the command for another one', async () => {
  visit = await desk.open();
  desk.bench.console.clock.set(Date.now() - 600_000);
  await visit.goto(`/sign-in/link#${await desk.bench.console.link()}`);
  await visit.heading('Overview');
  desk.bench.console.clock.set(Date.now());
  await visit.goto('/operate/partners');
  await visit.press('New partner');
  const dialog = visit.dialog('New partner');
  await dialog.getByLabel('Name').fill('Named');
  await visit.press('New partner', dialog);
  await visit
    .dialog(AGAIN)
    .getByText(/^\.\/lowmark console link --role admin --name '[a-z0-9-]+'$/)
    .waitFor();
});
