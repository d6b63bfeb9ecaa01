/**
 * Actions that another operator must approve. Rights are those at the time of the deed: of who asked, of who approves,
 * and of who invited.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PermanentError } from '#libs/domain';
import { type ConsoleOperator } from '../auth/audience.js';
import { type SessionBody } from '../auth/auth.dto.js';
import { actorOf, oidcSubject } from '../auth/operators.js';
import {
  ADMIN,
  type Account,
  anAccount,
  ConsoleBench,
  OPERATOR,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type ApprovalBody, type ApprovalsBody } from './approval.dto.js';
import {
  type Actors,
  ApprovalService,
  UNBOUNDED,
  type RequestedAction,
} from './approval.service.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let bench: ConsoleBench;
let approvals: ApprovalService;
let done: { given: object; actors: Actors }[] = [];

const MOVE: RequestedAction = {
  ...{ action: 'test move', arguments: { to: 'ann' }, summary: 'Ann is paid.' },
  ...{ worthUsd: '1000', reason: 'She has won.' },
};

function register(console: ConsoleBench): ApprovalService {
  const service = console.app.get(ApprovalService);
  for (const [name, role] of [
    ['test pay', 'operator'],
    [MOVE.action, 'admin'],
  ] as const) {
    service.register({
      name,
      role,
      execute(given, actors) {
        if (given['to'] === 'nobody') throw new PermanentError('NO_PAYEE', 'There is no payee.');
        done.push({ given, actors });
        return Promise.resolve('Paid.');
      },
    });
  }
  return service;
}

beforeAll(async () => {
  bench = await ConsoleBench.start();
  approvals = register(bench);
});
afterAll(() => bench.stop());
beforeEach(() => {
  done = [];
  bench.clock.set(Date.now());
  bench.issuer.groups.set('ann', ['ops']);
});

function operatorOf({ address }: Account): ConsoleOperator {
  const wallet = address.toLowerCase();
  const subject = `wallet:${wallet}`;
  return { subject, name: wallet, role: 'operator', actor: `operator:${wallet}` };
}

const pay = (wanted: Partial<RequestedAction> = {}) =>
  approvals.perform(operatorOf(OPERATOR), {
    ...{ action: 'test pay', arguments: { to: 'ann' }, summary: 'Ann is paid.' },
    worthUsd: '1000',
    reason: 'She has won.',
    ...wanted,
  });

async function idOf(asked: ReturnType<ApprovalService['perform']>): Promise<string> {
  const performed = await asked;
  if (performed.done) throw new Error('It was done at once.');
  return String(performed.approval.id);
}

const waiting = (wanted: Partial<RequestedAction> = {}) => idOf(pay(wanted));

async function listed(by: Visitor, id: string): Promise<ApprovalBody | undefined> {
  const list = (await (await by.get('/api/operate/approvals')).json()) as ApprovalsBody;
  return list.approvals.find((one) => one.id === id);
}

const decide = (visitor: Visitor, id: string, how: 'approve' | 'refuse' = 'approve') =>
  visitor.post(`/api/operate/approvals/${id}/${how}`);

describe('an action below the set value', () => {
  it.each(['999.999999999999999999', '0', undefined])(
    'of %s USD is done at once',
    async (worthUsd) => {
      expect(await pay({ worthUsd })).toEqual({ done: true, outcome: 'Paid.' });
      expect(done).toEqual([
        { given: { to: 'ann' }, actors: { actor: `operator:${OPERATOR.address.toLowerCase()}` } },
      ]);
    },
  );
});

it('two operators with the same name at the issuer are two to the one who approves, by the names of the audit log', async () => {
  const asked = async (sub: string): Promise<string> => {
    const person = { subject: oidcSubject('https://issuer.example', sub), name: 'Ann Lee' };
    const operator: ConsoleOperator = { ...person, role: 'operator', actor: actorOf(person) };
    const id = await idOf(
      approvals.perform(operator, { ...MOVE, action: 'test pay', arguments: { to: sub } }),
    );
    const { requestedBy = '' } = (await listed(await bench.signedIn(ADMIN), id)) ?? {};
    expect(`operator:${requestedBy}`).toBe(operator.actor);
    return requestedBy;
  };
  const [one, other] = [await asked('1'), await asked('2')];
  expect(one).toMatch(/^Ann_Lee\.[0-9a-f]{8}$/);
  expect(other).not.toBe(one);
});

describe('an action above it', () => {
  it('is not asked for without a reason, and always where no figure bounds its worth', async () => {
    await expect(pay({ reason: undefined })).rejects.toMatchObject({ field: 'reason' });
    const unbounded = await pay({ worthUsd: UNBOUNDED });
    expect(unbounded).toMatchObject({ done: false, approval: { reason: 'She has won.' } });
    expect(done).toEqual([]);
  });

  it('is too much for one request beyond 15 KB', async () => {
    const much = pay({ arguments: { to: 'x'.repeat(15_000) } });
    await expect(much).rejects.toMatchObject({ status: 400 });
  });

  it('is done when another operator approves it, with both names', async () => {
    const id = await waiting({ worthUsd: '1000.00' });
    expect(done).toEqual([]);
    const other = await bench.signedIn(ADMIN);
    const open = { state: 'open', isOwn: false, reason: 'She has won.' };
    expect(await listed(other, id)).toMatchObject(open);
    const answer = (await (await decide(other, id)).json()) as ApprovalBody;
    expect(answer).toMatchObject({ state: 'approved', outcome: 'Paid.', summary: 'Ann is paid.' });
    const actor = `operator:${OPERATOR.address.toLowerCase()}`;
    const approvedBy = `operator:${ADMIN.address.toLowerCase()}`;
    expect(done).toEqual([{ given: { to: 'ann' }, actors: { actor, approvedBy } }]);
  });

  it('is done once if several decide at once', async () => {
    const id = await waiting();
    const other = await bench.signedIn(ADMIN);
    const answers = await Promise.all(
      [decide(other, id), decide(other, id), decide(other, id, 'refuse')].map(refusalOf),
    );
    expect(answers.toSorted()).toEqual(['200', '409 APPROVAL_CLOSED', '409 APPROVAL_CLOSED']);
    expect(done.length).toBeLessThan(2);
  });

  it('says it where the approved action is refused', async () => {
    const id = await waiting({ arguments: { to: 'nobody' } });
    const answer = (await (await decide(await bench.signedIn(ADMIN), id)).json()) as ApprovalBody;
    expect(answer.outcome).toBe('Refused: NO_PAYEE. There is no payee.');
  });

  it('asks for a fresh sign-in', async () => {
    const id = await waiting();
    const other = await bench.signedIn(ADMIN);
    bench.clock.advance(5 * MINUTE);
    expect(await refusalOf(decide(other, id))).toBe('401 FRESH_SIGN_IN_NEEDED');
    await bench.signedIn(ADMIN, { kind: 'operator' }, other);
    expect(await refusalOf(decide(other, id))).toBe('200');
  });

  it.each(['0', 'x', '9'.repeat(30), '1%00'])('is not found as %s', async (id) => {
    const other = await bench.signedIn(ADMIN);
    expect(await refusalOf(decide(other, id))).toBe('404 NOT_FOUND');
  });
});

/** A request of ann, who has signed in. */
async function requestOfAnn(): Promise<string> {
  const visitor = bench.visitor();
  expect(await bench.signInByOidc(visitor)).toBe('');
  const person = { subject: oidcSubject(bench.issuer.url, 'ann'), name: 'ann' };
  const operator = { ...person, role: 'admin', actor: actorOf(person) } as const;
  return idOf(approvals.perform(operator, MOVE));
}

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
    expect(await refusalOf(decide(admin, id))).toBe('409 APPROVAL_REQUESTER');
    expect(done).toEqual([]);
    expect((await listed(admin, id))?.state).toBe('open');
    // With the role again, the request counts again.
    bench.issuer.groups.set('ann', ['ops']);
    expect(await bench.signInByOidc(bench.visitor())).toBe('');
    expect(await refusalOf(decide(admin, id))).toBe('200');
    expect(done).toHaveLength(1);
  });

  it('is not carried out later than a session could last: the word of the issuer is too old', async () => {
    const id = await requestOfAnn();
    bench.clock.advance(12 * HOUR);
    const admin = await bench.signedIn(ADMIN);
    expect(await refusalOf(decide(admin, id))).toBe('409 APPROVAL_REQUESTER');
    expect(await refusalOf(admin.post(`/api/operate/approvals/${id}/refuse`))).toBe('200');
    expect(done).toEqual([]);
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
    const id = await idOf(approvals.perform({ ...operatorOf(OPERATOR), role: 'admin' }, MOVE));
    expect(await refusalOf(decide(await later.signedIn(ADMIN), id))).toBe('409 APPROVAL_REQUESTER');
    expect(done).toEqual([]);
  });
});

it('an invitation by an operator who has lost the role makes no member', async () => {
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
