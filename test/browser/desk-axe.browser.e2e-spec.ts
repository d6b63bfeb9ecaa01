/** Checks every page of operators and partners that the router has with axe: narrow and light, wide and dark. */
import { beforeAll, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { ReplayStore, SubscriptionStore } from '#libs/db';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { aWebhookId } from '#libs/testing/partner';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { seedClaims, seedLog } from '../../apps/console/src/testing/operate-rows.support.js';
import { PartnerBench, WALLET } from '../console/partner-bench.support.js';
import { seedCalls, seedRequests } from './desk-rows.js';
import { useDesk } from './desk.js';
import { type DeskVisit, EVERY_LOOK } from './desk-visit.js';

/** Enough for some twenty pages, each at two widths and in two colour schemes. */
const PATIENCE_MS = 300_000;
const NAME = `<img src=x onerror="document.title='taken'"> אבג ${'🎮'.repeat(20)}`;

const desk = useDesk((place) =>
  PartnerBench.start({ EVIDENCE_KEY, API_URL: 'http://127.0.0.1:1' }, place),
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

async function faultsOf(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const [place, path] of paths.entries()) {
    await visit.goto(path);
    const findings = await visit.findings(place === 0 ? EVERY_LOOK : undefined);
    found.push(...findings.map((finding) => `${path} ${finding}`));
  }
  return found;
}

it(
  'no page of operators has a serious fault',
  async () => {
    visit = await desk.operator();
    const pages = await pagesOf('/operate');
    expect(pages.length).toBeGreaterThan(12);
    expect(await faultsOf(pages)).toEqual([]);
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
    const pages = await pagesOf('/partner');
    expect(pages.length).toBeGreaterThan(12);
    expect(await faultsOf(pages)).toEqual([]);
  },
  PATIENCE_MS,
);

it(
  'no form that is open over a page has one, nor the sign-in above it',
  async () => {
    visit = await desk.operator();
    const partner = `/operate/partners/${desk.bench.acme.id}`;
    const forms = [
      ['/operate/partners', 'New partner'],
      [partner, 'Change'],
      [partner, 'Add a credential'],
      [partner, 'Invite'],
      ['/operate/reconciliation', 'Acknowledge'],
    ] as const;
    const found: string[] = [];
    const add = async (name: string): Promise<void> => {
      found.push(...(await visit.findings()).map((finding) => `${name} ${finding}`));
    };
    for (const [path, name] of forms) {
      await visit.goto(path);
      await visit.press(name);
      await visit.page.getByRole('dialog').getByRole('button').first().waitFor();
      await add(name);
    }
    desk.bench.console.clock.advance(6 * 60_000);
    await visit.goto('/operate/partners');
    await visit.press('New partner');
    await visit.dialog('New partner').getByLabel('Name').fill('Fresh');
    await visit.press('New partner', visit.dialog('New partner'));
    await visit.dialog('Sign in again').waitFor();
    await add('Sign in again');
    expect(found).toEqual([]);
  },
  PATIENCE_MS,
);
