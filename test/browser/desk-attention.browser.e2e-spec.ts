/**
 * Tests how operators find something, by a search or by an address; and what needs their attention: actions that wait for
 * a second operator, redemptions that are stuck, and what the overview says of services, index and price.
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { type Redemption } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import {
  ADMIN,
  anAccount,
  OPERATOR,
  type Place,
  VIEWER,
} from '../../apps/console/src/testing/console-harness.support.js';
import { seedIndex, STAKER } from '../../apps/console/src/testing/operate-rows.support.js';
import { Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { DeskBench } from '../console/desk.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit, WALLET_NAME } from './desk-visit.js';

const ACTION = 'End it: the partner took no points';
/** More than APPROVAL_ABOVE_USD, which is 1,000. */
const USD = { digits: 500_000n, scale: 2 };

let indexer: Server;
const desk = useDesk(startBench);
afterAll(() => {
  if (indexer.listening) indexer.close();
});

/** Starts the bench with an indexer that answers, and an api that does not. */
async function startBench(place: Place): Promise<DeskBench> {
  indexer = createServer((_, answer) => {
    answer.setHeader('content-type', 'application/json');
    answer.end(JSON.stringify({ status: 'ready', checks: {} }));
  });
  await new Promise<void>((done) => indexer.listen(0, '127.0.0.1', done));
  const { port } = indexer.address() as AddressInfo;
  const INDEXER_URL = `http://127.0.0.1:${port}`;
  // At the usual port of the api a stack of the machine may listen.
  const API_URL = 'http://127.0.0.1:1';
  return DeskBench.start({ INDEXER_URL, API_URL, APPROVAL_ABOVE_USD: '1000' }, place);
}

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
      await find('id', 'ffffffff');
      await visit.page.getByText('No redemption is like that.').waitFor();
      await clear();
      const alert = visit.page.getByRole('alert');
      await find('partner', `';--`);
      await alert.getByText('partner').first().waitFor();
      expect(await link(gold).count()).toBe(0);
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

  it('the search of partners narrows the list by a part of the name', async () => {
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
    await field.fill('%');
    await visit.page.getByText('No partner has this in its name.').waitFor();
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

describe('an action that needs a second operator', () => {
  const REASON = '<b>Their mail of Monday</b> says so.';

  const request = ({ page }: DeskVisit, id: string) =>
    page.getByRole('region', { name: 'redemption resolve' }).filter({ hasText: id });
  const actionsOn = async (id: string) => {
    const { rows } = await desk.bench.console.database.pool.query<{
      actor: string;
      arguments: object;
    }>(
      `SELECT actor, arguments FROM redemption.audit WHERE redemption_id = $1 AND command = 'redemption resolve'`,
      [id],
    );
    return rows;
  };

  // Comes before the others: it expects that no other action waits.
  it('a redemption above the set value is resolved once, by another operator who sees its worth and is asked again', async () => {
    const partner = await desk.bench.game('Worth');
    const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved', {
      usdAmount: USD,
    });
    const first = await desk.operator(OPERATOR);
    const ask = async (): Promise<void> => {
      await first.goto(`/operate/redemptions/${id}`);
      await first.press(ACTION);
      const asking = first.dialog(`${ACTION}?`);
      await asking.getByText('This is final: nothing takes it back.').waitFor();
      await asking.getByText('from 1000 USD on another operator than you approves it').waitFor();
      await asking.getByLabel('Reason').fill(REASON);
      await first.press(ACTION, asking);
      await first.page.getByText('Waiting for a second operator', { exact: true }).waitFor();
      await first.page.getByRole('link', { name: 'To the approvals' }).click();
    };
    const approve = { name: 'Approve and do it' };
    await ask();
    await first.press('Take it back', request(first, id));
    await request(first, id).waitFor({ state: 'detached' });
    await first.page.getByText('All', { exact: true }).click();
    await request(first, id).getByText('withdrawn', { exact: true }).waitFor();
    await ask();
    await request(first, id).getByText('You asked for it: another operator decides.').waitFor();
    expect(await request(first, id).getByRole('button', approve).count()).toBe(0);
    expect(await actionsOn(id)).toEqual([]);

    // The second operator has the same request in two windows; the later approval is too late.
    const second = await desk.operator();
    const late = await desk.operator();
    await late.goto('/operate/approvals');
    await request(late, id).getByRole('button', approve).waitFor();
    await late.page.route('**/api/operate/approvals?*', (route) => route.abort());
    await second.goto('/operate');
    const figures = second.page.getByRole('region', { name: 'Redemptions' });
    await figures.getByText('1 waiting for a second operator').waitFor();
    const menu = second.page.getByRole('navigation');
    await menu.getByRole('img', { name: '1 waiting for a second operator' }).waitFor();
    await menu.getByRole('link', { name: 'Approvals' }).click();
    await second.page.getByText('Actions on redemptions of 1000 USD or more wait here').waitFor();
    const card = request(second, id);
    await card.getByTitle('5000.00', { exact: true }).waitFor();
    await card.getByText('Worth', { exact: true }).waitFor();
    await card.getByText(REASON).waitFor();
    expect(await card.locator('b').filter({ hasText: 'Monday' }).count()).toBe(0);
    const link = card.getByRole('link', { name: id });
    expect(await link.getAttribute('href')).toBe(`/operate/redemptions/${id}`);

    await second.press(approve.name, card);
    const dialog = second.dialog(`${approve.name}?`);
    await dialog.getByText('cannot be taken back').waitFor();
    await second.press('Cancel', dialog);
    await dialog.waitFor({ state: 'detached' });
    await second.press(approve.name, card);
    await second.press(approve.name, dialog);
    await second.page.getByRole('status').getByText('attention -> failed').waitFor();
    await card.waitFor({ state: 'detached' });
    await menu.getByRole('img').waitFor({ state: 'detached' });
    await late.press(approve.name, request(late, id));
    await late.press(approve.name, late.dialog(`${approve.name}?`));
    await request(late, id).getByRole('alert').waitFor();

    const [row, ...more] = await actionsOn(id);
    expect(more).toEqual([]);
    expect(row?.actor).toBe(`operator:${OPERATOR.address.toLowerCase()}`);
    expect(JSON.stringify(row?.arguments)).toContain(ADMIN.address.toLowerCase());
    await first.goto(`/operate/redemptions/${id}`);
    await first.page.getByText('No action is possible in this state.').waitFor();
  });

  it('a lower budget of a partner is set at once, a higher one waits with its reason', async () => {
    const partner = await desk.bench.game('Budgeted');
    const first = await desk.operator(ADMIN);
    await first.goto(`/operate/partners/${partner}`);
    await first.press('Change');
    const form = first.page.getByRole('dialog');
    const budget = form.getByLabel('Tokens in a UTC day');
    const reason = form.getByRole('textbox', { name: 'Reason' });
    expect(await reason.count()).toBe(0);
    await budget.fill('1000000.1');
    await reason.waitFor();
    await budget.fill('77.5');
    await form.getByText('A lower budget is set at once').waitFor();
    expect(await reason.count()).toBe(0);
    await first.press('Set', form);
    const said = first.page.getByRole('status');
    await said.getByText(/^Budgeted, [0-9a-f-]{36}, is set\.$/).waitFor();
    await first.page
      .getByTitle(/^77\.5/)
      .first()
      .waitFor();

    await first.press('Change');
    await budget.fill('7000000');
    await first.press('Set', form);
    await form
      .getByText(/“Reason” must be given/)
      .first()
      .waitFor();
    await reason.fill(REASON);
    await first.press('Set', form);
    await first.page.getByText('Waiting for a second operator', { exact: true }).waitFor();
    await first.goto('/operate/approvals');
    const waiting = first.page.getByRole('region', { name: 'partner set' });
    await waiting.getByText(REASON).waitFor();
    await waiting.getByRole('link', { name: `Budgeted, ${partner}` }).click();
    await first.page.getByRole('heading', { name: 'Budgeted' }).waitFor();
  });

  it('the end of a pause asks for a reason, and waits with it', async () => {
    const partner = await desk.bench.game('Resumed');
    expect((await desk.bench.cli('partner', 'pause', 'Resumed', '--as', 'mia')).code).toBe(0);
    const first = await desk.operator(OPERATOR);
    await first.goto(`/operate/partners/${partner}`);
    await first.press('Resume');
    const dialog = first.dialog('Resume');
    const reason = dialog.getByLabel('Reason');
    const resume = dialog.getByRole('button', { name: 'Resume', exact: true });
    await reason.waitFor();
    expect(await resume.isDisabled()).toBe(true);
    await reason.fill('   ');
    expect(await resume.isDisabled()).toBe(true);
    await reason.fill(REASON);
    await resume.click();
    await first.page.getByText('Waiting for a second operator', { exact: true }).waitFor();
    await first.page.getByText('paused', { exact: true }).waitFor();
  });
});

