/** Tests the operators' pages of partners, and that the page of the registry shows the same as `registry status`. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore, PublicationStore } from '#libs/db';
import { dayText } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import {
  type IssuedBody,
  type PartnerBody,
  type PartnersBody,
  type PingBody,
} from '../../apps/console/src/operate/partners/partner.bodies.js';
import { type RedemptionsBody } from '../../apps/console/src/operate/redemptions/redemption.bodies.js';
import { type MembersBody } from '../../apps/console/src/operate/partners/members.controller.js';
import { type RegistriesBody } from '../../apps/console/src/operate/registry/registry.controller.js';
import {
  ADMIN,
  OPERATOR,
  refusalOf,
  VIEWER,
} from '../../apps/console/src/testing/console-harness.support.js';
import { seedIndex } from '../../apps/console/src/testing/operate-rows.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { bodyOf, DeskBench, get } from './desk.support.js';
import { FIRST, rootOf, seedPublications } from './registry-rows.support.js';

const PARTNERS = '/api/operate/partners';
const REGISTRIES = '/api/operate/registries';
const REGISTRY = aWallet(0xe9);
const HOSTILE = '<img src=x onerror=alert(1)> 🎮';

let bench: DeskBench;
let [admin, operator, viewer] = [] as unknown as [Visitor, Visitor, Visitor];
beforeAll(async () => {
  bench = await DeskBench.start({ REGISTRY_ADDRESS: REGISTRY });
});
afterAll(() => bench.stop());
beforeEach(async () => {
  bench.console.clock.set(Date.now());
  admin = await bench.console.signedIn(ADMIN);
  operator = await bench.console.signedIn(OPERATOR);
  viewer = await bench.console.signedIn(VIEWER);
});

const create = (visitor: Visitor, name: string, more: object = {}) =>
  visitor.post(PARTNERS, { request: randomUUID(), name, ...more });
const show = (id: string) => get<PartnerBody>(viewer, `${PARTNERS}/${id}`);

it('what moves secrets needs a sign-in of the last five minutes; the kill switch does not', async () => {
  const id = await bench.game('Fresh');
  bench.console.clock.advance(6 * 60_000);
  const stale = (path: string, body: object) => refusalOf(admin.post(path, body));
  const one = `${PARTNERS}/${id}`;
  expect(await stale(PARTNERS, { request: randomUUID(), name: 'Old' })).toBe(
    '401 FRESH_SIGN_IN_NEEDED',
  );
  expect(await stale(`${one}/credentials`, { request: randomUUID() })).toBe(
    '401 FRESH_SIGN_IN_NEEDED',
  );
  expect((await admin.post(`${one}/pause`)).status).toBe(200);
  expect(await stale(`${one}/resume`, {})).toBe('401 FRESH_SIGN_IN_NEEDED');
});

describe('a partner', () => {
  it('is created once, whatever is sent twice, and shows its secret once', async () => {
    const body = { request: randomUUID(), name: HOSTILE };
    const both = await Promise.all([admin.post(PARTNERS, body), admin.post(PARTNERS, body)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const issued = (await both.find(({ status }) => status === 201)?.json()) as IssuedBody;
    expect(await refusalOf(admin.post(PARTNERS, body))).toBe('409 ALREADY_DONE');
    expect(await refusalOf(create(admin, HOSTILE))).toBe('409 PARTNER_EXISTS');
    const found = await show(issued.partnerId);
    expect(found).toMatchObject({ name: HOSTILE, standing: 'no-callback', activeCredentials: 1 });
    const all = JSON.stringify([found, await get(viewer, PARTNERS)]);
    expect(all).not.toContain(issued.sharedSecret);
    expect(all).not.toContain(issued.apiKey);
    expect(bench.console.logged.join('')).not.toContain(issued.sharedSecret);
  });

  it('has a name that is its own and can be read, by the form as by the command', async () => {
    expect((await create(admin, 'Orchard')).status).toBe(201);
    for (const name of ['--help', 'Оrchard', 'Orch\u202eard', randomUUID()]) {
      const answer = await create(admin, name);
      expect([name, answer.status, await answer.json()]).toEqual([
        name,
        400,
        {
          success: false,
          code: 'BAD_REQUEST',
          field: 'name',
          message: expect.stringMatching(/^“Name” must /),
        },
      ]);
    }
    const answer = await create(admin, '0rchard');
    expect([answer.status, await answer.json()]).toEqual([
      409,
      {
        success: false,
        code: 'PARTNER_EXISTS',
        message: expect.stringMatching(/looks like it: Orchard \([0-9a-f-]{36}\)/),
      },
    ]);
  });

  it('is found by a part of its name, here and among redemptions; % and _ are characters', async () => {
    const id = await bench.game('Fund 100%_sure');
    await bench.game('Fund 1000 sure');
    const { id: redemption } = await bench.stored(id, 'deducted');
    const names = async (name: string) => {
      const query = new URLSearchParams({ name }).toString();
      return (await get<PartnersBody>(viewer, `${PARTNERS}?${query}`)).items.map((one) => one.name);
    };
    expect(await names('uND 10')).toEqual(['Fund 100%_sure', 'Fund 1000 sure']);
    expect(await names('%')).toEqual(['Fund 100%_sure']);
    expect(await names('0_')).toEqual([]);
    expect(await names('\\')).toEqual([]);
    expect(await names(`'; DROP TABLE partners.partner`)).toEqual([]);
    const search = (partner: string) =>
      viewer.get(`/api/operate/redemptions?${new URLSearchParams({ partner }).toString()}`);
    const found = await bodyOf<RedemptionsBody>(search('00%'));
    expect(found.items.map((one) => one.id)).toEqual([redemption]);
    const several = await search('fund');
    expect(await several.json()).toMatchObject({
      code: 'PARTNER_AMBIGUOUS',
      message: expect.stringContaining('“Fund 100%_sure”, “Fund 1000 sure”'),
    });
    expect(await refusalOf(search('%%'))).toBe('404 PARTNER_UNKNOWN');
    for (const query of ['name=', `name=${'x'.repeat(256)}`, 'name=a&name=b', 'name=%00']) {
      expect(await refusalOf(viewer.get(`${PARTNERS}?${query}`))).toBe('400 BAD_REQUEST');
    }
  });

  it('has its callback set, and its secret never read', async () => {
    const secret = 'whsec/Zx+81"no-body-may-see-this';
    const callback = { url: 'https://game.example/v1', key: 'a-key-of-the-game-1234', secret };
    const made = await bodyOf<IssuedBody>(
      create(admin, 'Set', { callback: { ...callback, usdPerPoint: '0.01' } }),
    );
    const path = `${PARTNERS}/${made.partnerId}/settings`;
    const more = { minPoints: '10', dailyTokenBudget: '1000.5', capabilities: ['tombstones'] };
    const done = await bodyOf<object>(admin.post(path, { rate: 5, callback: more }));
    expect(done).toEqual({
      done: true,
      outcome: `Set, ${made.partnerId}, is set.`,
      approval: null,
    });
    const set = await show(made.partnerId);
    expect(set).toMatchObject({
      standing: 'open',
      rate: 5,
      callback: {
        ...more,
        usdPerPoint: '0.01',
        url: 'https://game.example/v1',
        keyPrefix: 'a-key-of…',
      },
    });
    expect(JSON.stringify(set)).not.toContain('no-body-may-see-this');
    expect((await bench.audit())[0]?.arguments).not.toHaveProperty('callbackSecret', secret);
    const refused = (body: object) => refusalOf(admin.post(path, body));
    expect(await refused({})).toBe('400 OPTION_INVALID');
    expect(await refused({ callback: { maxPoints: '5' } })).toBe('400 OPTION_INVALID');
    expect(await refused({ callback: { url: 'http://10.0.0.1' } })).toBe('400 OPTION_INVALID');
  });

  it.each<[object, string, RegExp]>([
    [{ rate: 0 }, 'rate', /^“Requests per second” must be a whole number/],
    [{ callback: { url: 'http://10.0.0.1' } }, 'url', /does not begin with https:/],
    [{ callback: { bonusFrom: 'none', bonusRate: '1' } }, 'bonusRate', /takes no “Bonus rate”/],
    [{ callback: { minPoints: '2', maxPoints: '1' } }, 'minPoints', /more than the most/],
  ])('is not set to %j: the answer names the field', async (change, field, message) => {
    const callback = { url: 'https://game.example', key: 'k', secret: 's', usdPerPoint: '1' };
    const name = `Named ${randomUUID().slice(0, 8)}`;
    const { partnerId } = await bodyOf<IssuedBody>(create(admin, name, { callback }));
    const answer = await admin.post(`${PARTNERS}/${partnerId}/settings`, change);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({ field, message: expect.stringMatching(message) }),
    ]);
  });

  it('has its credentials replaced with an overlap; the last one ends only by force', async () => {
    const { partnerId } = await bodyOf<IssuedBody>(create(admin, 'Rotated'));
    const path = `${PARTNERS}/${partnerId}/credentials`;
    const request = randomUUID();
    const both = await Promise.all([admin.post(path, { request }), admin.post(path, { request })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const { credentials } = await show(partnerId);
    expect(credentials).toHaveLength(2);
    const revoke = (at: number, force = false) =>
      admin.post(`${path}/revoke`, { keyPrefix: credentials[at]?.keyPrefix, force });
    expect(await bodyOf(revoke(0))).toMatchObject({ left: 1 });
    expect(await refusalOf(revoke(0))).toBe('404 CREDENTIAL_MISSING');
    expect(await refusalOf(revoke(1))).toBe('409 LAST_CREDENTIAL');
    expect(await bodyOf(revoke(1, true))).toMatchObject({ left: 0 });
  });

  it('is what nothing else is', async () => {
    for (const id of ['x', randomUUID(), '%00', "'; DROP TABLE partners.partner"]) {
      const path = `${PARTNERS}/${encodeURIComponent(id)}`;
      expect([id, (await viewer.get(path)).status]).toEqual([id, 404]);
    }
    expect(await refusalOf(viewer.get(`${PARTNERS}?after=a&after=b`))).toBe('400 BAD_REQUEST');
    const missing = randomUUID();
    expect(await refusalOf(admin.post(`${PARTNERS}/${missing}/pause`))).toBe('404 PARTNER_UNKNOWN');
    const { partnerId } = await bodyOf<IssuedBody>(create(admin, 'Bare'));
    expect(await refusalOf(operator.post(`${PARTNERS}/${partnerId}/pause`))).toBe(
      '409 PARTNER_MISSING',
    );
  });
});

describe('the people of a partner', () => {
  it('are invited by a link that is shown once, and removed', async () => {
    const id = await bench.game('Invited');
    const made = await bodyOf<{ url: string }>(
      admin.post(`${PARTNERS}/${id}/invitations`, { note: HOSTILE }),
    );
    expect(made.url).toMatch(/\/partner\/invitation#svct_/);
    const members = () => get<MembersBody>(viewer, `${PARTNERS}/${id}/members`);
    const [invitation] = (await members()).invitations;
    expect(invitation).toMatchObject({ state: 'open', note: HOSTILE });
    expect(JSON.stringify(await members())).not.toContain('svct_');
    const withdraw = () =>
      admin.post(`${PARTNERS}/${id}/invitations/${invitation?.id ?? ''}/withdraw`);
    expect((await withdraw()).status).toBe(204);
    expect((await withdraw()).status).toBe(404);
    const remove = admin.post(`${PARTNERS}/${id}/members/remove`, { subject: 'wallet:0x1' });
    expect((await remove).status).toBe(404);
  });
});

describe('the audit', () => {
  it('has the same row from a page as from the command line', async () => {
    const id = await bench.game('Audited');
    const actor = `operator:${ADMIN.address.toLowerCase()}`;
    const as = ['--as', ADMIN.address.toLowerCase()];
    const asBefore = ['partner', 'set', id, '--rate', '20', '--daily-token-budget', '100'];
    const twice = async (path: string, body: object, ...argv: string[]) => {
      // A row has the values that the change has replaced.
      expect((await bench.cli(...asBefore, ...as)).code).toBe(0);
      expect((await admin.post(`${PARTNERS}/${id}${path}`, body)).ok).toBe(true);
      const [byPage] = await bench.audit(1);
      expect((await bench.cli(...asBefore, ...as)).code).toBe(0);
      expect((await bench.cli(...argv, ...as)).code).toBe(0);
      const [byCli] = await bench.audit(1);
      expect(byPage).toEqual(byCli);
      expect(byPage).toMatchObject({ actor, partner: id });
    };
    await twice('/pause', {}, 'partner', 'pause', id);
    await twice('/resume', {}, 'partner', 'resume', id);
    await twice('/settings', { rate: 7 }, 'partner', 'set', id, '--rate', '7');
    const budget = ['partner', 'set', id, '--daily-token-budget', '12.50'];
    await twice('/settings', { callback: { dailyTokenBudget: '12.50' } }, ...budget);
  });
});

it('a private address is not called without the setting, whatever the request says', async () => {
  const id = await bench.game('Local');
  const text = `UPDATE partners.callback SET url = 'http://127.0.0.1:1/game' WHERE partner_id = $1`;
  await bench.console.database.query({ text, values: [id] });
  const ping = (more: object) =>
    bodyOf<PingBody>(
      operator.post(`${PARTNERS}/${id}/ping`, { address: `0x${'11'.repeat(20)}`, ...more }),
    );
  for (const more of [{}, { allowPrivate: true }]) {
    const body = await ping(more);
    expect(body).toMatchObject({ good: false, outcome: expect.stringMatching(/^nothing-sent/) });
    expect(body.mend).toContain('ALLOW_PRIVATE_PARTNERS=true for the service and the console');
  }
});

/** The output of the command. */
async function status(chainId: number): Promise<object> {
  const settings = { CHAIN_ID: String(chainId), REGISTRY_ADDRESS: REGISTRY };
  const { out } = await bench.cliWith(settings, 'registry', 'status', '--json');
  return JSON.parse(out) as object;
}

