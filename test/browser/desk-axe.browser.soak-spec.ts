/** Checks every page of operators and partners that the router has with axe: narrow and light, wide and dark. */
import { beforeAll, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { IndexStore, ReplayStore, SubscriptionStore } from '#libs/db';
import { graveFaults } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { aWebhookId } from '#libs/testing/partner';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { seedClaims, seedLog } from '../../apps/console/src/testing/operate-rows.support.js';
import { PartnerBench, WALLET } from '../console/partner-bench.support.js';
import { seedPublications } from '../console/registry-rows.support.js';
import { seedCalls, seedOpenDeduction, seedRequests } from './desk-rows.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

/** Enough for some twenty pages, each at two widths and in two colour schemes. */
const PATIENCE_MS = 300_000;

interface Look {
  readonly width: 360 | 1440;
  readonly colorScheme: 'light' | 'dark';
  /** Only the rules that depend on the look. */
  readonly only?: 'look';
}
/** Each width and each colour scheme once: what is wrong depends on one of the two. */
const LOOKS: readonly Look[] = [
  { width: 360, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark', only: 'look' },
];
/** For a page whose frame all others share. The frame has other parts on a wide screen than on a narrow one. */
const EVERY_LOOK: readonly Look[] = [
  { width: 360, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark', only: 'look' },
  { width: 1440, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'light', only: 'look' },
];
const NAME = `<img src=x onerror="document.title='taken'"> אבג ${'🎮'.repeat(20)}`;

const REGISTRY_ADDRESS = aWallet(0xe9);

const desk = useDesk((place) =>
  PartnerBench.start({ EVIDENCE_KEY, API_URL: 'http://127.0.0.1:1', REGISTRY_ADDRESS }, place),
);
let visit: DeskVisit;
/** Values for the parameters in the router's paths. */
let places: Readonly<Record<string, string>>;
beforeAll(async () => {
  const { database, clock } = desk.bench.console;
  const { id: partner, prefix: keyPrefix } = desk.bench.acme;
  await desk.bench.console.partner(NAME);
  const { id: redemption } = await aStored(database, partner, 'attention: deduction-unresolved');
  await aStored(database, partner, 'claimed');
  await aStored(database, partner, 'deducted');
  await seedCalls(database, { partner, hours: 30, nowMs: Date.now() });
  await seedRequests(database, { keyPrefix, hours: 30 });
  await seedClaims(database, clock.nowMs());
  await seedLog(database, partner, 60);
  const { chainId = 0 } = (await new IndexStore(database).state()) ?? {};
  await seedPublications(database, { chainId, registry: REGISTRY_ADDRESS }, Date.now());
  await seedOpenDeduction(database, partner);
  await desk.bench.console.invitation(partner);
  const webhook = await aWebhook(partner);
  places = { partner, redemption, webhook, wallet: WALLET, page: 'signatures' };
});

/** Adds a webhook with an event in its log. */
async function aWebhook(partner: PartnerId): Promise<string> {
  const { database } = desk.bench.console;
  const [id, rule] = [aWebhookId(), undefined];
  const terms = { url: 'https://hooks.example/lowmark', topics: ['redemption.*'], rule } as const;
  const audit = { actor: 'operator:test', note: { command: 'test', outcome: 'done' } } as const;
  const ciphertext = Buffer.from('sealed');
  await new SubscriptionStore(database).add(partner, { id, ciphertext, ...terms }, audit);
  const test = { id, type: 'webhook.test', payload: '{}' };
  await new ReplayStore(database).addTest(partner, test, audit);
  return id;
}

/** All paths of the router below an area, with values in place of the parameters. */
async function pagesOf(area: string): Promise<string[]> {
  await visit.goto(area);
  const known = await visit.page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)');
  const paths = known.filter((path) => path === area || path.startsWith(`${area}/`));
  return [...new Set(paths.map((path) => path.replace(/\/$/, '')))].map((path) =>
    path.replace(/\$(\w+)/g, (_, name: string) => {
      const place = places[name];
      if (place === undefined) throw new Error(`What stands for $${name} of ${path}?`);
      return place;
    }),
  );
}

/**
 * Leads to another page of the area within the document. A document loads axe once, which takes several times as long as
 * a check.
 */
async function lead(path: string): Promise<void> {
  const { page } = visit;
  await page.evaluate(`{
    for (const title of document.querySelectorAll('h1')) title.dataset.before = '';
    void __TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} });
  }`);
  await page.locator('h1[data-before]').first().waitFor({ state: 'detached' });
}

/** Waits until the page has its data: no request of it has run for a moment. */
async function quiet(): Promise<void> {
  const { page } = visit;
  let [running, changedMs] = [0, performance.now()];
  const count = (by: number) => (): void => {
    running = Math.max(0, running + by);
    changedMs = performance.now();
  };
  const [begins, ends] = [count(1), count(-1)];
  page.on('request', begins).on('requestfinished', ends).on('requestfailed', ends);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
  await eventually(() => running === 0 && performance.now() - changedMs > 300);
  page.off('request', begins).off('requestfinished', ends).off('requestfailed', ends);
}

/** The serious findings of axe on the current page in each look, and whether the page is wider than the screen. */
async function findings(looks = LOOKS): Promise<string[]> {
  const { page } = visit;
  await quiet();
  const found: string[] = [];
  for (const { width, colorScheme, only } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await visit.settled();
    const faults = await graveFaults(page, only);
    found.push(...faults.map((fault) => `${width} px, ${colorScheme}: ${fault}`));
  }
  return found;
}

/** Pages without the frame of their area. */
const isAlone = (path: string): boolean => /\/(sign-in|signed-in|invitation)$/.test(path);

async function faultsOf(area: string): Promise<string[]> {
  const pages = await pagesOf(area);
  expect(pages.length).toBeGreaterThan(12);
  const found = await findings(EVERY_LOOK);
  const others = pages.filter((path) => path !== area);
  others.sort((one, other) => Number(isAlone(one)) - Number(isAlone(other)));
  for (const path of others) {
    await (isAlone(path) ? visit.goto(path) : lead(path));
    found.push(...(await findings()).map((finding) => `${path} ${finding}`));
  }
  return found;
}

it(
  'no page of operators has a serious fault',
  async () => {
    visit = await desk.operator();
    expect(await faultsOf('/operate')).toEqual([]);
    // The partner's name must be shown as text, not as markup.
    await visit.goto('/operate/partners');
    await visit.page.getByText('onerror').first().waitFor();
    expect(await visit.page.locator('img').count()).toBe(0);
  },
  PATIENCE_MS,
);

it(
  'no page of partners has one',
  async () => {
    visit = await desk.member(desk.bench.acme.id);
    expect(await faultsOf('/partner')).toEqual([]);
  },
  PATIENCE_MS,
);

it(
  'no form that is open over a page has one, nor the sign-in above it',
  async () => {
    const found: string[] = [];
    const open = async (path: string, name: string): Promise<void> => {
      const { page, origin } = visit;
      // Closes the form before.
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      if (page.url() === 'about:blank') await visit.goto(path);
      else if (page.url() !== origin + path) await lead(path);
      await visit.press(name);
      await page.getByRole('dialog').getByRole('button').first().waitFor();
      await add(name);
    };
    const add = async (name: string): Promise<void> => {
      found.push(...(await findings()).map((finding) => `${name} ${finding}`));
    };
    visit = await desk.member(desk.bench.acme.id);
    await open('/partner/webhooks', 'Add a webhook');
    await open(`/partner/webhooks/${String(places['webhook'])}`, 'Show');
    visit = await desk.operator();
    const partner = `/operate/partners/${desk.bench.acme.id}`;
    for (const name of ['Change', 'Add a credential', 'Invite']) await open(partner, name);
    await open('/operate/reconciliation', 'Acknowledge');
    await open('/operate/partners', 'New partner');
    desk.bench.console.clock.advance(6 * 60_000);
    await visit.dialog('New partner').getByLabel('Name').fill('Fresh');
    await visit.press('New partner', visit.dialog('New partner'));
    await visit.dialog('Sign in again').waitFor();
    await add('Sign in again');
    expect(found).toEqual([]);
  },
  PATIENCE_MS,
);