describe('redemptions', () => {
  it('have their amounts on a screen of 1280 px, with cents, and are trouble of their partner', async () => {
    const name = 'A partner with a name of some length';
    const partner = await desk.bench.game(name);
    const { id } = await desk.bench.stored(partner, 'attention: deduction-unresolved', {
      usdAmount: { digits: 228n, scale: 1 },
    });
    visit = await desk.operator(OPERATOR);
    await visit.page.setViewportSize({ width: 1280, height: 900 });
    await visit.goto('/operate/redemptions');
    const table = visit.page.getByRole('region', { name: 'To do' });
    const row = table.getByRole('row').filter({ hasText: id });
    await row.getByText('22.80', { exact: true }).waitFor();
    const region = await table.boundingBox();
    const rightOf = ({ x, width }: { x: number; width: number }) => x + width;
    for (const name of ['Points', 'Tokens', 'USD']) {
      const box = await table.getByRole('columnheader', { name, exact: true }).boundingBox();
      if (box === null || region === null) throw new Error('nothing is shown');
      expect([name, rightOf(box) <= rightOf(region) + 1]).toEqual([name, true]);
    }
    const scrolled = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
      document.querySelector('[role=region][aria-label="To do"]'))`;
    expect(await visit.page.evaluate<number>(scrolled)).toBeLessThanOrEqual(0);
    await visit.goto('/operate/partners');
    const troubled = visit.page.getByRole('row').filter({ hasText: name });
    await troubled.getByText('1 redemption needs attention').waitFor();
  });

  it('in attention name the buttons, also of what cannot be done yet, and from when', async () => {
    const partner = await desk.bench.game('Early');
    const stored = await desk.bench.stored(partner, 'attention: deduction-unresolved');
    const { id, lastDeductAtMs } = stored;
    desk.bench.console.clock.set((lastDeductAtMs ?? 0) + 60_000);
    visit = await desk.operator(OPERATOR);
    await visit.goto(`/operate/redemptions/${id}`);
    const waits = visit.page.getByRole('region', { name: 'State', exact: true });
    await waits.getByText(/^Waiting for an operator\./).waitFor();
    await waits.getByText(`“${ACTION}”`).waitFor();
    expect(await waits.innerText()).not.toContain('`');
    const actions = visit.page.getByRole('region', { name: 'Actions' });
    const button = actions.getByRole('button', { name: ACTION });
    await button.waitFor();
    expect(await button.isDisabled()).toBe(true);
    const from = new Date((lastDeductAtMs ?? 0) + 600_001).toISOString();
    await actions.getByText(/Possible from .* UTC on\./).waitFor();
    expect(await actions.locator(`time[datetime="${from}"]`).count()).toBe(1);
    expect(await actions.innerText()).not.toContain(from);
  });
});

