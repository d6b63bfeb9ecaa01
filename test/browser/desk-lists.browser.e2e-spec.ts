/** Tests how operators find something: by a search, by an address, and in long lists and charts. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { type PartnerId, type Redemption } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { anAccount, VIEWER } from '../../apps/console/src/testing/console-harness.support.js';
import { seedLog } from '../../apps/console/src/testing/operate-rows.support.js';
import { Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { DeskBench } from '../console/desk.support.js';
import { seedCalls, seedStakes } from './desk-rows.js';
import { useDesk } from './desk.js';
import { type DeskVisit, WALLET_NAME } from './desk-visit.js';

const desk = useDesk((place) => DeskBench.start({}, place));
let visit: DeskVisit;

// Comes first: its redemptions are on the first page of the list, and none is open.
describe('searches', () => {
  const MARKUP = `<img src=x onerror="document.title='taken'">`;

  /** One redemption of each partner. */
  let gold: Redemption;
  let silver: Redemption;
  let hostile: Redemption;
  beforeAll(async () => {
    const of = async (name: string, wallet: number) =>
      desk.bench.stored(await desk.bench.game(name), 'claimed', { wallet: aWallet(wallet) });
    [gold, silver] = [await of('Golden Game', 1), await of('Silver Game', 2)];
    hostile = await of(MARKUP, 3);
  });
  beforeEach(async () => {
    visit = await desk.operator(VIEWER);
  });
  afterEach(async () => {
    expect(await visit.page.locator('img').count()).toBe(0);
    expect(await visit.page.title()).not.toContain('taken');
  });

  describe('the search of redemptions', () => {
    const FIELDS = { id: 'Id or its beginning', wallet: 'Wallet', partner: /^Partner, by part/ };

    beforeEach(async () => {
      await visit.goto('/operate/redemptions');
      await visit.page.getByRole('tab', { name: 'Search' }).click();
      await all();
    });

    const box = (field: keyof typeof FIELDS) =>
      visit.page.getByRole('textbox', { name: FIELDS[field], exact: true });

    async function find(field: keyof typeof FIELDS, text: string): Promise<void> {
      await box(field).fill(text);
      await visit.press('Find');
    }

    async function clear(): Promise<void> {
      await visit.press('Clear');
      await all();
    }

    const link = ({ id }: Redemption): Locator => visit.page.getByRole('link', { name: id });

    async function all(): Promise<void> {
      for (const one of [gold, silver, hostile]) await link(one).waitFor();
    }

    async function only(one: Redemption): Promise<void> {
      const others = [gold, silver, hostile].filter(({ id }) => id !== one.id);
      for (const other of others) await link(other).waitFor({ state: 'detached' });
      await link(one).waitFor();
    }

    it('finds one by its id, its wallet or a part of its partner’s name, and says what it does not find', async () => {
      for (const [field, text, one] of [
        ['id', silver.id.toUpperCase(), silver],
        ['wallet', `  ${gold.wallet} `, gold],
        ['partner', '<img src=x onerror="doc', hostile],
      ] as const) {
        await find(field, text);
        await only(one);
        await clear();
      }
      const none = visit.page.getByText('No redemption is like that.');
      for (const [field, text] of [
        ['id', 'ffffffff'],
        ['wallet', aWallet(0xdead)],
      ] as const) {
        await find(field, text);
        await none.waitFor();
        await clear();
      }
      const alert = visit.page.getByRole('alert');
      for (const text of ['%', `';--`, '🎲'.repeat(50)]) {
        await find('partner', text);
        await alert.getByText('partner').first().waitFor();
        expect(await link(gold).count()).toBe(0);
      }
      // Several partners fit: they are named.
      await find('partner', 'game');
      await alert.getByText('Golden Game').waitFor();
      await alert.getByText('Silver Game').waitFor();
      await find('partner', 'silver g');
      await only(silver);
    });

    it('says at a field what is wrong with it, and asks nothing', async () => {
      for (const [field, text, says] of [
        ['id', MARKUP, 'Hexadecimal digits and dashes, from the start of the id.'],
        ['wallet', '0x12', 'An address: 0x and 40 hex digits.'],
      ] as const) {
        await find(field, text);
        await visit.page.getByText(says).waitFor();
        await all();
        expect(new URL(visit.page.url()).searchParams.get(field)).toBeNull();
      }
      await visit.goto('/operate/redemptions?id=xyz');
      await visit.page.getByRole('alert').getByText('hexadecimal digits').waitFor();
    });

    it('is kept in the address while what is to do is looked at', async () => {
      const from = visit.page.getByLabel('From (UTC)');
      await visit.page.getByLabel('State', { exact: true }).selectOption('claimed');
      await from.fill('2020-01-02T03:04');
      await find('partner', 'gOLD');
      await only(gold);
      await visit.page.getByRole('tab', { name: 'To do' }).click();
      await visit.page.getByText('Needs attention first, then oldest.').waitFor();
      await visit.page.getByText('Nothing is open.').waitFor();
      const asked = new URL(visit.page.url()).searchParams;
      expect([asked.get('partner'), asked.get('state')]).toEqual(['gOLD', 'claimed']);
      await visit.page.reload();
      await visit.page.getByText('Nothing is open.').waitFor();
      await visit.page.getByRole('tab', { name: 'Search' }).click();
      await only(gold);
      expect(await box('partner').inputValue()).toBe('gOLD');
      expect(await from.inputValue()).toBe('2020-01-02T03:04');
      await clear();
      await visit.page.getByRole('tab', { name: 'To do' }).click();
      await visit.page.getByText('Nothing is open.').waitFor();
      expect(new URL(visit.page.url()).search).toBe('');
    });
  });

  it('the search of partners narrows the list by a part of the name, whatever is typed', async () => {
    await visit.goto('/operate/partners');
    const field = visit.page.getByLabel('Part of the name');
    const link = (name: string) => visit.page.getByRole('link', { name, exact: true });
    await link('Golden Game').waitFor();
    await field.fill('ERROR="doc');
    await link('Golden Game').waitFor({ state: 'detached' });
    await link(MARKUP).waitFor();
    await field.fill('game');
    await link('Silver Game').waitFor();
    await link('Golden Game').waitFor();
    expect(await link(MARKUP).count()).toBe(0);
    for (const text of ['%', '\\', '🎲']) {
      await field.fill(text);
      await visit.page.getByText('No partner has this in its name.').waitFor();
    }
    await field.fill('');
    await link(MARKUP).waitFor();
  });
});

