import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ActionResultBody,
  type ApprovalBody,
} from '../../apps/console/src/approvals/approval.dto.js';
import {
  type RedemptionBody,
  type RedemptionsBody,
} from '../../apps/console/src/operate/redemptions/redemption.bodies.js';
import {
  ADMIN,
  OPERATOR,
  refusalOf,
  VIEWER,
} from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { type Case } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { bodyOf, DeskBench, get } from './desk.support.js';

const REDEMPTIONS = '/api/operate/redemptions';
const REASON = 'They looked into their ledger.';
const DEAR = { usdAmount: { digits: 100_000n, scale: 2 } };

let bench: DeskBench;
let partner: Awaited<ReturnType<DeskBench['game']>>;
let [admin, operator, viewer] = [] as unknown as [Visitor, Visitor, Visitor];
beforeAll(async () => {
  bench = await DeskBench.start({ APPROVAL_ABOVE_USD: '1000' });
  partner = await bench.game('Arena <b>');
});
afterAll(() => bench.stop());
beforeEach(async () => {
  bench.console.clock.set(Date.now());
  admin = await bench.console.signedIn(ADMIN);
  operator = await bench.console.signedIn(OPERATOR);
  viewer = await bench.console.signedIn(VIEWER);
});

const stored = (name: Case, change = {}) => bench.stored(partner, name, change);
const show = (id: string, visitor = viewer) => get<RedemptionBody>(visitor, `${REDEMPTIONS}/${id}`);
interface Action {
  readonly action: string;
  readonly [field: string]: unknown;
}
const act = (id: string, { action, ...body }: Action, visitor = operator) =>
  visitor.post(`${REDEMPTIONS}/${id}/${action}`, body);
const NOT_DEDUCTED = { action: 'resolve', notDeducted: true } as const;

describe('redemptions', () => {
  it('are found by id, its beginning, wallet, partner, state and time', async () => {
    const one = await stored('claimed');
    const search = async (query: Record<string, string>) => {
      const found = await get<RedemptionsBody>(
        viewer,
        `${REDEMPTIONS}?${new URLSearchParams(query).toString()}`,
      );
      return found.items.map(({ id }) => id);
    };
    expect(await search({ id: one.id })).toEqual([one.id]);
    expect(await search({ id: one.id.slice(0, 20) })).toContain(one.id);
    expect(await search({ wallet: one.wallet })).toEqual([one.id]);
    expect(await search({ partner: 'arena <B>', state: 'claimed' })).toContain(one.id);
    expect(await search({ state: 'deducted', wallet: one.wallet })).toEqual([]);
    const at = (ms: number) => new Date(one.initialAtMs + ms).toISOString();
    expect(await search({ from: at(0), until: at(1), wallet: one.wallet })).toEqual([one.id]);
    expect(await search({ from: at(1), wallet: one.wallet })).toEqual([]);
    expect(await search({ until: at(0), wallet: one.wallet })).toEqual([]);
  });

  it('refuse what is no question', async () => {
    const refused = (query: string) => refusalOf(viewer.get(`${REDEMPTIONS}${query}`));
    expect(await refused('?id=zz')).toBe('400 BAD_REQUEST');
    expect(await refused('?state=paid')).toBe('400 BAD_REQUEST');
    expect(await refused('?from=yesterday')).toBe('400 BAD_REQUEST');
    expect(await refused('?partner=nobody')).toBe('404 PARTNER_UNKNOWN');
    expect(await refused('?after=1&after=2')).toBe('400 BAD_REQUEST');
    expect(await refused('/queue?after=true~now~x')).toBe('400 BAD_REQUEST');
    expect(await refused('/x')).toBe('404 NOT_FOUND');
    expect(await refused('/0198f000-0000-7000-8000-000000000000')).toBe('404 REDEMPTION_MISSING');
  });

  it('have a timeline, what they wait for, and the actions of their state with what each leads to', async () => {
    const { id, wallet } = await stored('attention: deduction-unresolved');
    const shown = await show(id);
    expect(shown).toMatchObject({
      state: 'attention',
      points: '5000',
      tokens: '340',
      usd: '50.00',
      wallet,
    });
    expect(shown.waitsFor).toContain('an operator.');
    expect(shown.transitions.length).toBeGreaterThan(2);
    const actions = shown.actions.map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['set-partner-tx', 'not-deducted']));
    // A retry would lead back to attention, so it is not the first action.
    expect(actions.indexOf('retry')).toBeGreaterThan(0);
    expect(JSON.stringify(shown.actions)).toContain(`Redemption ${id} comes back to attention: `);
    expect(shown.actions.find(({ action }) => action === 'not-deducted')?.consequence).toBe(
      `Redemption ${id} ends as failed: the partner has never taken 5000 points from ${wallet}. This is final: nothing takes it back.`,
    );
    const evidence = await get<{ asked: boolean; text: string }>(
      viewer,
      `${REDEMPTIONS}/${id}/evidence`,
    );
    expect(evidence).toMatchObject({ asked: false });
    expect((await show((await stored('claimed')).id)).actions).toEqual([]);
  });
});

