/** Tests the operators' page of the day roots on chain. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { IndexStore } from '#libs/db';
import { dayText } from '#libs/domain';
import { startBrowser } from '#libs/testing/browser';
import { aWallet } from '#libs/testing/database';
import { VIEWER } from '../../apps/console/src/testing/console-harness.support.js';
import { seedIndex } from '../../apps/console/src/testing/operate-rows.support.js';
import { DeskBench } from '../console/desk.support.js';
import {
  FIRST,
  REASON,
  seedPublications,
  transactionOf,
} from '../console/registry-rows.support.js';
import { DeskVisit } from './desk-visit.js';

const REGISTRY = aWallet(0xe9);

let browser: Browser;
let bench: DeskBench;
let visit: DeskVisit;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  const { currentTestName = '' } = expect.getState();
  const settings = currentTestName.includes('not set') ? {} : { REGISTRY_ADDRESS: REGISTRY };
  bench = await DeskBench.start(settings);
  bench.console.clock.set(Date.now());
  visit = await DeskVisit.open(browser, bench.console);
  await visit.signedInAs(await bench.console.signedIn(VIEWER));
});
afterEach(async () => {
  await visit.context.close();
  await bench.stop();
  expect(visit.faults).toEqual([]);
});

const card = () => visit.page.getByRole('region', { name: 'Registry', exact: true });

it('where it is not set that is said, with the setting', async () => {
  await visit.goto('/operate');
  await visit.page.getByRole('navigation').getByRole('link', { name: 'Registry' }).click();
  await visit.heading('Registry');
  await card().getByText('REGISTRY_ADDRESS is not set for the console').waitFor();
  expect(await visit.findings()).toEqual([]);
});

it('before anything was due that is said', async () => {
  await visit.goto('/operate/registry');
  await card().getByText('There is no index yet').waitFor();
  await seedIndex(bench.console.database, Date.now());
  await visit.page.reload();
  await card().getByText('nothing was due yet', { exact: true }).waitFor();
  await card().getByText('six hours after it was sealed').waitFor();
});

it('the last day with its transaction, what waits, and what is held back and why', async () => {
  const { database } = bench.console;
  await seedIndex(database, Date.now());
  const { chainId = 0 } = (await new IndexStore(database).state()) ?? {};
  await seedPublications(database, { chainId, registry: REGISTRY }, Date.now());
  await visit.goto('/operate/registry');
  await card().getByText(REGISTRY).waitFor();
  await card().getByText('needs attention').waitFor();
  await card().getByText('Of 1 publication the registry holds another root').waitFor();
  await card()
    .getByText(`with another root than on chain: ${dayText(FIRST)}.`)
    .waitFor();
  const fact = (name: string) =>
    card()
      .locator('dl')
      .filter({ has: visit.page.getByText(name, { exact: true }) })
      .locator('dd');
  expect(await fact('Last day in a final block').innerText()).toContain(dayText(FIRST + 1));
  expect(await fact('Its transaction').innerText()).toBe(transactionOf(FIRST + 1));
  const counts = { Final: '2', 'In a block that is not final': '1', Waiting: '1' };
  for (const [name, count] of Object.entries(counts)) {
    expect([name, await fact(name).innerText()]).toEqual([name, count]);
  }
  const table = visit.page.getByRole('region', { name: 'Publications, the newest first' });
  const days = (await table.locator('tbody tr td:first-child').allInnerTexts()).map((text) =>
    text.trim().slice(-10),
  );
  expect(days).toEqual([4, 3, 2, 1, 0].map((offset) => dayText(FIRST + offset)));
  const refused = table.getByRole('row').filter({ hasText: dayText(FIRST + 3) });
  await refused.getByText('refused', { exact: true }).waitFor();
  await refused.getByText(REASON).waitFor();
  expect(await visit.page.locator('img').count()).toBe(0);
  expect(await visit.findings()).toEqual([]);
});
