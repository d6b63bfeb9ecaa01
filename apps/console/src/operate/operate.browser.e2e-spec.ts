import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { graveFaults, startBrowser } from '#libs/testing/browser';
import { ConsoleBench } from '../testing/console-harness.support.js';
import {
  seedClaims,
  seedIndex,
  seedLog,
  seedRedemption,
  STAKER,
} from '../testing/operate-rows.support.js';

const NAME = '<img src=x onerror=alert(1)> אבג';
const LOGGED = 60;
/** Folder for screenshots that people look at; undefined: no screenshots. */
const SHOTS = process.env['SCREENSHOTS'];

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

let context: BrowserContext;
let page: Page;
let faults: string[];
afterEach(async () => {
  await context.close();
  expect(faults).toEqual([]);
});

interface Look {
  readonly width: 360 | 1440;
  readonly colorScheme: 'light' | 'dark';
}

async function signIn(
  bench: ConsoleBench,
  { width, colorScheme }: Look = { width: 1440, colorScheme: 'light' },
): Promise<void> {
  const viewport = { width, height: 900 };
  context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    viewport,
    colorScheme,
  });
  page = await context.newPage();
  faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
  });
  await page.goto(`${bench.origin}/sign-in/link#${await bench.link()}`);
  await heading('Overview');
}

const heading = (name: string) =>
  page.getByRole('heading', { name, exact: true }).first().waitFor();
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

/** Fails where axe finds a serious fault, or content is wider than the screen. */
async function requireAccessible(name: string, { width, colorScheme }: Look): Promise<void> {
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
  if (SHOTS !== undefined) {
    mkdirSync(SHOTS, { recursive: true });
    const path = join(SHOTS, `${name.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  expect([name, await graveFaults(page)]).toEqual([name, []]);
}

describe('with data', () => {
  let bench: ConsoleBench;
  let claims: string[];
  beforeAll(async () => {
    bench = await ConsoleBench.start({ API_URL: 'http://127.0.0.1:1' });
    const nowMs = bench.clock.nowMs();
    const partner = await bench.partner(NAME);
    const second = await bench.partner('Second');
    await seedIndex(bench.database, nowMs);
    await seedRedemption(bench.database, nowMs - 120_000, { isStuck: true, partner });
    await seedRedemption(bench.database, nowMs - 60_000, { isStuck: false, partner: second });
    claims = await seedClaims(bench.database, nowMs);
    await seedLog(bench.database, partner, LOGGED);
  });
  afterAll(() => bench.stop());
  beforeEach(() => {
    bench.clock.set(Date.now());
  });

  it('the overview leads to the queue, and says of what is down which setting to look at', async () => {
    await signIn(bench);
    await page.getByText('1 needs attention').waitFor();
    await page.getByText('Is it running, and API_URL right?').waitFor();
    await page.getByText('RPC_URLS is not set for the console').waitFor();
    await page.getByTitle('123456789.012345678901234567 LOW').first().waitFor();
    await page.getByRole('link', { name: 'To the queue' }).click();
    await page.waitForURL((url) => url.pathname === '/operate/redemptions');
  });

  it('a wallet is looked up; its days and redemptions are there, exact', async () => {
    await signIn(bench);
    await page.getByRole('link', { name: 'Wallets' }).click();
    await page.getByLabel('Wallet', { exact: true }).fill('0x12');
    await press('Look it up');
    await page.getByText('This is no address').waitFor();
    await page
      .getByLabel('Wallet', { exact: true })
      .fill(` ${STAKER.toUpperCase().replace('X', 'x')} `);
    await press('Look it up');
    await heading(STAKER);
    await page.getByText('7 days', { exact: true }).click();
    const days = page.getByRole('region', { name: 'Each UTC day' });
    await days.getByRole('row').nth(8).waitFor({ state: 'detached' });
    await days.getByTitle('40.5').first().waitFor();
    expect(await days.getByRole('row').count()).toBe(8);
    await page.locator('.recharts-area-area').waitFor({ state: 'attached' });
    // The markup in the name is shown as text.
    await page.getByRole('cell', { name: NAME }).first().waitFor();
    await press('Compare with the contract now');
    await page.getByText('RPC_URLS is not set for the console').waitFor();
  });

  it('a claim is acknowledged, by keyboard, after its consequence was shown', async () => {
    await signIn(bench);
    await page.goto(`${bench.origin}/operate/reconciliation`);
    await page.getByRole('button', { name: 'Acknowledge' }).press('Enter');
    await page
      .getByText('After the next reconciliation, within the hour, the claim is no longer an alert')
      .waitFor();
    // The dialog itself moves the focus to its field.
    await page.getByRole('dialog').locator('input:focus').waitFor();
    await page.keyboard.type('The game has it.');
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).press('Enter');
    await page.getByText('There are none.').waitFor();
    await page.getByText('All', { exact: true }).click();
    await page.getByText('The game has it.').waitFor();
    expect(claims).toHaveLength(1);
  });

  it('the log is filtered, and paged', async () => {
    await signIn(bench);
    await page.goto(`${bench.origin}/operate/log`);
    await press('Next');
    await page.getByText('Page 2').waitFor();
    await page.getByRole('textbox', { name: 'Command' }).fill('partner pause');
    await press('Show');
    const others = page.getByRole('cell', { name: 'partner set', exact: true });
    await others.first().waitFor({ state: 'detached' });
    await page.getByText('<script>alert(1)</script>').waitFor();
    expect(await others.count()).toBe(0);
    await page.getByRole('textbox', { name: 'Operator' }).fill('no one!');
    await press('Show');
    await page.getByText('actor must be the name of an operator').waitFor();
  });

  it('the doctor looks on request, and its findings come in', async () => {
    await signIn(bench);
    await page.goto(`${bench.origin}/operate/doctor`);
    await press('Look now');
    await page.getByText(/in order, \d+ not checked\./).waitFor();
    await page.getByRole('switch', { name: 'Show what is in order too' }).press('Space');
    await page.getByRole('cell', { name: 'database', exact: true }).waitFor();
  });

  it('a phone has the pages in a drawer', async () => {
    await signIn(bench, { width: 360, colorScheme: 'light' });
    await press('Open the menu');
    await page.getByRole('dialog').getByRole('link', { name: 'Audits' }).click();
    await heading('Audits');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

describe('with nothing', () => {
  let bench: ConsoleBench;
  beforeAll(async () => {
    bench = await ConsoleBench.start();
  });
  afterAll(() => bench.stop());

  it('every page says what would be there', async () => {
    const look = { width: 360, colorScheme: 'light' } as const;
    bench.clock.set(Date.now());
    await signIn(bench, look);
    const said = [
      ['/operate', 'There is no index yet'],
      [`/operate/wallets/${STAKER}`, 'There is no index yet'],
      ['/operate/reconciliation', 'No reconciliation was made yet'],
      ['/operate/audits', 'No audit was made yet'],
      ['/operate/doctor', 'Nothing was looked at yet'],
      ['/operate/approvals', 'Nothing waits for a second operator'],
    ] as const;
    for (const [path, text] of said) {
      await page.goto(`${bench.origin}${path}`);
      await page.getByText(text).first().waitFor();
      await requireAccessible(`empty ${path}`, look);
    }
    // The log is not empty: it contains the sign-in.
    await page.goto(`${bench.origin}/operate/log`);
    await page.getByText('console sign-in').first().waitFor();
    await page.getByLabel('Command').fill('partner set');
    await page.getByLabel('Command').press('Enter');
    await page.getByText('Nothing was done that fits').waitFor();
    await requireAccessible('empty /operate/log', look);
  });
});