it('what came of an action says that the partner is still to take the confirmation', async () => {
  const { id, version } = await stored('attention: deduction-unresolved');
  const done = await bodyOf<ActionResultBody>(
    act(id, { action: 'resolve', restoredOutOfBand: true, version }),
  );
  expect(done.outcome).toMatch(/-> reverted\. Next: nothing but the partner .*, the next due now/);
});

it('an action that the advice names and that is too early is there, with the time from when', async () => {
  const { id, lastDeductAtMs } = await stored('attention: deduction-unresolved');
  const nowMs = lastDeductAtMs ?? 0;
  bench.console.clock.set(nowMs + 60_000);
  const early = await bench.console.signedIn(OPERATOR);
  const { waitsFor, actions, version } = await show(id, early);
  expect(waitsFor).toContain('“End it: the partner took no points”');
  expect(waitsFor).not.toContain('`redemption');
  const refused = actions.find(({ action }) => action === 'not-deducted');
  const from = new Date(nowMs + 10 * 60_000 + 1).toISOString();
  expect(refused).toMatchObject({ consequence: '', input: null });
  expect(refused?.unavailable).toMatch(
    /^Not now: A call to deduct could still reach the partner\. /,
  );
  expect(refused?.unavailable).toContain(`Possible from ${from} on.`);
  const body = { ...NOT_DEDUCTED, version };
  expect(await refusalOf(act(id, body, early))).toMatch(/^409 /);
});

