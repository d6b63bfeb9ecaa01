/** Tests long lists and charts of operators and partners, with rows of an installation that has run for weeks. */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { type PartnerId } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { seedLog } from '../../apps/console/src/testing/operate-rows.support.js';
import { DeskBench } from '../console/desk.support.js';
import { seedCalls, seedStakes } from './desk-rows.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const desk = useDesk((place) => DeskBench.start({}, place));
let visit: DeskVisit;

const STAKER = aWallet(0x5eed);
const DAYS = 40;
/** Rows per page. */
const SIZE = 50;

let partner: PartnerId;
beforeAll(async () => {
  const nowMs = Date.now();
  partner = await desk.bench.game('Lists <b>');
  await seedStakes(desk.bench.console.database, { wallet: STAKER, days: DAYS, nowMs });
  await seedCalls(desk.bench.console.database, { partner, hours: 2 * SIZE + 20, nowMs });
  await seedLog(desk.bench.console.database, partner, 2 * SIZE + 20);
  for (let count = 0; count < SIZE + 5; count++) await desk.bench.stored(partner, 'reverted');
});

/** The text of each row of a list. */
async function rowsOf(caption: string): Promise<string[]> {
  const table = visit.page.getByRole('region', { name: caption, exact: true });
  return (await table.getByRole('row').allTextContents()).slice(1);
}

async function turn(button: 'Next' | 'Previous', page: number): Promise<void> {
  await visit.press(button);
  await shown(page);
}

async function shown(page: number): Promise<void> {
  await visit.page.getByText(`Page ${page}`, { exact: true }).waitFor();
  await visit.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
}

/** Pages forward to the end, reloads there, and pages back to the start. */
async function pageThrough(caption: string, total: number): Promise<void> {
  const first = await rowsOf(caption);
  const seen = [first];
  while (await visit.page.getByRole('button', { name: 'Next' }).isEnabled()) {
    await turn('Next', seen.length + 1);
    seen.push(await rowsOf(caption));
  }
  expect(seen.length).toBe(Math.ceil(total / SIZE));
  expect(seen.flat()).toHaveLength(total);
  await visit.page.reload();
  await shown(seen.length);
  expect(await rowsOf(caption)).toEqual(seen.at(-1));
  for (let page = seen.length - 1; page > 0; page--) await turn('Previous', page);
  expect(await rowsOf(caption)).toEqual(first);
  expect(await visit.page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true);
}

/** The number of calls to the partner, with one outcome or with any. */
async function calls(outcome?: string): Promise<number> {
  const { rows } = await desk.bench.console.database.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM redemption.partner_call WHERE partner = $1 AND ($2::text IS NULL OR outcome = $2)',
    [partner, outcome ?? null],
  );
  return rows[0]?.count ?? 0;
}

