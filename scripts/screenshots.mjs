/**
 * Takes the pictures of the web pages for README and docs from the system that runs in the same clone. The settings
 * make one approval wait and keep vouchers valid meanwhile:
 *
 *   APPROVAL_ABOVE_USD=10 VOUCHER_TTL_SECONDS=1200 npm start
 *   node scripts/screenshots.mjs [FOLDER]                     default: docs/images
 *
 * Needs Chromium: one on the PATH, or the one that CHROMIUM names.
 */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium as driver } from 'playwright-core';
import { programPath } from '../libs/testing/src/jest/programs.mjs';
import { withPalette } from './png-palette.mjs';

const folder = process.argv[2] ?? 'docs/images';
const stack = JSON.parse(readFileSync('.data/stack.json', 'utf8'));
const { consoleUrl, partner } = stack;
const cli = (...args) =>
  execFileSync(process.execPath, ['dist/apps/cli/src/main.js', ...args], {
    encoding: 'utf8',
  });
const DESKTOP = { width: 1280, height: 900 };
const POINTS = '5000';

mkdirSync(folder, { recursive: true });
const browser = await driver.launch({
  executablePath: programPath('chromium'),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  await player();
  await operator();
  await member();
} finally {
  await browser.close();
}

/** The points before they are redeemed, and a voucher for the operators' page. */
async function player() {
  const page = await open();
  await page.goto(`${consoleUrl}/redeem`);
  await press(page, 'Connect Test wallet');
  await press(page, 'Sign in with your wallet');
  const game = page.getByRole('article', { name: partner.name, exact: true });
  await game.getByLabel('How many points?').fill(POINTS);
  await game.getByText('You get').waitFor();
  await shoot(page, 'redeem');
  await page.getByRole('button', { name: /^Redeem [\d,]+ points$/ }).click();
  await page
    .getByRole('button', { name: /^Claim/ })
    .first()
    .waitFor();
  await page.context().close();
}

/** The pages for operators, as an admin who signs in with a one-time link. */
async function operator() {
  const page = await open();
  const link = /http\S+/.exec(cli('console', 'link', '--role', 'admin'))[0];
  await page.goto(link);
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const go = (path) => page.goto(`${consoleUrl}/operate${path}`);
  await askForApproval(page, go);
  await go('');
  await shoot(page, 'operate');
  await page.context().close();
}

/**
 * Requests the cancellation of the newest voucher, which a second operator has to approve, and takes the redemption's
 * page with its timeline.
 */
async function askForApproval(page, go) {
  await go('/redemptions');
  await page.getByRole('tab', { name: 'Search' }).click();
  await page.getByLabel('State', { exact: true }).selectOption('authorised');
  await press(page, 'Find');
  await page.getByRole('region', { name: 'Search' }).getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  const waits = page.getByText('waiting', { exact: true });
  if ((await waits.count()) === 0) {
    await press(page, 'Cancel');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Reason/).fill('The player asked for it: ticket 4711');
    await dialog.getByRole('button', { name: 'Cancel' }).last().click();
    await waits.waitFor();
  }
  await shoot(page, 'operate-redemption', { height: 1600 });
}

/** The pages for partners, as a member who joins by an invitation. */
async function member() {
  const page = await open();
  const invitation = cli('partner', 'invite', partner.name, '--note', 'pictures');
  await page.goto(/http\S+/.exec(invitation)[0]);
  await press(page, 'Sign in with Test wallet');
  await page.getByRole('heading', { name: partner.name }).waitFor();
  const go = (path) => page.goto(`${consoleUrl}/partner/${path}`);
  await go('');
  await shoot(page, 'partner');
  await go('calls');
  await page.getByRole('button', { name: 'Show' }).first().click();
  await page.getByRole('dialog').getByText('X-API-REQUEST').waitFor();
  await shoot(page, 'partner-call');
  await debugSignature(page, go);
  await page.context().close();
}

async function debugSignature(page, go) {
  await go('signature');
  const path = '/api/staking/snapshots?lastDays=7';
  await page.getByRole('textbox', { name: 'Path' }).fill(path);
  const mistaken = createHmac('sha256', partner.sharedSecret).update(`GET${path}`).digest('hex');
  await page.getByRole('textbox', { name: 'Your signature' }).fill(mistaken);
  await press(page, 'Explain');
  await page.getByText('The query string is signed; only the path is.').waitFor();
  await shoot(page, 'partner-signature', { height: 1100 });
}

async function open() {
  const context = await browser.newContext({
    viewport: DESKTOP,
    colorScheme: 'light',
    locale: 'en-GB',
  });
  return context.newPage();
}

function press(page, name) {
  return page.getByRole('button', { name, exact: true }).click();
}

/** @param size of the picture, where it differs from the page's size */
async function shoot(page, name, size = {}) {
  const own = page.viewportSize();
  await page.setViewportSize({ ...own, ...size });
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined);
  await page.evaluate(() => document.fonts.ready);
  const picture = await page.screenshot({ animations: 'disabled' });
  writeFileSync(join(folder, `${name}.png`), withPalette(picture));
  await page.setViewportSize(own);
  console.info(join(folder, `${name}.png`));
}