describe('an action', () => {
  it('is an operator’s, within five minutes of signing in', async () => {
    const { id, version } = await stored('attention: deduction-unresolved');
    const body = { ...NOT_DEDUCTED, version };
    expect(await refusalOf(act(id, body, viewer))).toBe('403 ROLE_TOO_LOW');
    bench.console.clock.advance(6 * 60_000);
    expect(await refusalOf(act(id, body))).toBe('401 FRESH_SIGN_IN_NEEDED');
  });

  it('settles what was seen, once', async () => {
    const { id, version } = await stored('attention: deduction-unresolved');
    const body = { ...NOT_DEDUCTED, version };
    const both = await Promise.all([act(id, body), act(id, body)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await show(id)).toMatchObject({ state: 'failed', reason: 'not-deducted-out-of-band' });
    expect(await refusalOf(act(id, body))).toBe('409 VIEW_OUTDATED');
  });

  it('that was decided on an old view is refused with what has changed', async () => {
    const { id, version } = await stored('attention: deduction-unresolved');
    await bodyOf(act(id, { action: 'set-partner-tx', version, transaction: 'tx-77' }, admin));
    const answer = await act(id, { ...NOT_DEDUCTED, version });
    expect(answer.status).toBe(409);
    const refusal = (await answer.json()) as { code: string; message: string };
    expect(refusal.code).toBe('VIEW_OUTDATED');
    expect(refusal.message).toContain('attention -> reverting by operator-set-transaction');
    expect(refusal.message).toContain(ADMIN.address.toLowerCase());
    expect((await show(id)).state).toBe('reverting');
    expect((await bench.audit())[0]?.outcome).toBe('refused: VIEW_OUTDATED');
  });

  it('that the state does not allow is refused by its rule', async () => {
    const { id, version } = await stored('claimed');
    expect(await refusalOf(act(id, { action: 'cancel', version }))).toBe('409 FINAL');
    expect(await refusalOf(act(id, { action: 'resolve', version, settledByHand: '' }))).toBe(
      '400 BAD_REQUEST',
    );
    expect(await refusalOf(act(id, { action: 'resolve', version }))).toBe('400 OPTION_INVALID');
    expect(await refusalOf(act(id, { action: 'pay', version }))).toBe('404 NOT_FOUND');
    expect(await refusalOf(act(id, { action: 'cancel', version: '1' }))).toBe('400 BAD_REQUEST');
    const future = { action: 'cancel', version: version + 5 };
    expect(await refusalOf(act(id, future))).toBe('409 VIEW_OUTDATED');
  });

  it('leaves the audit row of the command that does the same', async () => {
    const as = ['--as', OPERATOR.address.toLowerCase()];
    const twice = async (name: Case, body: Action, argv: (id: string) => string[]) => {
      const [first, second] = [await stored(name), await stored(name)];
      expect((await act(first.id, { version: first.version, ...body })).status).toBe(200);
      expect((await bench.cli('redemption', ...argv(second.id), ...as)).code).toBe(0);
      const [byCli, byPage] = await bench.audit(2);
      expect({ ...byPage, redemption_id: second.id }).toEqual(byCli);
      expect(byPage?.redemption_id).toBe(first.id);
    };
    const stuck = 'attention: deduction-unresolved';
    await twice('deducted', { action: 'retry' }, (id) => ['retry', id]);
    await twice('deducted', { action: 'cancel' }, (id) => ['cancel', id]);
    await twice(stuck, NOT_DEDUCTED, (id) => ['resolve', id, '--not-deducted', '--yes']);
    await twice(
      'attention: paid-after-dead',
      { action: 'resolve', settledByHand: 'by mail' },
      (id) => [...['resolve', id, '--settled-by-hand', 'by mail', '--yes']],
    );
  });
});

describe('above the set value', () => {
  const wait = async (id: string, version: number): Promise<ApprovalBody> => {
    const asked = await bodyOf<ActionResultBody>(
      act(id, { ...NOT_DEDUCTED, version, reason: REASON }),
    );
    expect(asked).toMatchObject({ done: false, outcome: null });
    return asked.approval as ApprovalBody;
  };
  const approve = (id: string, visitor: Visitor) =>
    visitor.post(`/api/operate/approvals/${id}/approve`);

  it('an action waits for another operator, and its page shows for whom and what came of it', async () => {
    const { id, version } = await stored('attention: deduction-unresolved', DEAR);
    const { id: approval } = await wait(id, version);
    const open = (await show(id, operator)).approvals;
    const state = { state: 'open', isOwn: true, outcome: null, reason: REASON };
    expect(open).toMatchObject([{ id: approval, ...state }]);
    expect(await refusalOf(act(id, { action: 'cancel', version }))).toMatch(/^409/);
    expect(await refusalOf(act(id, { ...NOT_DEDUCTED, version }))).toBe('409 APPROVAL_PENDING');
    expect((await show(id)).state).toBe('attention');
    expect(await refusalOf(approve(approval, operator))).toBe('409 APPROVAL_OF_ANOTHER');
    await bodyOf(approve(approval, admin));
    const settled = await show(id);
    expect(settled.state).toBe('failed');
    expect(settled.approvals[0]).toMatchObject({ state: 'approved', isOwn: false });
    expect(settled.approvals[0]?.outcome).toContain('attention -> failed');
    expect((await bench.audit())[0]).toMatchObject({
      actor: `operator:${OPERATOR.address.toLowerCase()}`,
      arguments: {
        ...{ as: 'not-deducted', reason: REASON },
        approvedBy: `operator:${ADMIN.address.toLowerCase()}`,
      },
    });
  });

  it('what has moved on meanwhile is not done', async () => {
    const { id, version } = await stored('attention: deduction-unresolved', DEAR);
    const { id: approval } = await wait(id, version);
    const as = ['--as', 'cli'];
    expect((await bench.cli('redemption', 'set-partner-tx', id, 'tx-1', ...as)).code).toBe(0);
    const decided = await bodyOf<ApprovalBody>(approve(approval, admin));
    expect(decided.outcome).toContain('VIEW_OUTDATED');
    expect((await show(id)).state).toBe('reverting');
  });

  it('going on by itself needs none', async () => {
    const { id, version } = await stored('deducted', DEAR);
    const asked = await bodyOf<ActionResultBody>(act(id, { action: 'retry', version }));
    expect(asked).toMatchObject({ done: true, approval: null });
  });
});

describe('without EVIDENCE_KEY', () => {
  let bare: DeskBench;
  beforeAll(async () => {
    bare = await DeskBench.start({ EVIDENCE_KEY: '' });
  });
  afterAll(() => bare.stop());

  it('a transaction is given by the command that the page names', async () => {
    const { id, version } = await bare.stored(
      await bare.game('Bare'),
      'attention: deduction-unresolved',
    );
    const visitor = await bare.console.signedIn(ADMIN);
    const path = `${REDEMPTIONS}/${id}`;
    const { actions } = await get<RedemptionBody>(visitor, path);
    const offered = actions.find(({ action }) => action === 'set-partner-tx');
    expect(offered?.unavailable).toContain(
      `npm run --silent cli -- redemption set-partner-tx ${id} TRANSACTION`,
    );
    const body = { version, transaction: 'tx-1' };
    const missing = '503 SETTING_MISSING';
    expect(await refusalOf(visitor.post(`${path}/set-partner-tx`, body))).toBe(missing);
    expect(await refusalOf(visitor.get('/api/operate/unsealed-redemptions'))).toBe(missing);
  });
});
