import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { startBrowser } from '#libs/testing/browser';
import {
  ADMIN,
  anAccount,
  type Account,
  ConsoleBench,
} from '../testing/console-harness.support.js';

let bench: ConsoleBench;
let browser: Browser;
let context: BrowserContext;
let page: Page;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await bench.stop();
});
beforeEach(async () => {
  bench.clock.set(Date.now());
  context = await browser.newContext({ locale: 'en-GB' });
  page = await context.newPage();
});
afterEach(() => context.close());

const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
const press = (name: string) => page.getByRole('button', { name }).click();
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

it('by a link, once, and its token is left in no address', async () => {
  const token = await bench.link();
  await page.goto(`${bench.origin}/sign-in/link#${token}`);
  await heading('Overview');
  await page.goBack().catch(() => null);
  expect(page.url()).not.toContain(token);
  const other = await context.newPage();
  await other.goto(`${bench.origin}/sign-in/link#${token}`);
  await other.getByText('This link was used or has expired').waitFor();
});

it('by an invitation, for the partner that invites', async () => {
  const name = '<img src=x onerror=alert(1)> אבג';
  const invitation = await bench.invitation(await bench.partner(name));
  await withWallet(anAccount());
  await page.goto(`${bench.origin}/partner/invitation#${invitation}`);
  await page.getByText(name).waitFor();
  await press('Sign in with Test <b>wallet</b>');
  await heading(name);
});

it('who is no operator is told so, and leads nowhere else', async () => {
  await withWallet(anAccount());
  await page.goto(`${bench.origin}/operate/sign-in?returnTo=//evil.example/operate`);
  await press('Sign in with Test <b>wallet</b>');
  await page.getByText('not one of the operators').waitFor();
  expect(new URL(page.url()).origin).toBe(bench.origin);
});
