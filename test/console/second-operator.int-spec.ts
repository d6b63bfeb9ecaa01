/**
 * Tests two-person approval of actions on partners and of adoption, wherever APPROVAL_ABOVE_USD is set; and that an action
 * on a partner reaches that one, beside a partner whose name is its id.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CallbackStore, MemberStore, PartnerStore, SubscriptionStore } from '#libs/db';
import { type PartnerId } from '#libs/domain';
import { hashApiKey, KeyRing } from '#libs/signing';
import {
  type ActionResultBody,
  type ApprovalBody,
  type ApprovalsBody,
} from '../../apps/console/src/approvals/approval.dto.js';
import { type PartnerBody } from '../../apps/console/src/operate/partners/partner.bodies.js';
import {
  type RedemptionBody,
  type RedemptionsBody,
} from '../../apps/console/src/operate/redemptions/redemption.bodies.js';
import {
  ADMIN,
  anAccount,
  OPERATOR,
  refusalOf,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { bodyOf, DeskBench, get } from './desk.support.js';

const PARTNERS = '/api/operate/partners';
const REDEMPTIONS = '/api/operate/redemptions';
const STUCK = 'attention: deduction-unresolved';
const UNSEALED = '/api/operate/unsealed-redemptions';
const SECOND = anAccount();
const reason = 'The contract with them was renewed.';

let bench: DeskBench;
let [admin, second, operator] = [] as unknown as [Visitor, Visitor, Visitor];
beforeAll(async () => {
  const OPERATORS = `${ADMIN.address}=admin,${SECOND.address}=admin,${OPERATOR.address}=operator`;
  // A large value, since these actions wait at any value: no amount bounds them.
  bench = await DeskBench.start({ APPROVAL_ABOVE_USD: '1000000', OPERATORS });
});
afterAll(() => bench.stop());
beforeEach(async () => {
  bench.console.clock.set(Date.now());
  admin = await bench.console.signedIn(ADMIN);
  second = await bench.console.signedIn(SECOND);
  operator = await bench.console.signedIn(OPERATOR);
});

const show = (id: string) => get<PartnerBody>(admin, `${PARTNERS}/${id}`);
const approve = (id: string, visitor = second) =>
  visitor.post(`/api/operate/approvals/${id}/approve`);

/** Requests an action that waits for approval. @returns the request */
async function asked(visitor: Visitor, path: string, body: object): Promise<ApprovalBody> {
  const result = await bodyOf<ActionResultBody>(visitor.post(path, { ...body, reason }));
  expect(result).toMatchObject({ done: false, outcome: null, approval: { state: 'open', reason } });
  return result.approval as ApprovalBody;
}

