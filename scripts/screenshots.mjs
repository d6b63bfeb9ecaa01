/**
 * Takes the pictures of the web pages that README and docs show, from the running system: `npm start` first, in the same clone.
 * Needs Chromium: the one on the PATH, or the one that CHROMIUM names.
 *
 *   node scripts/screenshots.mjs [FOLDER]        default: docs/images
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium as driver } from 'playwright-core';
import { chromium } from '../libs/testing/src/jest/chromium.mjs';

const folder = process.argv[2] ?? 'docs/images';
const { consoleUrl, partner } = JSON.parse(readFileSync('.data/stack.json', 'utf8'));
const cli = (...args) =>
  execFileSync(process.execPath, ['dist/apps/cli/src/main.js', ...args], {
    encoding: 'utf8',
  });

mkdirSync(folder, { recursive: true });
const browser = await driver.launch({
  executablePath: chromium(),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  await player();
  await operator();
  await member();
} finally {
  await browser.close();
}

/** From the points to the voucher, on a desktop in light and on a phone in dark. */
async function player() {
  const page = await open({ width: 1280, height: 900 }, 'light');
  await page.goto(`${consoleUrl}/redeem`);
  await page.getByRole('button', { name: 'Connect Test wallet' }).click();
  await page.getByRole('button', { name: 'Sign in with your wallet' }).click();
  const game = page.getByRole('article', { name: partner.name, exact: true });
  await game.getByLabel('How many points?').fill('5000');
  await game.getByText('You get').waitFor();
  await shoot(page, 'redeem');
  await page.getByRole('button', { name: /^Redeem [\d,]+ points$/ }).click();
  await page
    .getByRole('button', { name: /^Claim/ })
    .first()
    .waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'redeem-phone');
  await page.context().close();
}

/** Each page of the operators, as the admin of a link that signs in once. */
async function operator() {
  const page = await open({ width: 1280, height: 900 }, 'light');
  const link = /http\S+/.exec(cli('console', 'link', '--role', 'admin'))[0];
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const pages = ['', 'wallets', 'partners', 'redemptions', 'reconciliation', 'audits', 'log'];
  for (const path of pages) {
    await page.goto(`${consoleUrl}/operate/${path}`);
    await shoot(page, `operate${path === '' ? '' : `-${path}`}`);
  }
}

/** The pages of the partner, as a member that an invitation makes. */
async function member() {
  const page = await open({ width: 1280, height: 900 }, 'light');
  const invitation = cli('partner', 'invite', partner.name, '--note', 'pictures');
  await page.goto(/http\S+/.exec(invitation)[0]);
  await page.getByRole('button', { name: 'Sign in with Test wallet' }).click();
  await page.getByRole('heading', { name: partner.name }).waitFor();
  for (const path of ['', 'requests']) {
    await page.goto(`${consoleUrl}/partner/${path}`);
    await shoot(page, `partner${path === '' ? '' : `-${path}`}`);
  }
}

async function open(viewport, colorScheme) {
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-GB' });
  return context.newPage();
}

async function shoot(page, name) {
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  console.info(join(folder, `${name}.png`));
}
