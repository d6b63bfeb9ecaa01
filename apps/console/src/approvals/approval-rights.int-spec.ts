/** Rights are those at the time of the deed: of who asked, of who approves, and of who invited. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { type SessionBody } from '../auth/auth.dto.js';
import { actorOf, oidcSubject } from '../auth/operators.js';
import {
  type Account,
  ADMIN,
  anAccount,
  ConsoleBench,
  OPERATOR,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type ApprovalsBody } from './approval.dto.js';
import { ApprovalService, type RequestedAction } from './approval.service.js';

const HOUR = 3_600_000;
const PAY: RequestedAction = {
  ...{ action: 'test pay', arguments: { to: 'ann' }, summary: 'Ann is paid.' },
  ...{ worthUsd: '1000', reason: 'She has won.' },
};

let bench: ConsoleBench;
let done = 0;

const register = (one: ConsoleBench): void => {
  one.app.get(ApprovalService).register({
    ...{ name: PAY.action, role: 'admin' },
    execute() {
      done += 1;
      return Promise.resolve('Paid.');
    },
  });
};

beforeAll(async () => {
  bench = await ConsoleBench.start();
  register(bench);
});
afterAll(() => bench.stop());
beforeEach(() => {
  done = 0;
  bench.clock.set(Date.now());
  bench.issuer.groups.set('ann', ['ops']);
});

/** A request of ann, who has signed in. */
async function requestOfAnn(): Promise<string> {
  const visitor = bench.visitor();
  expect(await bench.signInByOidc(visitor)).toBe('');
  const person = { subject: oidcSubject(bench.issuer.url, 'ann'), name: 'ann' };
  const operator = { ...person, role: 'admin', actor: actorOf(person) } as const;
  const performed = await bench.app.get(ApprovalService).perform(operator, PAY);
  if (performed.done) throw new Error('It was done at once.');
  return String(performed.approval.id);
}

const approve = (visitor: Visitor, id: string): Promise<string> =>
  refusalOf(visitor.post(`/api/operate/approvals/${id}/approve`));

const roleOf = async (visitor: Visitor): Promise<string> => {
  const answer = await visitor.get('/api/auth/me');
  const body = (await answer.json()) as SessionBody & { readonly code: string };
  return answer.status === 200 ? (body.role ?? body.kind) : body.code;
};

describe('a request of an operator whom the issuer takes the role', () => {
  it.each([
    ['no group', [], 'NOT_AN_OPERATOR', 'operator'],
    ['a group of a lower role', ['staff'], '', 'operator'],
    ['no group, as the sign-in as a member shows', [], 'NOT_A_MEMBER', 'partner'],
  ] as const)('is not carried out: %s', async (_, groups, problem, kind) => {
    const id = await requestOfAnn();
    bench.issuer.groups.set('ann', groups);
    expect(await bench.signInByOidc(bench.visitor(), 'ann', kind)).toBe(problem);
    const admin = await bench.signedIn(ADMIN);
    expect(await approve(admin, id)).toBe('409 APPROVAL_REQUESTER');
    expect(done).toBe(0);
    const { approvals } = (await (
      await admin.get('/api/operate/approvals')
    ).json()) as ApprovalsBody;
    expect(approvals.find((one) => one.id === id)?.state).toBe('open');
    // With the role again, the request counts again.
    bench.issuer.groups.set('ann', ['ops']);
    expect(await bench.signInByOidc(bench.visitor())).toBe('');
    expect(await approve(admin, id)).toBe('200');
    expect(done).toBe(1);
  });

  it('is not carried out later than a session could last: the word of the issuer is too old', async () => {
    const id = await requestOfAnn();
    bench.clock.advance(12 * HOUR);
    const admin = await bench.signedIn(ADMIN);
    expect(await approve(admin, id)).toBe('409 APPROVAL_REQUESTER');
    expect(await refusalOf(admin.post(`/api/operate/approvals/${id}/refuse`))).toBe('200');
    expect(done).toBe(0);
  });

  it('is not carried out either where the role is lost while it is approved', async () => {
    const id = await requestOfAnn();
    const admin = await bench.signedIn(ADMIN);
    const held = await bench.test.open();
    const client = await held.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(`UPDATE console.approval SET expires_at = expires_at WHERE id = ${id}`);
      const approving = approve(admin, id);
      await eventually(async () => {
        const { rowCount } = await held.pool.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return rowCount === 1;
      });
      bench.issuer.groups.set('ann', []);
      expect(await bench.signInByOidc(bench.visitor())).toBe('NOT_AN_OPERATOR');
      await client.query('COMMIT');
      expect(await approving).toBe('409 APPROVAL_REQUESTER');
      expect(done).toBe(0);
    } finally {
      client.release(true);
    }
  });
});