describe('a change of a partner’s callback', () => {
  it('waits, names no secret, and is done as it was asked for', async () => {
    const id = await bench.game('Changed');
    const before = await show(id);
    const secret = 'whsec/two-people-and-no-page';
    const callback = {
      key: 'another-key-of-the-game',
      secret,
      dailyTokenBudget: '5',
      maxPoints: '9',
    };
    const waiting = await asked(admin, `${PARTNERS}/${id}/settings`, { rate: 7, callback });
    expect(waiting).toMatchObject({
      action: 'partner set',
      summary: expect.stringMatching(/^Changed, [0-9a-f-]{36}: .*"dailyTokenBudget":"5"/),
      arguments: { partner: id, rate: 7, newKey: true, newSecret: true },
    });
    expect(await show(id)).toEqual(before);
    expect(await refusalOf(approve(waiting.id, operator))).toBe('403 ROLE_TOO_LOW');
    expect(await refusalOf(approve(waiting.id, admin))).toBe('409 APPROVAL_OF_ANOTHER');
    const decided = await bodyOf<ApprovalBody>(approve(waiting.id));
    expect(decided).toMatchObject({ state: 'approved', outcome: `Changed, ${id}, is set.` });
    expect(await show(id)).toMatchObject({
      rate: 7,
      callback: { keyPrefix: 'another-…', dailyTokenBudget: '5', maxPoints: '9' },
    });
    const stored = await new CallbackStore(bench.console.database).find(id);
    const keyRing = KeyRing.parse(bench.secretsKey);
    const sealed = stored?.secretCiphertext ?? Buffer.alloc(0);
    expect(keyRing.open(sealed, hashApiKey(callback.key))).toBe(secret);
    const { rows } = await bench.console.database.pool.query(
      'SELECT a::text FROM console.approval a UNION ALL SELECT a::text FROM redemption.audit a',
    );
    const said = JSON.stringify([waiting, decided, rows, bench.console.logged]);
    expect(said).not.toContain('two-people-and-no-page');
    expect(said).not.toContain(callback.key);
    const [approved, set] = [await bench.audit(2), `operator:${SECOND.address.toLowerCase()}`];
    expect(approved[0]).toMatchObject({ command: 'partner set', arguments: { approvedBy: set } });
    expect(approved[1]).toMatchObject({ command: 'approval approve', partner: id, actor: set });
  });

  it('is refused to who asks where it cannot be done, needs a reason, and is asked for once', async () => {
    const id = await bench.game('Refused');
    const path = `${PARTNERS}/${id}/settings`;
    const refused = (callback: object, why: string | undefined = reason) =>
      refusalOf(admin.post(path, { callback, reason: why }));
    expect(await refused({ url: 'http://10.0.0.1' })).toBe('400 OPTION_INVALID');
    expect(await refused({ minPoints: '7', maxPoints: '5' })).toBe('400 OPTION_INVALID');
    const silent = admin.post(path, { callback: { maxPoints: '5' } });
    expect(await refusalOf(silent)).toBe('400 BAD_REQUEST');
    expect(await refused({ secret: '🎮'.repeat(4096) })).toBe('400 BAD_REQUEST');
    await asked(admin, path, { callback: { maxPoints: '5' } });
    expect(await refused({ maxPoints: '6' })).toBe('409 APPROVAL_PENDING');
    const missing = second.post(`${PARTNERS}/${randomUUID()}/settings`, {
      callback: { maxPoints: '1' },
      reason,
    });
    expect(await refusalOf(missing)).toBe('404 PARTNER_UNKNOWN');
  });

  it('that only lowers the budget is done at once, also while another one waits; one that raises it waits', async () => {
    const id = await bench.game('Cut');
    const path = `${PARTNERS}/${id}/settings`;
    const set = (dailyTokenBudget: string, more: object = {}) =>
      bodyOf<ActionResultBody>(admin.post(path, { callback: { dailyTokenBudget }, ...more }));
    const budget = async () => (await show(id)).callback?.dailyTokenBudget;
    const { id: raise } = await asked(admin, path, { callback: { dailyTokenBudget: '2000000' } });
    expect(await set('999999.5')).toMatchObject({ done: true, approval: null });
    expect(await set('0.50', { rate: 9 })).toMatchObject({ done: true });
    expect([await budget(), (await show(id)).rate]).toEqual(['0.50', 9]);
    expect((await bench.audit())[0]).toMatchObject({
      ...{ command: 'partner set', partner: id, outcome: 'done' },
      arguments: { dailyTokenBudget: '0.50', rate: 9 },
    });
    expect(await set('0')).toMatchObject({ done: true });
    const refused = (callback: object) => refusalOf(admin.post(path, { callback }));
    for (const callback of [
      { dailyTokenBudget: '0.01' },
      { dailyTokenBudget: 'none' },
      { dailyTokenBudget: '0', maxPoints: 'none' },
      { dailyTokenBudget: '0', confirm: false },
    ]) {
      // This change would need an approval too, and another one is pending.
      expect([callback, await refused(callback)]).toEqual([callback, '409 APPROVAL_PENDING']);
    }
    expect(await refused({ dailyTokenBudget: '-1' })).toBe('400 BAD_REQUEST');
    expect(await budget()).toBe('0');
    await bodyOf(approve(raise));
    expect(await budget()).toBe('2000000');
  });

  it('comes after the partner is created; rate, burst and pause are set at once', async () => {
    const callback = {
      url: 'https://game.example',
      key: 'k'.repeat(20),
      secret: 's',
      usdPerPoint: '1',
    };
    const create = (more: object) =>
      admin.post(PARTNERS, { request: randomUUID(), name: 'New', ...more });
    expect(await refusalOf(create({ callback }))).toBe('409 APPROVAL_NEEDED');
    const { partnerId } = await bodyOf<{ partnerId: string }>(create({}));
    const set = admin.post(`${PARTNERS}/${partnerId}/settings`, { rate: 3, burst: 4 });
    expect(await bodyOf(set)).toMatchObject({ done: true });
    const { id } = await asked(admin, `${PARTNERS}/${partnerId}/settings`, { callback });
    expect((await show(partnerId)).standing).toBe('no-callback');
    await bodyOf(approve(id));
    expect((await show(partnerId)).standing).toBe('no-budget');
    await bodyOf(operator.post(`${PARTNERS}/${partnerId}/pause`));
    expect((await show(partnerId)).standing).toBe('paused');
  });
});

it('an action on a redemption asks for a reason, and says so before', async () => {
  const partner = await bench.game('Reasons');
  const one = (id: string) => get<RedemptionBody>(operator, `${REDEMPTIONS}/${id}`);
  const { id, version } = await bench.stored(partner, STUCK, {
    usdAmount: { digits: 2_000_000n, scale: 0 },
  });
  const { actions } = await one(id);
  const needs = actions.map(({ action, needsApproval }) => [action, needsApproval] as const);
  expect(Object.fromEntries(needs)).toMatchObject({ 'not-deducted': true });
  const cheap = await bench.stored(partner, STUCK);
  expect((await one(cheap.id)).actions.some(({ needsApproval }) => needsApproval)).toBe(false);
  const refused = (why?: string) =>
    refusalOf(
      operator.post(`${REDEMPTIONS}/${id}/resolve`, {
        notDeducted: true,
        version,
        reason: why,
      }),
    );
  const spoof = `fine\u202e`;
  for (const why of [undefined, '  ', 'two\nlines', 'x'.repeat(501), spoof]) {
    expect([why, await refused(why)]).toEqual([why, '400 BAD_REQUEST']);
  }
  expect((await one(id)).approvals).toEqual([]);
  expect(await refused(`${'<b>'.repeat(100)} 🎮`)).toBe('200');
});

