import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Browser } from 'playwright-core';
import { readSettings } from '#libs/config';
import { createLogger } from '#libs/service';
import { startBrowser } from '#libs/testing';
import { ConsoleSettings } from '../console.env.js';
import { createConsole } from '../create-console.js';

let app: NestFastifyApplication;
let browser: Browser;
let url: string;

beforeAll(async () => {
  const settings = readSettings(ConsoleSettings, {
    DATABASE_URL: 'postgresql://lowmark@127.0.0.1:1/none',
  });
  app = await createConsole({
    settings,
    logger: createLogger({ app: 'console', level: 'silent' }),
    pages: join(process.cwd(), 'dist/apps/web'),
  });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
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
  await page.getByRole('combobox', { name: 'Language' }).click();
  await page.getByRole('option', { name: 'Deutsch' }).click();
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
  expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  await page.reload();
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
  expect(refused).toEqual([]);
  await context.close();
});
