import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { graveFaults, startBrowser } from '#libs/testing/browser';
import {
  type Account,
  ADMIN,
  anAccount,
  ConsoleBench,
} from '../testing/console-harness.support.js';
import { seedClaims, seedIndex, seedRedemption, STAKER } from '../testing/operate-rows.support.js';

const NAME = '<img src=x onerror=alert(1)> אבג';

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

async function open(width: 360 | 1440): Promise<void> {
  const viewport = { width, height: 900 };
  context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', viewport });
  page = await context.newPage();
  faults = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
  });
}

async function signIn(bench: ConsoleBench, width: 360 | 1440 = 1440): Promise<void> {
  bench.clock.set(Date.now());
  await open(width);
  await page.goto(`${bench.origin}/sign-in/link#${await bench.link()}`);
  await heading('Overview');
}

const heading = (name: string) =>
  page.getByRole('heading', { name, exact: true }).first().waitFor();
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

/** Fails where axe finds a serious fault, or content is wider than the screen. */
async function requireAccessible(name: string): Promise<void> {
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
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
  });
  afterAll(() => bench.stop());

  it('the overview leads to the queue, and says of what is down which setting to look at', async () => {
    await signIn(bench);
    await page.getByText('1 needs attention').waitFor();
    await page.getByText('Is it running, and API_URL right?').waitFor();
    await page.getByText('RPC_URLS is not set for the console').waitFor();
    await page.getByTitle('123456789.012345678901234567 LOW').first().waitFor();
    await page.getByRole('link', { name: 'To the queue' }).click();
    await page.waitForURL((url) => url.pathname === '/operate/redemptions');
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

  it('the doctor looks on request, and its findings come in', async () => {
    await signIn(bench);
    await page.goto(`${bench.origin}/operate/doctor`);
    await press('Look now');
    await page.getByText(/in order, \d+ not checked\./).waitFor();
    await page.getByRole('switch', { name: 'Show what is in order too' }).press('Space');
    await page.getByRole('cell', { name: 'database', exact: true }).waitFor();
  });

  it('a phone has the pages in a drawer', async () => {
    await signIn(bench, 360);
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
    await signIn(bench, 360);
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
      await requireAccessible(`empty ${path}`);
    }
    // The log is not empty: it contains the sign-in.
    await page.goto(`${bench.origin}/operate/log`);
    await page.getByText('console sign-in').first().waitFor();
    await page.getByLabel('Command').fill('partner set');
    await page.getByLabel('Command').press('Enter');
    await page.getByText('Nothing was done that fits').waitFor();
    await requireAccessible('empty /operate/log');
  });

  describe('a sign-in', () => {
    beforeEach(() => open(1440));

    const place = () => new URL(page.url()).pathname + new URL(page.url()).search;

    /** Gives the page a wallet that signs with the key of a test account. */
    async function withWallet(account: Account): Promise<void> {
      await page.exposeFunction('signByTest', (message: `0x${string}`) =>
        account.signMessage({ message: { raw: message } }),
      );
      await page.addInitScript(`{
        const request = async ({ method, params }) => {
          if (method === 'eth_requestAccounts') return ['${account.address}'];
          if (method === 'eth_chainId') return '0x1';
          if (method === 'personal_sign') return window.signByTest(params[0]);
          throw new Error(method);
        };
        const info = { uuid: 'b1e4ad4c-0000-4000-8000-000000000000', name: 'Test <b>wallet</b>', icon: 'data:,', rdns: 'test' };
        const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider: { request } }) }));
        addEventListener('eip6963:requestProvider', announce);
        announce();
      }`);
    }

    it('an area leads to its sign-in and back to the same place: by the provider', async () => {
      bench.issuer.groups.set('ann', ['ops']);
      await page.goto(`${bench.origin}/operate?tab=failed`);
      await heading('Sign in as an operator');
      await press('Sign in with your organisation');
      await page.locator('input[name=login]').fill('ann');
      await page.locator('input[name=password]').fill('any');
      await page.locator('button[type=submit]').click();
      await heading('Overview');
      expect(place()).toBe('/operate?tab=failed');
      await press('Sign out');
      await heading('Sign in as an operator');
    });

    it('by a wallet, and again at the same place when the session has ended', async () => {
      await withWallet(ADMIN);
      await page.goto(`${bench.origin}/operate?tab=failed`);
      await press('Sign in with Test <b>wallet</b>');
      await heading('Overview');
      bench.clock.advance(13 * 3_600_000);
      await page.reload();
      await heading('Sign in as an operator');
      bench.clock.set(Date.now());
      await press('Sign in with Test <b>wallet</b>');
      await heading('Overview');
      expect(place()).toBe('/operate?tab=failed');
    });

    it('who is no operator is told so, and leads nowhere else', async () => {
      await withWallet(anAccount());
      await page.goto(`${bench.origin}/operate/sign-in?returnTo=//evil.example/operate`);
      await press('Sign in with Test <b>wallet</b>');
      await page.getByText('not one of the operators').waitFor();
      expect(new URL(page.url()).origin).toBe(bench.origin);
    });
  });
});
