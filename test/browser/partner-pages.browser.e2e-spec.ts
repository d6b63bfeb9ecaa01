/** Tests the pages of a partner's engineer in a real browser, from the invitation to a rotated credential. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { startBrowser } from '#libs/testing';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { anAccount } from '../../apps/console/src/testing/console-harness.support.js';
import { aPlayer } from '../../apps/partner/src/testing/partner-harness.support.js';
import { PartnerBench, WALLET } from '../console/partner-bench.support.js';
import { seedRequests } from './desk-rows.js';
import { DeskVisit, WALLET_NAME } from './desk-visit.js';
import { Replicas } from './replicas.js';

let replicas: Replicas;
let bench: PartnerBench;
let browser: Browser;
/** One signed-in visit for all tests. */
let visit: DeskVisit;
let page: Page;

beforeAll(async () => {
  replicas = await Replicas.start();
  bench = await PartnerBench.start({}, replicas.console);
  await replicas.serve('console');
  browser = await startBrowser();
  visit = await DeskVisit.open(browser, bench.console, bench.acme.account);
  ({ page } = visit);
  await visit.signedInAs(await bench.member(bench.acme));
});
afterAll(async () => {
  await browser.close();
  await bench.stop();
  await replicas.stop();
});

const go = (path: string) => visit.goto(`/partner${path}`);

it('an invitation leads to the pages of the partner', async () => {
  const invitation = await bench.console.invitation(bench.acme.id);
  const guest = await DeskVisit.open(browser, bench.console, anAccount());
  await guest.goto(`/partner/invitation#${invitation}`);
  await guest.press(`Sign in with ${WALLET_NAME}`);
  await guest.page.getByRole('heading', { level: 1, name: bench.acme.name }).waitFor();
  expect(guest.page.url()).not.toContain(invitation);
  await guest.context.close();
  expect(guest.faults).toEqual([]);
});

it('a snapshot is shown as it came, and its signature verifies', async () => {
  await go('/snapshot');
  await page.getByRole('textbox', { name: 'walletAddress' }).fill(WALLET);
  await page.getByRole('button', { name: 'Ask the api' }).click();
  await page.getByText('The signature verifies').waitFor();
  const body = await page.getByRole('region', { name: 'Body' }).textContent();
  expect(JSON.parse(body ?? '')).toMatchObject({ walletAddress: WALLET });
  const curl = await page.getByRole('region', { name: 'The same by hand' }).textContent();
  expect(curl).toContain(bench.acme.prefix);
});

it('a snapshot ends with the day that is chosen', async () => {
  await page.getByLabel('Last day (UTC)').fill('2026-11-18');
  await page.getByRole('button', { name: 'Ask the api' }).click();
  const body = page.getByRole('region', { name: 'Body' });
  await body.getByText('"to":"2026-11-18T23:59:59.999Z"}]').waitFor();
  expect(page.url()).toContain('endDay=2026-11-18');
  const curl = await page.getByRole('region', { name: 'The same by hand' }).textContent();
  expect(curl).toContain('&endDay=2026-11-18');
});

it('the conformance test names its consequence, and passes', async () => {
  await go('/conformance');
  await page.getByText(/deducts points of the test player/).waitFor();
  const address = await aPlayer(bench.game, 5);
  await page.getByRole('textbox', { name: 'A test player' }).fill(address);
  await page.getByRole('button', { name: 'Run the tester' }).click();
  await page
    .getByRole('heading', { name: 'Your endpoints keep every rule.' })
    .waitFor({ timeout: 60_000 });
  await page.getByRole('heading', { name: 'Capabilities found' }).waitFor();
  await page.getByText('revert-by-redemption-id: found').waitFor();
  expect(await page.getByRole('textbox', { name: 'A test player' }).inputValue()).toBe(address);
});

it('the documentation is searched, its links stay on the pages, and its examples have the own key', async () => {
  await go('/docs');
  await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('tombstone');
  await page
    .getByRole('link', { name: /tombstone/i })
    .first()
    .click();
  await page.waitForURL(/\/partner\/docs\/.+#/);
  await go('/docs/quick-start');
  await page.getByText(`${bench.acme.prefix}…`).first().waitFor();
  await page.getByRole('article').getByRole('link', { name: 'the examples' }).first().click();
  await page.waitForURL(/\/partner\/docs\/signatures/);
});

it('a credential is replaced, and the new one is shown once', async () => {
  await go('/credentials');
  await page.getByRole('button', { name: 'Replace', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
  const key = await page.getByRole('region', { name: 'X-API-KEY' }).textContent();
  expect(key).toMatch(/^svck_.{30}/);
  await page.getByRole('button', { name: 'I have stored them' }).click();
  await page.getByText(/Replaced, works until/).waitFor();
  expect(await page.content()).not.toContain(key);
  const url = `${bench.api.url}/api/staking/snapshots?walletAddress=${WALLET}&lastDays=1`;
  for (const one of [key ?? '', bench.acme.credential.apiKey]) {
    expect((await fetch(url, { headers: { 'x-api-key': one } })).status).toBe(200);
  }
});

it('a confirmation that was delivered is sent again, once a minute', async () => {
  const { database } = bench.console;
  const { id } = await aStored(database, bench.acme.id, 'claimed');
  const delivered = await database.pool.query(
    `UPDATE redemption.confirmation SET state = 'delivered', delivered_at = now(), next_action_at = NULL, version = version + 1
      WHERE redemption_id = $1`,
    [id],
  );
  expect(delivered.rowCount).toBe(1);
  await go('/redemptions');
  await page.getByRole('button', { name: 'Show', exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('delivered, sent 0 times').waitFor();
  await dialog.getByRole('button', { name: 'Send the confirmation again' }).click();
  await dialog.getByText('It is on its way.').waitFor();
  const { rows } = await database.pool.query<{ state: string; due: boolean; actor: string }>(
    `SELECT c.state, c.next_action_at <= clock_timestamp() + interval '1 second' AS due, a.actor FROM redemption.confirmation c
      JOIN redemption.audit a ON a.redemption_id = c.redemption_id AND a.command = 'redemption replay-confirm'
      WHERE c.redemption_id = $1`,
    [id],
  );
  expect(rows).toMatchObject([{ state: 'pending', due: true }]);
  expect(rows[0]?.actor).toMatch(/^partner:/);
  await dialog.getByRole('button', { name: 'Send the confirmation again' }).click();
  await dialog.getByRole('alert').waitFor();
});

it('usage is a chart, and a table beside it', async () => {
  const hours = 20;
  await seedRequests(bench.console.database, { keyPrefix: bench.acme.prefix, hours });
  await go('/usage');
  const chart = page.getByRole('img', { name: 'Your requests, by hour (UTC)' });
  // Each hour has at least one request, which is one part of the hour's bar.
  await chart
    .locator('.recharts-bar-rectangle path')
    .nth(hours - 1)
    .waitFor();
  await page.getByRole('columnheader', { name: 'Too many (429)' }).waitFor();
});

it('all of it kept to the policy of the pages', () => {
  expect(visit.faults).toEqual([]);
});