describe('the registry', () => {
  it('of an installation without an index has nothing to tell', async () => {
    expect(await get<RegistriesBody>(viewer, REGISTRIES)).toEqual({
      registries: [{ stakeSet: 'default', registry: REGISTRY, status: null }],
    });
  });

  it('has what is published, what waits and what differs, as the command has it', async () => {
    const { database, clock } = bench.console;
    await seedIndex(database, clock.nowMs());
    const { chainId = 0 } = (await new IndexStore(database).state()) ?? {};
    const place = { chainId, registry: REGISTRY };
    await seedPublications(database, place, clock.nowMs());
    const [one, ...more] = (await get<RegistriesBody>(viewer, REGISTRIES)).registries;
    expect(more).toEqual([]);
    expect(one?.status).toMatchObject({
      ...{ final: 2, lastDay: dayText(FIRST + 1), mined: 1, waiting: 1, different: 1, revised: 1 },
      revisedDays: [dayText(FIRST)],
    });
    expect(one?.status?.publications[0]).toMatchObject({ status: 'due', transactionHash: null });
    expect(one?.status?.publications.at(-1)).toMatchObject({
      ...{ day: dayText(FIRST), status: 'final', root: rootOf(FIRST), reason: null },
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    // The page does not show the nonce.
    const { registry, publications, ...others } = (await status(chainId)) as {
      registry: string;
      publications: object[];
    };
    const shown = {
      ...others,
      publications: publications.map((line) => ({ ...line, nonce: undefined })),
    };
    expect([one?.registry, one?.status]).toEqual([registry, shown]);
    // Publications of another registry are not shown.
    const other = new PublicationStore(database, { chainId, registry: aWallet(0xea) });
    const day = { day: FIRST, revision: 1, root: rootOf(1) };
    await other.add(day, 'default', clock.nowMs());
    expect((await get<RegistriesBody>(viewer, REGISTRIES)).registries).toEqual([one]);
  });
});

describe('an installation with few settings', () => {
  let bare: DeskBench;
  let visitor: Visitor;
  beforeAll(async () => {
    bare = await DeskBench.start({
      ...{ SECRETS_KEY: '', EVIDENCE_KEY: '', REGISTRY_ADDRESS: `golf=${REGISTRY}` },
    });
  });
  afterAll(() => bare.stop());
  beforeEach(async () => {
    visitor = await bare.console.signedIn(ADMIN);
  });

  it('without SECRETS_KEY says so, and with which command', async () => {
    const answer = await create(visitor, 'Keyless');
    expect(answer.status).toBe(503);
    const refusal = (await answer.json()) as { code: string; message: string };
    expect(refusal.code).toBe('SETTING_MISSING');
    expect(refusal.message).toContain('./lowmark cli partner create');
  });

  it('does not show a registry that REGISTRY_ADDRESS does not name', async () => {
    expect(await get<RegistriesBody>(visitor, REGISTRIES)).toEqual({
      registries: [{ stakeSet: 'default', registry: null, status: null }],
    });
  });
});
