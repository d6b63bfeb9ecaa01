/**
 * A partner whose name is the id of another one. Whatever is done to the other one by its id, or by its own name, must
 * reach that one.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CallbackStore, MemberStore, PartnerStore, SubscriptionStore } from '#libs/db';
import { type PartnerId } from '#libs/domain';
import {
  type ActionResultBody,
  type ApprovalBody,
  type ApprovalsBody,
} from '../../apps/console/src/approvals/approval.dto.js';
import {
  ADMIN,
  anAccount,
  refusalOf,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { bodyOf, DeskBench } from './desk.support.js';

const PARTNERS = '/api/operate/partners';
const LARGE = 'My Game';
const SECOND = anAccount();
const reason = 'The season begins.';

let bench: DeskBench;
let [admin, second] = [] as unknown as [Visitor, Visitor];
/** Ids of the partner that is meant, and of the one whose name is that id. */
let [large, impostor] = [] as unknown as [PartnerId, PartnerId];
beforeAll(async () => {
  const OPERATORS = `${ADMIN.address}=admin,${SECOND.address}=admin`;
  bench = await DeskBench.start({ APPROVAL_ABOVE_USD: '1000', OPERATORS });
  large = await bench.game(LARGE);
  impostor = await bench.game('Impostor');
  await rename(impostor, large);
});
afterAll(() => bench.stop());
beforeEach(async () => {
  bench.console.clock.set(Date.now());
  admin = await bench.console.signedIn(ADMIN);
  second = await bench.console.signedIn(SECOND);
});

/** No page or command renames a partner, and none takes such a name. */
const rename = (id: PartnerId, name: string) =>
  bench.console.database.pool.query('UPDATE partners.partner SET name = $2 WHERE id = $1', [
    id,
    name,
  ]);

const found = (id: PartnerId) => new PartnerStore(bench.console.database).find(id);
const callback = (id: PartnerId) => new CallbackStore(bench.console.database).find(id);
const keys = async (id: PartnerId) =>
  ((await found(id))?.credentials ?? []).filter(({ revokedAt }) => revokedAt === null).length;
const webhooks = async (id: PartnerId) =>
  (await new SubscriptionStore(bench.console.database).list(id)).length;
const budget = async (id: PartnerId) => (await callback(id))?.dailyTokenBudget?.digits;

async function requested(path: string, body: object): Promise<ApprovalBody> {
  const asked = await bodyOf<ActionResultBody>(admin.post(path, { ...body, reason }));
  return asked.approval as ApprovalBody;
}

const approve = (id: string) =>
  bodyOf<ApprovalBody>(second.post(`/api/operate/approvals/${id}/approve`));

describe('on the pages, by the id of the partner', () => {
  it('an approved rise of the daily budget raises that budget', async () => {
    const asked = await requested(`${PARTNERS}/${large}/settings`, {
      callback: { dailyTokenBudget: '2000000' },
    });
    const approved = await approve(asked.id);
    expect([await budget(large), await budget(impostor)]).toEqual([2_000_000n, 1_000_000n]);
    expect(asked.summary).toContain(`${LARGE}, ${large}`);
    expect(approved.outcome).toBe(`${LARGE}, ${large}, is set.`);
    const [set] = await bench.audit();
    expect(set).toMatchObject({ command: 'partner set', partner: large });
  });

  it('a pause and the end of it are of that partner', async () => {
    await bodyOf(admin.post(`${PARTNERS}/${large}/pause`));
    expect([(await callback(large))?.paused, (await callback(impostor))?.paused]).toEqual([
      true,
      false,
    ]);
    expect((await bench.audit())[0]).toMatchObject({ command: 'partner pause', partner: large });
    await new CallbackStore(bench.console.database).pause(impostor, true);
    expect(await refusalOf(admin.post(`${PARTNERS}/${large}/resume`))).toBe('400 BAD_REQUEST');
    const asked = await requested(`${PARTNERS}/${large}/resume`, {});
    const again = admin.post(`${PARTNERS}/${large}/resume`, { reason });
    expect(await refusalOf(again)).toBe('409 APPROVAL_PENDING');
    expect((await callback(large))?.paused).toBe(true);
    await approve(asked.id);
    expect([(await callback(large))?.paused, (await callback(impostor))?.paused]).toEqual([
      false,
      true,
    ]);
  });

  it('a credential is added to it, and a leaked one of it revoked', async () => {
    const request = 'b6ab7c0e-5f0a-4a7e-9b7e-6f0f0d9a4a11';
    const issued = await bodyOf<{ partner: PartnerId; apiKey: string }>(
      admin.post(`${PARTNERS}/${large}/credentials`, { request }),
    );
    expect([await keys(large), await keys(impostor)]).toEqual([2, 1]);
    const keyPrefix = issued.apiKey.slice(0, 12);
    const revoke = admin.post(`${PARTNERS}/${large}/credentials/revoke`, {
      ...{ keyPrefix, force: false },
    });
    expect(await refusalOf(revoke)).toBe('200');
    expect([await keys(large), await keys(impostor)]).toEqual([1, 1]);
    expect((await bench.audit())[0]).toMatchObject({ command: 'partner revoke', partner: large });
  });

  it('an invitation lets a person in to it, whose webhook and credential are of it', async () => {
    const { url } = await bodyOf<{ url: string }>(
      admin.post(`${PARTNERS}/${large}/invitations`, { note: 'Ann' }),
    );
    const invitation = new URL(url).hash.slice(1);
    const member = await bench.console.signedIn(anAccount(), { kind: 'partner', invitation });
    const members = new MemberStore(bench.console.database);
    expect([await members.list(impostor), (await members.list(large)).length]).toEqual([[], 1]);
    await bodyOf(
      member.post('/api/partner/webhooks', {
        ...{ url: 'https://game.example/told', topics: ['day.sealed'] },
      }),
    );
    expect([await webhooks(large), await webhooks(impostor)]).toEqual([1, 0]);
    expect((await bench.audit())[0]).toMatchObject({ partner: large });
  });
});