describe('for operators', () => {
  beforeEach(async () => {
    visit = await desk.operator();
  });

  it('the log is paged, and its filter stays by a reload', async () => {
    await visit.goto('/operate/log');
    await visit.page.getByLabel('Command').fill('partner pause');
    await visit.press('Show');
    await shown(1);
    await pageThrough('Log', SIZE + 10);
    await visit.page.reload();
    await shown(1);
    expect(await visit.page.getByLabel('Command').inputValue()).toBe('partner pause');
    for (const row of await rowsOf('Log')) expect(row).toContain('partner pause');
  });

  it('back from a redemption of the second page it is the second page', async () => {
    await visit.goto('/operate/redemptions');
    await visit.page.getByRole('tab', { name: 'Search' }).click();
    await visit.page.getByLabel('State', { exact: true }).selectOption('reverted');
    // The unfiltered list has a first page too, so the test waits for the response of the search.
    const found = visit.page.waitForResponse(/\/api\/operate\/redemptions\?.*state=reverted/);
    await visit.press('Find');
    await found;
    await shown(1);
    await turn('Next', 2);
    const rows = await rowsOf('Search');
    await visit.page.getByRole('region', { name: 'Search' }).getByRole('link').first().click();
    await visit.page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await visit.page.goBack();
    await shown(2);
    expect(await rowsOf('Search')).toEqual(rows);
  });

  it('a wallet has weeks of history as a chart: a step for each day, a line through each change', async () => {
    await visit.goto(`/operate/wallets/${STAKER}`);
    await visit.page.getByText('90 days', { exact: true }).click();
    const days = visit.page.getByRole('region', { name: 'Each UTC day' });
    await days.getByRole('row').nth(DAYS).waitFor();
    // 27 stakes of 100, minus 13 withdrawals of 40.
    await visit.page
      .getByTitle(/^2180 /)
      .first()
      .waitFor();
    const changes = visit.page.getByRole('region', { name: 'Each change' });
    const blocks = (await changes.locator('tbody td:nth-child(2)').allTextContents()).map(Number);
    expect(blocks).toEqual(blocks.toSorted((a, b) => b - a));
    const lows = visit.page.locator('.recharts-area-area');
    const line = visit.page.locator('.recharts-line-curve');
    const stepsOf = async (curve: Locator) =>
      ((await curve.getAttribute('d')) ?? '').split(/[LHV]/).length;
    await eventually(async () => (await stepsOf(line)) > DAYS);
    await eventually(async () => (await stepsOf(lows)) > 2 * DAYS);
    const { width = 0, height = 0 } = (await lows.boundingBox()) ?? {};
    expect(width).toBeGreaterThan(500);
    expect(height).toBeGreaterThan(100);
    // The labels of the days below the chart must not overlap.
    const labels = visit.page.locator(
      '.recharts-xAxis-tick-labels .recharts-cartesian-axis-tick-value',
    );
    await labels.nth(4).waitFor();
    expect(await labels.count()).toBeLessThanOrEqual(8);
    await visit.page.getByText('7 days', { exact: true }).click();
    await days.getByRole('row').nth(8).waitFor({ state: 'detached' });
    await days.getByRole('row').nth(7).waitFor();
    expect(await days.getByRole('row').count()).toBe(8);
    await labels.nth(4).waitFor();
  });

  it('the calls to a partner are a chart by hour and a table, in the time that is chosen', async () => {
    await visit.goto(`/operate/partners/${partner}`);
    const chart = visit.page.getByRole('img', { name: 'Calls and errors' });
    const bars = chart.locator('.recharts-bar-rectangle path');
    await chart.waitFor();
    const table = visit.page.getByRole('region', { name: 'Calls and errors by hour' });
    const counted = async () => (await table.getByRole('row').count()) - 1;
    const day = await counted();
    // Calls that were not sent are in the table only.
    const sent = day - Math.floor(day / 4);
    await bars.nth(sent - 1).waitFor();
    expect(await bars.count()).toBe(sent);
    await visit.page.getByText('7 days', { exact: true }).click();
    await table
      .getByRole('row')
      .nth(2 * SIZE + 20)
      .waitFor();
    expect(await counted()).toBe(2 * SIZE + 20);
    for (const series of ['As agreed', 'Refused', 'Errors']) {
      await chart.getByText(series, { exact: true }).waitFor();
    }
  });
});

it('for partners: our calls are paged, and their filter stays by a reload', async () => {
  visit = await desk.member(partner);
  await visit.goto('/partner/calls');
  await shown(1);
  await pageThrough('Our calls to you', await calls());
  await visit.page.getByRole('combobox', { name: 'Outcome' }).click();
  await visit.page.getByRole('option', { name: 'no answer' }).click();
  const silent = await calls('no-answer');
  const rows = visit.page.getByRole('region', { name: 'Our calls to you' }).getByRole('row');
  await rows.nth(silent + 1).waitFor({ state: 'detached' });
  await rows.nth(silent).waitFor();
  await visit.page.reload();
  await rows.nth(silent).waitFor();
  expect(await rows.count()).toBe(silent + 1);
});
