/**
 * Tests the usual mistakes of a partner's engineer who is new to the pages, and what the pages of partners and operators
 * keep: typed text, and the keyboard focus.
 */
import { describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { hmacSha256Hex } from '#libs/signing';
import { PAGE_PATIENCE_MS } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { type Account, anAccount } from '../../apps/console/src/testing/console-harness.support.js';
import { type OwnPartner, PartnerBench, WALLET } from '../console/partner-bench.support.js';
import { storeWronglySigned } from '../console/partner-calls.support.js';
import { seedRequests } from './desk-rows.js';
import { useDesk } from './desk.js';
import { type DeskVisit, WALLET_NAME } from './desk-visit.js';

const AGAIN = 'Sign in again';
const SIGN = `Sign in with ${WALLET_NAME}`;

const desk = useDesk((place) => PartnerBench.start({}, place));
let visit: DeskVisit;

async function member({ id }: OwnPartner = desk.bench.acme, account?: Account): Promise<void> {
  visit = await desk.member(id, account);
}

const box = (name: string) => visit.page.getByRole('textbox', { name, exact: true });
const region = (name: string, of: Locator) => of.getByRole('region', { name, exact: true });
const QUERY_SIGNED = 'The query string is signed; only the path is.';

it('the signature debugger asks for the query that was left out, and keeps what was typed over a sign-in', async () => {
  const path = 'Path as it was sent, with the query if there was one';
  const query = '?walletAddress=0x1&lastDays=7';
  const content = `GET/api/staking/snapshots${query}{"success":true}`;
  const signature = hmacSha256Hex(desk.bench.acme.credential.sharedSecret, content);
  await member();
  await visit.goto('/partner/signature');
  expect(await box(path).inputValue()).toBe('');
  await box(path).fill('/api/staking/snapshots');
  await box('Body, byte for byte').fill('{"success":true}');
  await box('Your signature').fill(signature);
  await visit.press('Explain');
  await visit.page.getByText('Was there a query behind the path?').waitFor();
  await box(path).fill(`/api/staking/snapshots${query}`);
  await visit.press('Explain');
  await visit.page.getByText(QUERY_SIGNED).waitFor();
  await visit.page.reload();
  expect(await box('Your signature').inputValue()).toBe(signature);

  await visit.context.clearCookies();
  await visit.press('Explain');
  const dialog = visit.dialog(AGAIN);
  await dialog.getByText('Your session has ended.').waitFor();
  await visit.press(SIGN, dialog);
  await visit.page.getByText(QUERY_SIGNED).waitFor();
  expect(await box('Body, byte for byte').inputValue()).toBe('{"success":true}');

  await visit.context.clearCookies();
  await visit.press('Explain');
  await dialog.waitFor();
  await visit.page.keyboard.press('Escape');
  await visit.heading('Sign in for a partner');
  await visit.page.getByText('Your session has ended.').waitFor();
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

it('revoking the last credential says what it means before it is done, and where to go after it', async () => {
  await member(desk.bench.beta);
  await visit.goto('/partner/credentials');
  await visit.press('Revoke');
  const dialog = visit.dialog('Revoke?');
  await dialog.getByText('Only your operator can give you a new one').waitFor();
  const revoke = dialog.getByRole('button', { name: 'Revoke', exact: true });
  expect(await revoke.isDisabled()).toBe(true);
  await dialog.getByRole('checkbox', { name: 'Revoke the last one even so' }).check();
  await revoke.click();
  const sentence = visit.page.getByText('No credential works: every request of yours is refused.');
  await sentence.waitFor();
  await visit.goto('/partner/snapshot');
  await sentence.waitFor();
  expect(await visit.page.getByRole('button', { name: 'Ask the api' }).count()).toBe(0);
});

it('a call whose answer is signed wrongly says what to do, and fills in the debugger', async () => {
  await storeWronglySigned(desk.bench.console.database, desk.bench.acme.id, WALLET);
  await member();
  await visit.goto('/partner/calls');
  await visit.page.getByRole('columnheader', { name: 'Your answer (its beginning)' }).waitFor();
  const row = visit.page
    .getByRole('row')
    .filter({ hasText: 'The signature of the answer does not verify' });
  await visit.press('Show', row);
  const dialog = visit.dialog('Our call: balance');
  await dialog
    .getByText(/with the base path, without the query.* as 64 lower-case hex digits/)
    .waitFor();
  const asked = await region('What we asked', dialog).textContent();
  expect(asked).toBe(`GET /game/v1/get-points-by-address?address=${WALLET}`);
  const signed = await region('What is signed (base string)', dialog).textContent();
  expect(signed).toMatch(/^GET\/game\/v1\/get-points-by-address[0-9a-f-]{36}\{"address"/);
  await dialog.getByRole('link', { name: 'Explain this signature' }).click();
  await visit.heading('Signature debugger');
  await visit.press('Explain');
  await visit.page.getByText(QUERY_SIGNED).waitFor();
});

async function isInSight(button: Locator): Promise<boolean> {
  const { x, width } = (await button.boundingBox()) ?? { x: Infinity, width: 0 };
  return x >= 0 && x + width <= (visit.page.viewportSize()?.width ?? 0);
}

it('on a phone and a tablet no column of a table covers another, and the name of a wallet is short', async () => {
  await seedRequests(desk.bench.console.database, {
    keyPrefix: desk.bench.acme.prefix,
    hours: 3,
  });
  const account = anAccount();
  await member(desk.bench.acme, account);
  for (const [path, name] of [
    ['/partner/requests', 'Show'],
    ['/partner/calls', 'Show'],
    ['/partner/credentials', 'Revoke'],
  ] as const) {
    await visit.goto(path);
    const button = visit.page.getByRole('button', { name, exact: true }).first();
    await button.waitFor();
    for (const width of [768, 390]) {
      await visit.page.setViewportSize({ width, height: 844 });
      await visit.settled();
      expect([width, path, await isInSight(button)]).toEqual([width, path, true]);
      // No column may cover another: the table must not be wider than its visible part.
      const beyond = await visit.page.evaluate(
        '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".scrolls"))',
      );
      expect([width, path, beyond]).toEqual([width, path, 0]);
    }
  }
  const { address } = account;
  const short = `${address.slice(0, 6)}…${address.slice(-4)}`;
  await visit.page.getByText(new RegExp(short, 'i')).waitFor();
});

it('the only member reads that access cannot be withdrawn, without a button', async () => {
  await desk.bench.console.database.pool.query(
    `UPDATE console.member SET removed_at = now() WHERE partner = $1 AND removed_at IS NULL`,
    [desk.bench.beta.id],
  );
  await member(desk.bench.beta);
  await visit.goto('/partner');
  await visit.page.getByText('The only member: your operator can end the access of all.').waitFor();
  expect(await visit.page.getByRole('button', { name: 'Withdraw access' }).count()).toBe(0);
  await visit.goto('/partner/requests');
  await visit.page.getByText(/refused with 401 never appears here/).waitFor();
});

it('with a browser in German the pages say that they are in English, have no choice, and dates in English', async () => {
  await member();
  const context = await desk.browser.newContext({ locale: 'de-DE' });
  await context.addCookies(await visit.context.cookies());
  const page = await context.newPage();
  await page.goto(`${desk.bench.console.origin}/partner/credentials`);
  await page.getByRole('heading', { name: 'Credentials', level: 1 }).waitFor();
  expect(await page.evaluate('document.documentElement.lang')).toBe('en');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await page.getByRole('combobox', { name: /Language|Sprache/ }).count()).toBe(0);
  expect(await page.locator('time').first().textContent()).toMatch(/[AP]M/);
  await context.close();
});

describe('an operator', () => {
  it('reads what a form is refused for at the field, in the words of the form', async () => {
    visit = await desk.operator();
    await visit.goto(`/operate/partners/${desk.bench.beta.id}`);
    await visit.press('Change');
    const dialog = visit.dialog('Terms and callback');
    const alert = dialog.getByRole('alert');
    const points = dialog.getByRole('textbox', { name: 'USD per point' });
    await points.fill('cheap');
    await visit.press('Set', dialog);
    await alert.getByText('“USD per point” must be a decimal').waitFor();
    expect(await points.getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.innerText()).not.toContain('usdPerPoint');
    await points.fill('');
    await dialog.getByLabel('Callback URL').fill('http://127.0.0.1:1/game');
    await visit.press('Set', dialog);
    await alert.getByText('“Development: accept http and private addresses” takes it').waitFor();
    expect(await alert.textContent()).not.toContain('--');
  });

  it('reads which setting and command adoption needs, on a console without the key', async () => {
    visit = await desk.operator();
    await visit.goto('/operate/adoption');
    await visit.page.getByText('npm run --silent cli -- redemption adopt').waitFor();
    expect(await visit.page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });
});

describe('by keyboard', () => {
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

  it('the focus is back at what opened a dialog, or at the heading where that is gone', async () => {
    const { id } = await desk.bench.partner('Focused');
    visit = await desk.member(id);
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

  it('so is it for what is shown of a row', async () => {
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
  });

  it('the keyboard skips the menu', async () => {
    visit = await desk.operator();
    await visit.goto('/operate/log');
    await visit.heading('Log');
    await visit.page.getByRole('button', { name: 'Sign out' }).focus();
    await visit.page.keyboard.press('Tab');
    await visit.page.keyboard.press('Enter');
    await visit.page.keyboard.press('Tab');
    const focused = await visit.page.evaluate<string>('document.activeElement.labels[0].innerText');
    expect(focused).toBe('Operator');
  });
});