it('a request shows the partner by its id, with the name of then and of now', async () => {
  const game = await bench.game('Before');
  const asked = await requested(`${PARTNERS}/${game}/settings`, { callback: { maxPoints: '5' } });
  expect(asked.partner).toEqual({ id: game, name: 'Before' });
  await rename(game, 'After');
  const other = await bench.game('Before');
  const { approvals } = await bodyOf<ApprovalsBody>(second.get('/api/operate/approvals'));
  const seen = approvals.find(({ id }) => id === asked.id);
  expect(seen).toMatchObject({
    partner: { id: game, name: 'After' },
    arguments: { partner: game, partnerName: 'Before' },
    summary: expect.stringContaining(`Before, ${game}: `),
  });
  expect((await approve(asked.id)).outcome).toBe(`After, ${game}, is set.`);
  expect([(await callback(game))?.maxPoints, (await callback(other))?.maxPoints]).toEqual([
    5n,
    undefined,
  ]);
});

describe('on the command line', () => {
  it('the name of the partner means that partner', async () => {
    const set = await bench.cli('partner', 'set', LARGE, '--daily-token-budget', '7');
    expect([await budget(large), await budget(impostor)]).toEqual([7n, 1_000_000n]);
    expect(set).toMatchObject({ code: 0, out: expect.stringContaining(`${LARGE}, ${large}`) });
    const rotated = await bench.cli('partner', 'rotate', LARGE, '--json');
    expect(JSON.parse(rotated.out)).toMatchObject({ partnerId: large });
    const { apiKey } = JSON.parse(rotated.out) as { apiKey: string };
    const prefix = apiKey.slice(0, 12);
    expect(await keys(impostor)).toBe(1);
    const revoked = await bench.cli('partner', 'revoke', LARGE, '--key-prefix', prefix);
    expect(revoked).toMatchObject({ code: 0, out: expect.stringContaining(`${LARGE}, ${large}`) });
    const place = ['--url', 'https://game.example/two', '--topics', 'day.sealed'];
    const added = await bench.cli('partner', 'webhook', 'add', LARGE, ...place);
    expect(added).toMatchObject({ code: 0, err: `Partner: ${LARGE}, ${large}\n` });
    expect([await keys(impostor), await webhooks(large), await webhooks(impostor)]).toEqual([
      1, 2, 0,
    ]);
    const invited = await bench.cli('partner', 'invite', LARGE, '--note', 'Bob', '--json');
    expect(JSON.parse(invited.out)).toMatchObject({ partnerId: large });
  });

  it.each([
    ['pause'],
    ['members'],
    ['set', '--rate', '9'],
    ['revoke', '--key-prefix', 'svck_test', '--force'],
  ])(
    'a reference that means two partners is refused, and names both: %s',
    async (name, ...more) => {
      const ran = await bench.cli('partner', name, large, ...more);
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.err).toContain(`${LARGE}, ${large}`);
      expect(ran.err).toContain(`${large}, ${impostor}`);
      if (name === 'members') return;
      const refused = { command: `partner ${name}`, outcome: 'refused: PARTNER_AMBIGUOUS' };
      expect((await bench.audit())[0]).toMatchObject({ ...refused, partner: null });
    },
  );

  it('the other partner is reached by its own id', async () => {
    const set = await bench.cli('partner', 'set', impostor.toUpperCase(), '--rate', '9');
    expect(set.code).toBe(0);
    expect([(await found(large))?.rate, (await found(impostor))?.rate]).toEqual([20, 9]);
  });
});