describe('the overview', () => {
  it('an overview whose services are silent says so in every card', async () => {
    // Seeded in this test, since an index counts as level for one minute only.
    await seedIndex(desk.bench.console.database, Date.now());
    visit = await desk.operator();
    await visit.goto('/operate');
    const alerts = visit.page.getByRole('region', { name: 'Alerts' });
    const index = visit.page.getByRole('region', { name: 'Index' });
    await index.getByText('level with the chain').waitFor();
    await alerts.getByText('The api does not answer').waitFor();
    await alerts.getByText('No Alertmanager is set.').waitFor();
    expect(await alerts.getByText('The indexer does not answer').count()).toBe(0);

    indexer.closeAllConnections();
    await new Promise((done) => indexer.close(done));
    await visit.goto('/operate');
    await alerts.getByText('The indexer does not answer').waitFor();
    await index.getByText('the indexer does not answer').waitFor();
    expect(await index.getByText('level with the chain').count()).toBe(0);
  });

  it('an index that is behind says what the api does then, and how old a balance is', async () => {
    const { pool } = desk.bench.console.database;
    await pool.query('UPDATE staking.index_state SET head_seconds = head_seconds - 660');
    visit = await desk.operator();
    await visit.goto('/operate');
    const alerts = visit.page.getByRole('region', { name: 'Alerts' });
    await alerts.getByText(/^The index is .* behind\. The API refuses snapshots from/).waitFor();
    await visit.goto(`/operate/wallets/${STAKER}`);
    await visit.page.getByText(/^as of 1\d min .* ago$/).waitFor();
  });

  it('a held price is critical, and is accepted on the page', async () => {
    await desk.bench.console.database.query({
      text: `INSERT INTO staking.price_hold (reason, before_usd, max_change, usd, source, observed_at)
      VALUES ('jump', 0.15, 0.2, 0.3, 'fixed', now())`,
    });
    visit = await desk.operator();
    await visit.goto('/operate');
    const alerts = visit.page.getByRole('region', { name: 'Alerts' });
    const alert = alerts.getByText('PriceHeld').locator('..');
    await alert.getByText('critical').waitFor();
    await alerts.getByText('Nothing can be redeemed until you accept one.').waitFor();
    await visit.press('Accept a price');
    const dialog = visit.dialog('Which price is right?');
    const accept = dialog.getByRole('button', { name: 'Accept this price' });
    expect(await accept.isDisabled()).toBe(true);
    await dialog.getByLabel('US dollars for one token').fill('0.5');
    await dialog.getByLabel('Reason').fill('Two exchanges say so.');
    await accept.click();
    await visit.page.getByText('Waiting for a second operator', { exact: true }).waitFor();
  });
});
