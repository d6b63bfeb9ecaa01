/**
 * Tests the usual mistakes of a partner's engineer who is new to the pages, and what the pages of partners and operators
 * keep: typed text, secrets that are shown once, and the keyboard focus.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { mintUuidV7 } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { PAGE_PATIENCE_MS } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
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

describe('the signature debugger', () => {
  const PATH = 'Path as it was sent, with the query if there was one';
  const query = '?walletAddress=0x1&lastDays=7';
  const content = `GET/api/staking/snapshots${query}{"success":true}`;
  const sign = () => hmacSha256Hex(desk.bench.acme.credential.sharedSecret, content);

  it('asks for the query where it was left out, and names the mistake with it', async () => {
    await member();
    await visit.goto('/partner/signature');
    expect(await box(PATH).inputValue()).toBe('');
    await box(PATH).fill('/api/staking/snapshots');
    await box('Body, byte for byte').fill('{"success":true}');
    await box('Your signature').fill(sign());
    await visit.press('Explain');
    await visit.page.getByText('Was there a query behind the path?').waitFor();
    await box(PATH).fill(`/api/staking/snapshots${query}`);
    await visit.press('Explain');
    await visit.page.getByText(QUERY_SIGNED).waitFor();
    await visit.page.reload();
    expect(await box('Your signature').inputValue()).toBe(sign());
  });

  it('keeps what was typed where the session has ended meanwhile, and goes on after the sign-in', async () => {
    await member();
    await visit.goto('/partner/signature');
    await box(PATH).fill(`/api/staking/snapshots${query}`);
    await box('Body, byte for byte').fill('{"success":true}');
    await box('Your signature').fill(sign());
    await visit.context.clearCookies();
    await visit.press('Explain');
    const dialog = visit.dialog(AGAIN);
    await dialog.getByText('Your session has ended.').waitFor();
    await visit.press(SIGN, dialog);
    await visit.page.getByText(QUERY_SIGNED).waitFor();
    expect(await box('Body, byte for byte').inputValue()).toBe('{"success":true}');
  });

  it('leads to the sign-in, which says why, where the person does not sign in there', async () => {
    await member();
    await visit.goto('/partner/signature');
    await box(PATH).fill('/');
    await box('Your signature').fill('x');
    await visit.context.clearCookies();
    await visit.press('Explain');
    await visit.dialog(AGAIN).waitFor();
    await visit.page.keyboard.press('Escape');
    await visit.heading('Sign in for a partner');
    await visit.page.getByText('Your session has ended.').waitFor();
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

it('a credential that was replaced is not replaced again', async () => {
  await member();
  await visit.goto('/partner/credentials');
  await visit.press('Replace');
  await visit.press('Replace', visit.dialog('Replace'));
  await visit.press('I have stored them');
  await visit.page.getByText(/Replaced, works until/).waitFor();
  expect(await visit.page.getByRole('button', { name: 'Replace', exact: true }).count()).toBe(1);
  expect(await visit.page.getByRole('button', { name: 'Revoke', exact: true }).count()).toBe(2);
});

it('a redemption has plain words, its tokens, and how often its confirmation was sent', async () => {
  await member();
  const { database } = desk.bench.console;
  const { id } = await aStored(database, desk.bench.acme.id, 'claimed');
  await aStored(database, desk.bench.acme.id, 'authorised');
  await database.pool.query(
    `UPDATE redemption.confirmation SET state = 'delivered', attempts = 1, delivered_at = now(), next_action_at = NULL,
        version = version + 1 WHERE redemption_id = $1`,
    [id],
  );
  for (const at of [Date.now() - 2000, Date.now() - 1000]) {
    await database.pool.query(
      `INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step) VALUES ($1, $2, $3, 'confirm')`,
      [mintUuidV7(at, randomBytes(10)), id, desk.bench.acme.id],
    );
  }
  await visit.goto('/partner/redemptions');
  const row = (state: string) => visit.page.getByRole('row').filter({ hasText: state });
  await visit.press('Show', row('claimed').filter({ hasNotText: 'ready' }));
  const dialog = visit.dialog('Redemption');
  await dialog.getByText('delivered, sent 2 times').waitFor();
  await dialog.getByText('the tokens were paid', { exact: true }).waitFor();
  await dialog.getByText('340 tokens').waitFor();
  await dialog.getByRole('button', { name: 'Send the confirmation again' }).click();
  await dialog.getByText('on its way, sent 2 times').waitFor();
  await visit.page.keyboard.press('Escape');
  await visit.press('Show', row('ready to be claimed'));
  await visit.dialog('Redemption').getByText('None yet: it comes when').waitFor();
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
  for (const [width, path, name] of [
    [768, '/partner/requests', 'Show'],
    [768, '/partner/calls', 'Show'],
    [390, '/partner/requests', 'Show'],
    [390, '/partner/calls', 'Show'],
    [390, '/partner/credentials', 'Revoke'],
  ] as const) {
    await visit.page.setViewportSize({ width, height: 844 });
    await visit.goto(path);
    const button = visit.page.getByRole('button', { name, exact: true }).first();
    await button.waitFor();
    expect([width, path, await isInSight(button)]).toEqual([width, path, true]);
    // No column may cover another: the table must not be wider than its visible part.
    const beyond = await visit.page.evaluate(
      '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".scrolls"))',
    );
    expect([width, path, beyond]).toEqual([width, path, 0]);
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

describe('with a browser in German', () => {
  it('the pages that are in English say so, have no choice, and dates in English', async () => {
    await member();
    const context = await desk.browser.newContext({ locale: 'de-DE' });
    await context.addCookies(await visit.context.cookies());
    const page = await context.newPage();
    await page.goto(`${desk.bench.console.origin}/partner/credentials`);
    await page.getByRole('heading', { name: 'Credentials', level: 1 }).waitFor();
    const lang = () => page.evaluate('document.documentElement.lang');
    expect(await lang()).toBe('en');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await page.getByRole('combobox', { name: /Language|Sprache/ }).count()).toBe(0);
    expect(await page.locator('time').first().textContent()).toMatch(/[AP]M/);
    await page.goto(`${desk.bench.console.origin}/redeem/no/such/page`);
    await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
    await page.getByRole('combobox', { name: 'Sprache' }).waitFor();
    expect(await lang()).toBe('de');
    await context.close();
  });
});

describe('an operator', () => {
  it('reads of the fields of the page, not of options of the command line', async () => {
    visit = await desk.operator();
    await visit.goto(`/operate/partners/${desk.bench.beta.id}`);
    await visit.press('Change');
    const dialog = visit.dialog('Terms and callback');
    await dialog.getByLabel('Callback URL').fill('http://127.0.0.1:1/game');
    await visit.press('Set', dialog);
    const alert = dialog.getByRole('alert');
    await alert.getByText('“Development: accept http and private addresses” takes it').waitFor();
    expect(await alert.textContent()).not.toContain('--');
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
});

describe('what is shown once', () => {
  async function staysOpen(visit: DeskVisit, dialog: Locator): Promise<void> {
    await visit.page.keyboard.press('Escape');
    await visit.page.mouse.click(5, 5);
    expect(await dialog.getByRole('button', { name: 'Close', exact: true }).count()).toBe(0);
    expect(await dialog.isVisible()).toBe(true);
  }

  it('the credential of a new partner stays until it is said that it is kept', async () => {
    visit = await desk.operator();
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
    const { id } = await desk.bench.partner('Twice');
    visit = await desk.operator();
    await visit.goto(`/operate/partners/${id}`);
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