it('the role of one who approves is that of the newest sign-in, also in an older session', async () => {
  const visitor = bench.visitor();
  expect(await bench.signInByOidc(visitor)).toBe('');
  expect(await roleOf(visitor)).toBe('admin');
  bench.clock.advance(1);
  bench.issuer.groups.set('ann', ['staff']);
  expect(await bench.signInByOidc(bench.visitor())).toBe('');
  expect(await roleOf(visitor)).toBe('viewer');
  bench.clock.advance(1);
  bench.issuer.groups.set('ann', []);
  expect(await bench.signInByOidc(bench.visitor())).toBe('NOT_AN_OPERATOR');
  expect(await roleOf(visitor)).toBe('SESSION_ENDED');
});

describe('an operator whom the setting OPERATORS no longer lists', () => {
  let later: ConsoleBench;
  beforeAll(async () => {
    later = await ConsoleBench.start({
      DATABASE_URL: bench.test.urlAs('console'),
      PORTAL_DATABASE_URL: bench.test.urlAs('portal'),
      OPERATORS: `${ADMIN.address}=admin,${VIEWER.address}=operator`,
    });
    register(later);
  });
  afterAll(() => later.stop());

  /** The browser with its session, after the console was started with the new setting. */
  const atLater = async (account: Account): Promise<Visitor> => {
    const [before, after] = [await bench.signedIn(account), later.visitor()];
    for (const [name, value] of before.cookies) after.cookies.set(name, value);
    return after;
  };

  it('is signed out, and one whose role was changed has the new one', async () => {
    expect(await roleOf(await atLater(OPERATOR))).toBe('SESSION_ENDED');
    expect(await roleOf(await atLater(VIEWER))).toBe('operator');
  });

  it('has asked for nothing that another operator could approve', async () => {
    const wallet = OPERATOR.address.toLowerCase();
    const subject = `wallet:${wallet}`;
    const operator = { subject, name: wallet, role: 'admin', actor: `operator:${wallet}` } as const;
    const performed = await bench.app.get(ApprovalService).perform(operator, PAY);
    if (performed.done) throw new Error('It was done at once.');
    const admin = await later.signedIn(ADMIN);
    expect(await approve(admin, String(performed.approval.id))).toBe('409 APPROVAL_REQUESTER');
    expect(done).toBe(0);
  });
});

describe('an invitation by an operator who has lost the role', () => {
  it('makes no member', async () => {
    const partnerId = await bench.partner('Inviting');
    const visitor = bench.visitor();
    expect(await bench.signInByOidc(visitor)).toBe('');
    const invite = async (): Promise<string> => {
      const path = `/api/operate/partners/${partnerId}/invitations`;
      const answer = await visitor.post(path, { note: 'their engineer' });
      return ((await answer.json()) as { url: string }).url.split('#')[1] ?? '';
    };
    const [used, unused] = [await invite(), await invite()];
    await bench.signedIn(anAccount(), { kind: 'partner', invitation: used });
    bench.issuer.groups.set('ann', ['staff']);
    expect(await bench.signInByOidc(bench.visitor())).toBe('');
    const looked = bench.visitor().post('/api/auth/invitation', { token: unused });
    expect(await refusalOf(looked)).toBe('403 INVITATION_CLOSED');
    const accept = bench.signedIn(anAccount(), { kind: 'partner', invitation: unused });
    await expect(accept).rejects.toThrow('INVITATION_CLOSED');
  });
});
