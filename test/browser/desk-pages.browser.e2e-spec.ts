/** Tests the operators' pages of partners and redemptions in a browser, against the console and its database. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { eventually } from '#libs/testing';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const NAME = `<img src=x onerror="document.title='taken'"> ${'🎮'.repeat(20)}`;
/** Folder for screenshots for people to look at; none where it is not set. */
const PICTURES = process.env['SCREENSHOTS'];

const desk = useDesk((place) => DeskBench.start({}, place));
let visit: DeskVisit;
let page: Page;
beforeEach(async () => {
  visit = await desk.open();
  ({ page } = visit);
  await visit.goto(`/sign-in/link#${await desk.bench.console.link()}`);
  await heading('Overview');
});

const heading = (name: string) => visit.heading(name);
const press = (name: string, of?: Locator) => visit.press(name, of);
const dialog = () => page.getByRole('dialog');
const follow = (name: string) => page.getByRole('link', { name, exact: true }).first().click();

/** Reads the shared secret that a dialog shows, and closes the dialog. */
async function takeCredential(): Promise<string> {
  const secret = await dialog().getByLabel('Shared secret', { exact: true }).inputValue();
  await press('I have them: forget them here', dialog());
  await dialog().waitFor({ state: 'detached' });
  return secret;
}

async function picture(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

it('a partner is created, rotated, revoked, paused; its secret is shown once', async () => {
  await follow('Partners');
  await heading('Partners');
  await press('New partner');
  await dialog().getByText('The partner gets its first credential').waitFor();
  await dialog().getByLabel('Name').fill(NAME);
  await picture('create');
  await press('New partner', dialog());
  const secret = await takeCredential();
  expect(secret).not.toBe('');
  await follow(NAME);
  await heading(NAME);
  await eventually(async () => (await page.title()) === `${NAME} · Lowmark`);
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.content()).not.toContain(secret);

  await press('Change');
  const fields = {
    'Callback URL': 'https://game.example/v1',
    'Callback key': 'a-key-of-the-game-1234',
    'Callback secret': 'the-secret-of-the-game',
    'USD per point': '0.01',
    'Tokens in a UTC day': '1000',
  };
  for (const [label, text] of Object.entries(fields)) {
    await dialog().getByLabel(label, { exact: true }).fill(text);
  }
  await picture('terms');
  await press('Set', dialog());
  await dialog().waitFor({ state: 'detached' });
  await page.getByText('https://game.example/v1').waitFor();
  expect(await page.content()).not.toContain('the-secret-of-the-game');

  await press('Add a credential');
  await press('Add a credential', dialog());
  await takeCredential();
  const revokers = page.getByRole('button', { name: /^Revoke svck_/ });
  await revokers.nth(1).waitFor();
  await revokers.first().click();
  await dialog().getByText('This cannot be taken back.').waitFor();
  await dialog()
    .getByRole('button', { name: /^Revoke svck_/ })
    .click();
  await dialog().waitFor({ state: 'detached' });
  await revokers.nth(1).waitFor({ state: 'detached' });
  // Revoking the last credential asks for a second confirmation.
  await revokers.first().click();
  const revoke = dialog().getByRole('button', { name: /^Revoke svck_/ });
  expect(await revoke.isDisabled()).toBe(true);
  await dialog().getByRole('checkbox').check();
  await revoke.click();
  await dialog().waitFor({ state: 'detached' });
  await revokers.first().waitFor({ state: 'detached' });

  await press('Pause');
  await dialog().getByText('No new redemptions are taken').waitFor();
  await press('Pause', dialog());
  await page.getByText('paused', { exact: true }).waitFor();
  await picture('partner');
});

it('a stuck redemption is found from the overview in three clicks, and resolved', async () => {
  const partner = await desk.bench.game('Stuck <b>');
  const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved');
  await visit.goto('/operate');
  await heading('Overview');
  await follow('Redemptions');
  await follow(id);
  await heading(id);
  await page.getByText('an operator.').first().waitFor();
  await picture('redemption');
  await press('End it: the partner took no points');
  await dialog().getByRole('heading', { name: 'End it: the partner took no points?' }).waitFor();
  await dialog().getByText(`Redemption ${id} ends as failed`).waitFor();
  const end = dialog().getByRole('button', { name: 'End it: the partner took no points' });
  expect(await end.isDisabled()).toBe(true);
  await dialog().getByLabel('Reason').fill('Asked by phone: it is not in their books.');
  await end.click();
  await page.getByText('attention -> failed').waitFor();
  await visit.goto(`/operate/log`);
  await page.getByText('reason: Asked by phone: it is not in their books.').waitFor();
});

it('an action that was decided on an old view is refused with what has changed', async () => {
  const partner = await desk.bench.game('Stale');
  const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved');
  await visit.goto(`/operate/redemptions/${id}`);
  await press('End it: the partner took no points');
  await dialog().getByLabel('Reason').fill('Asked by phone.');
  const as = ['--as', 'another'];
  expect((await desk.bench.cli('redemption', 'set-partner-tx', id, 'tx-9', ...as)).code).toBe(0);
  await press('End it: the partner took no points', dialog());
  await dialog().getByText('by operator-set-transaction of operator:another').waitFor();
});

it('redemptions are searched', async () => {
  const partner = await desk.bench.game('Searched');
  const { id, wallet } = await desk.bench.stored(partner, 'claimed');
  await visit.goto('/operate/redemptions');
  await page.getByRole('tab', { name: 'Search' }).click();
  await page.getByLabel('Wallet', { exact: true }).fill(wallet);
  await press('Find');
  // The list shows this redemption before the search too, together with those of other tests.
  const rows = page.getByRole('row');
  await eventually(async () => (await rows.count()) === 2);
  await page.getByRole('link', { name: id }).waitFor();
  await page.getByLabel('State', { exact: true }).selectOption('failed');
  await press('Find');
  await page.getByText('No redemption is like that.').waitFor();
});