describe('adoption', () => {
  it('waits for a second operator, and takes what is as it was seen', async () => {
    const partner = await bench.game('Adopted');
    const { id } = await bench.stored(partner, 'deducted');
    const unsealed = async () => (await get<RedemptionsBody>(admin, UNSEALED)).items;
    const one = (await unsealed()).find((item) => item.id === id);
    const adopt = (version: number) =>
      asked(admin, `${UNSEALED}/adopt`, { redemptions: [{ id, version }] });
    const version = one?.version ?? 0;
    const wrong = await bodyOf<ApprovalBody>(approve((await adopt(version + 1)).id));
    expect(wrong.outcome).toMatch(/^Adopted: 0\./);
    const { id: approval } = await adopt(version);
    const redemptions = [{ id, version }];
    const twice = second.post(`${UNSEALED}/adopt`, { redemptions, reason });
    expect(await refusalOf(twice)).toBe('409 APPROVAL_PENDING');
    expect((await unsealed()).map((item) => item.id)).toContain(id);
    expect((await bodyOf<ApprovalBody>(approve(approval))).outcome).toMatch(/^Adopted: 1\./);
    expect((await unsealed()).map((item) => item.id)).not.toContain(id);
    expect((await bench.audit())[0]).toMatchObject({
      ...{ actor: `operator:${ADMIN.address.toLowerCase()}`, redemption_id: id },
      arguments: { approvedBy: `operator:${SECOND.address.toLowerCase()}` },
    });
  });

  it('is for an administrator', async () => {
    const refused = operator.post(`${UNSEALED}/adopt`, { redemptions: [], reason });
    expect(await refusalOf(refused)).toBe('403 ROLE_TOO_LOW');
  });
});

describe('a partner whose id is the name of another one', () => {
  const LARGE = 'My Game';
  /** Ids of the partner that is meant, and of the one whose name is that id. */
  let [large, impostor] = [] as unknown as [PartnerId, PartnerId];
  beforeAll(async () => {
    large = await bench.game(LARGE);
    impostor = await bench.game('Impostor');
    await rename(impostor, large);
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

  const approved = (id: string) => bodyOf<ApprovalBody>(approve(id));

  describe('on the pages, by the id of the partner', () => {
    it('an approved rise of the daily budget raises that budget', async () => {
      const request = await asked(admin, `${PARTNERS}/${large}/settings`, {
        callback: { dailyTokenBudget: '2000000' },
      });
      const done = await approved(request.id);
      expect([await budget(large), await budget(impostor)]).toEqual([2_000_000n, 1_000_000n]);
      expect(request.summary).toContain(`${LARGE}, ${large}`);
      expect(done.outcome).toBe(`${LARGE}, ${large}, is set.`);
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
      const request = await asked(admin, `${PARTNERS}/${large}/resume`, {});
      const again = admin.post(`${PARTNERS}/${large}/resume`, { reason });
      expect(await refusalOf(again)).toBe('409 APPROVAL_PENDING');
      expect((await callback(large))?.paused).toBe(true);
      await approved(request.id);
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
    const request = await asked(admin, `${PARTNERS}/${game}/settings`, {
      callback: { maxPoints: '5' },
    });
    expect(request.partner).toEqual({ id: game, name: 'Before' });
    await rename(game, 'After');
    const other = await bench.game('Before');
    const { approvals } = await bodyOf<ApprovalsBody>(second.get('/api/operate/approvals'));
    const seen = approvals.find(({ id }) => id === request.id);
    expect(seen).toMatchObject({
      partner: { id: game, name: 'After' },
      arguments: { partner: game, partnerName: 'Before' },
      summary: expect.stringContaining(`Before, ${game}: `),
    });
    expect((await approved(request.id)).outcome).toBe(`After, ${game}, is set.`);
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
      expect(revoked).toMatchObject({
        code: 0,
        out: expect.stringContaining(`${LARGE}, ${large}`),
      });
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
});

// Comes last: its open requests fill the first page of all lists.
it('a redemption has its requests newest first, also the open ones behind many others', async () => {
  const { id } = await bench.stored(await bench.game('Requests'), STUCK);
  const add = async (of: string, count: number): Promise<string[]> => {
    const { rows } = await bench.console.database.pool.query<{ id: string }>(
      `INSERT INTO console.approval (action, arguments, summary, reason, requested_by, requested_name, requested_at, expires_at)
        SELECT 'redemption retry', jsonb_build_object('id', $1::text), 'Again.', 'A test.', 'link:anna', 'anna', now(), now() + interval '1 day'
        FROM generate_series(1, $2) RETURNING id`,
      [of, count],
    );
    return rows.map((row) => row.id);
  };
  const older = await add(id, 2);
  await add(randomUUID(), 99);
  const newest = await add(id, 1);
  const { approvals } = await get<RedemptionBody>(operator, `${REDEMPTIONS}/${id}`);
  expect(approvals.map((one) => one.id)).toEqual([...newest, ...older.toReversed()]);
});