describe('addresses', () => {
  const HOSTILE = '<img src=x onerror=alert(1)> אבג';

  it('the name of a partner leads to the partner, and one that there is not to the list', async () => {
    const partner = await desk.bench.game(HOSTILE);
    visit = await desk.operator();
    await visit.goto(`/operate/partners/${encodeURIComponent(HOSTILE)}`);
    await visit.heading(HOSTILE);
    expect(new URL(visit.page.url()).pathname).toBe(`/operate/partners/${partner}`);
    await visit.goto('/operate/partners/onerror');
    await visit.page.getByText('No partner is called “onerror”.').waitFor();
    await visit.page.getByRole('link', { name: 'All partners' }).click();
    expect(await visit.page.getByLabel('Part of the name').inputValue()).toBe('onerror');
    await visit.page.getByRole('link', { name: HOSTILE }).waitFor();
  });

  it('what is no wallet is said once, without what cannot help', async () => {
    visit = await desk.operator();
    await visit.goto('/operate/wallets/foo');
    await visit.page.getByText('This is no address').waitFor();
    expect(await visit.page.getByRole('alert').count()).toBe(1);
    expect(await visit.page.getByRole('button', { name: /Try again|Compare/ }).count()).toBe(0);
    await visit.page.getByRole('link', { name: 'Look up another wallet' }).click();
    await visit.heading('Wallets');
  });

  it('the sign-in names the commands for a link, and tells a wallet that is no operator’s which account it is', async () => {
    const stranger = anAccount();
    visit = await desk.open(stranger);
    await visit.goto('/operate/sign-in');
    const page = visit.page.getByRole('main');
    await page.getByText('npm run --silent cli -- console link --role admin').waitFor();
    await page.getByText('./lowmark console link --role admin').waitFor();
    expect(await page.innerText()).not.toContain('`');
    await visit.press(`Sign in with ${WALLET_NAME}`);
    const alert = visit.page.getByRole('alert');
    await alert.getByText(stranger.address.toLowerCase()).waitFor();
    await alert.getByText('OPERATORS').waitFor();
  });

  it('a link signs in when it is pasted into the tab of a used one; without its token it is not sent', async () => {
    const [used, fresh] = [await desk.bench.console.link(), await desk.bench.console.link()];
    await new Visitor(desk.bench.console.origin).post('/api/auth/link', { token: used });
    const { page, origin } = await desk.open();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    await page.goto(`${origin}/sign-in/link`);
    await page.getByText('This address is not the whole link.').waitFor();
    expect(sent).not.toContain('/api/auth/link');
    // Like the address bar: a URL that differs only after the # does not reload the page.
    await page.evaluate(`location.href = '/sign-in/link#${used}'`);
    await page.getByText('This link was used or has expired. Make a new one.').waitFor();
    await page.evaluate(`location.href = '/sign-in/link#${fresh}'`);
    await page.getByRole('heading', { name: 'Overview', exact: true }).first().waitFor();
    expect(page.url()).not.toContain(fresh);
  });

  it('the page of a registry that is not set names the setting', async () => {
    visit = await desk.operator(VIEWER);
    await visit.goto('/operate/registry');
    await visit.page.getByText('REGISTRY_ADDRESS is not set for the console').waitFor();
  });
});

describe('long lists and charts', () => {
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
});
