import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Browser } from 'playwright-core';
import { startBrowser } from '#libs/testing/browser';
import { startWithoutDatabase } from '../testing/console-harness.support.js';

let app: NestFastifyApplication;
let browser: Browser;
let url: string;

beforeAll(async () => {
  ({ app, url } = await startWithoutDatabase());
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await app.close();
});

it('the pages work under their policy, in two languages, in light and in dark', async () => {
  const context = await browser.newContext({ locale: 'en-GB', colorScheme: 'dark' });
  const page = await context.newPage();
  const refused: string[] = [];
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) refused.push(message.text());
  });
  page.on('pageerror', (error) => refused.push(String(error)));
  await page.goto(`${url}/redeem/no/such/page`);
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page.getByRole('button', { name: 'Light colours' }).click();
  await page.getByRole('button', { name: 'Dark colours' }).waitFor();
  await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch');
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
  await page.locator('html[lang=de]').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
  expect(refused).toEqual([]);
  await context.close();
});

it('the players’ page is painted without a script, in the language and colours of the reader, where it will be', async () => {
  const placesOf = async (javaScriptEnabled: boolean): Promise<unknown> => {
    const options = { locale: 'de-AT', viewport: { width: 360, height: 740 }, javaScriptEnabled };
    const context = await browser.newContext(options);
    const cookie = { url, name: 'lowmark-scheme', value: 'dark' };
    await context.addCookies([cookie, { ...cookie, name: 'lowmark-language', value: 'en' }]);
    if (javaScriptEnabled) {
      await context.addInitScript("localStorage.setItem('lowmark-language', 'en')");
      await context.addInitScript("localStorage.setItem('mantine-color-scheme-value', 'dark')");
    }
    const page = await context.newPage();
    await page.goto(`${url}/redeem`);
    if (javaScriptEnabled) await page.getByRole('combobox', { name: 'Language' }).waitFor();
    const places = await Promise.all(
      ['Redeem points', /^Turn points/, 'Lowmark'].map((text) =>
        page.getByText(text).first().boundingBox(),
      ),
    );
    const colour = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    await context.close();
    return { places, colour };
  };
  const first = await placesOf(false);
  expect(first).toMatchObject({ colour: 'rgb(36, 36, 36)' });
  expect(await placesOf(true)).toEqual(first);
});

/** A session whose `name` is not a text, so that a page that shows the name fails. */
const BROKEN = (kind: string): string =>
  JSON.stringify({ kind, name: { broken: true }, role: 'viewer', partner: null });

const PLAYER = JSON.stringify({ wallet: `0x${'1'.repeat(40)}`, expiresAt: '', csrf: '' });
const CHAIN = JSON.stringify({
  chainId: 1,
  vault: null,
  token: { address: null, symbol: 'LOW', decimals: 18 },
  payouts: { available: true, reason: null, message: null },
  finalitySeconds: null,
});

const GERMAN = { failed: 'Auf dieser Seite ist etwas schiefgegangen', again: 'Neu laden' };
/** Pages of operators and partners are always in English. */
const ENGLISH = { failed: 'Something went wrong on this page', again: 'Reload' };

it.each([
  ['/operate', '**/api/auth/me', BROKEN('operator'), ENGLISH],
  ['/partner', '**/api/auth/me', BROKEN('partner'), ENGLISH],
  ['/redeem', '**/player/api/partners', '{"partners":[{"id":"a","name":{},"bonus":null}]}', GERMAN],
])(
  'a page of %s that fails says so, and can be loaded again',
  async (path, request, body, texts) => {
    const context = await browser.newContext({ locale: 'de-DE' });
    const page = await context.newPage();
    await page.addInitScript(`localStorage.setItem('lowmark-player-session', '${PLAYER}')`);
    const json = (text: string) => ({ contentType: 'application/json', body: text });
    await page.route('**/player/api/chain', (route) => route.fulfill(json(CHAIN)));
    await page.route(request, (route) => route.fulfill(json(body)));
    await page.goto(url + path);
    await page.getByRole('alert').getByText(texts.failed).waitFor();
    expect(await page.innerText('body')).not.toMatch(/error|object|undefined/i);
    const languages = page.getByRole('combobox', { name: 'Sprache' });
    expect(await languages.count()).toBe(texts === GERMAN ? 1 : 0);
    await page.unroute(request);
    await page.getByRole('button', { name: texts.again }).click();
    await page.getByText(texts.failed).waitFor({ state: 'detached' });
    await context.close();
  },
);

describe('a file that is gone', () => {
  const CHUNK = '**/assets/operate-area-*.js';

  async function open(isUpgraded: boolean) {
    const context = await browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    let documents = 0;
    await page.route('**/operate', async (route) => {
      if (route.request().isNavigationRequest()) documents++;
      else if (isUpgraded) return route.fulfill({ body: 'another build' });
      return route.continue();
    });
    await page.route('**/api/auth/me', (route) => route.fulfill({ status: 401, body: '{}' }));
    await page.route(CHUNK, (route) =>
      documents > 1 ? route.continue() : route.fulfill({ status: 404 }),
    );
    await page.goto(`${url}/operate`);
    return { context, page, documents: () => documents };
  }

  it('by an upgrade: the page is loaded again, once', async () => {
    const { context, page, documents } = await open(true);
    await page.getByRole('heading', { name: 'Sign in as an operator' }).waitFor();
    expect(documents()).toBe(2);
    await context.close();
  });

  it('by a connection that has changed: it is asked for once more', async () => {
    const context = await browser.newContext({ locale: 'en-GB' });
    const page = await context.newPage();
    let asked = 0;
    await page.route('**/api/auth/me', (route) => route.fulfill({ status: 401, body: '{}' }));
    await page.route(CHUNK, (route) =>
      ++asked > 1 ? route.continue() : route.abort('connectionreset'),
    );
    await page.goto(`${url}/operate`);
    await page.getByRole('heading', { name: 'Sign in as an operator' }).waitFor();
    expect(asked).toBe(2);
    await context.close();
  });

  it('without one: the page says that it failed, and is not loaded again and again', async () => {
    const { context, page, documents } = await open(false);
    await page.getByText('Something went wrong on this page').waitFor();
    expect(documents()).toBe(1);
    await context.close();
  });
});
