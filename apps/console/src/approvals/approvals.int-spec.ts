/**
 * Actions that another operator must approve. Rights are those at the time of the deed: of who asked, of who approves,
 * and of who invited.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Approval, type ApprovalStore, DatabaseUnavailableError } from '#libs/db';
import { PermanentError, RetryableError } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type ConsoleOperator } from '../auth/audience.js';
import { type SessionBody } from '../auth/auth.dto.js';
import { type OperatorRights } from '../auth/operator-rights.js';
import { actorOf, oidcSubject } from '../auth/operators.js';
import { type ConsoleSettings } from '../console.env.js';
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
  APPROVAL_MS,
  ApprovalService,
  UNBOUNDED,
  type RequestedAction,
} from './approval.service.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let bench: ConsoleBench;
let approvals: ApprovalService;
let done: { given: object; actors: Actors }[] = [];

const PAY: RequestedAction = {
  ...{ action: 'test pay', arguments: { to: 'ann' }, summary: 'Ann is paid.' },
  ...{ worthUsd: '1000', reason: 'She has won.' },
};
const MOVE: RequestedAction = {
  ...{ action: 'test move', arguments: { to: 'ann' }, summary: 'Ann is paid.' },
  ...{ worthUsd: '1000', reason: 'She has won.' },
};

/** What the action answers, by the payee. */
const REFUSALS: ReadonlyMap<unknown, Error> = new Map([
  ['nobody', new PermanentError('NO_PAYEE', 'There is no payee.')],
  ['many', new PermanentError('TOO_MANY', 'x'.repeat(2000))],
  ['broken', new TypeError('It is broken.')],
  ['unanswered', new DatabaseUnavailableError(new Error('Connection terminated'))],
]);

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
        const refusal = REFUSALS.get(given['to']);
        if (refusal) throw refusal;
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
  approvals.perform(operatorOf(OPERATOR), { ...PAY, ...wanted });

async function idOf(asked: ReturnType<ApprovalService['perform']>): Promise<string> {
  const performed = await asked;
  if (performed.done) throw new Error('It was done at once.');
  return String(performed.approval.id);
}

const waiting = (wanted: Partial<RequestedAction> = {}) => idOf(pay(wanted));

async function listed(by: Visitor, id: string): Promise<ApprovalBody | undefined> {
  const list = (await (await by.get('/api/operate/approvals?which=all')).json()) as ApprovalsBody;
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

it('no action needs a second operator where no value is set', () => {
  const [store, logger] = [{} as ApprovalStore, {} as Logger];
  const of = (approvalAboveUsd?: string) => {
    const settings = { approvalAboveUsd } as ConsoleSettings;
    return new ApprovalService(store, {} as OperatorRights, settings, bench.clock, logger);
  };
  for (const worth of ['1000000', UNBOUNDED, undefined])
    expect(of().needsSecond(worth)).toBe(false);
  expect(of('5').aboveUsd).toBe('5');
});

describe('an action above it', () => {
  it('is not asked for without a reason, and always where no figure bounds its worth', async () => {
    await expect(pay({ reason: undefined })).rejects.toMatchObject({ field: 'reason' });
    const unbounded = await pay({ worthUsd: UNBOUNDED });
    expect(unbounded).toMatchObject({ done: false, approval: { reason: 'She has won.' } });
    expect(done).toEqual([]);
  });

  it('is too much for one request beyond 15 KB', async () => {
    const overhead = JSON.stringify({ to: '' }).length;
    const of = (bytes: number) => pay({ arguments: { to: 'x'.repeat(bytes - overhead) } });
    expect(await of(15_000)).toMatchObject({ done: false });
    await expect(of(15_001)).rejects.toMatchObject({ status: 400 });
    const letters = pay({ arguments: { to: 'é'.repeat(7_600) } });
    await expect(letters).rejects.toMatchObject({ status: 400 });
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

  it('says no more of a refusal than its first thousand characters', async () => {
    const id = await waiting({ arguments: { to: 'many' } });
    const answer = (await (await decide(await bench.signedIn(ADMIN), id)).json()) as ApprovalBody;
    expect(answer.outcome).toBe(`Refused: TOO_MANY. ${'x'.repeat(981)}`);
  });

  it.each([
    ['broken', '500 INTERNAL_SERVER_ERROR'],
    ['unanswered', '503 SERVICE_UNAVAILABLE'],
  ])('has no outcome if it may have been done: %s', async (to, refusal) => {
    const id = await waiting({ arguments: { to } });
    const admin = await bench.signedIn(ADMIN);
    expect(await refusalOf(decide(admin, id))).toBe(refusal);
    expect(await listed(admin, id)).toMatchObject({ state: 'approved', outcome: null });
  });

  it('is not asked for twice, where the action says which are the same', async () => {
    const to = 'a payee of this test';
    const isSame = ({ arguments: given }: Approval): boolean => given['to'] === to;
    await expect(approvals.requireNoOpenRequest(isSame)).resolves.toBeUndefined();
    const id = await waiting({ arguments: { to } });
    const refused = approvals.requireNoOpenRequest(isSame);
    await expect(refused).rejects.toMatchObject({ status: 409, code: 'APPROVAL_PENDING' });
    await expect(refused).rejects.toThrow(
      `${OPERATOR.address.toLowerCase()} has asked for \`test pay\` already`,
    );
    expect(await refusalOf(decide(await bench.signedIn(ADMIN), id, 'refuse'))).toBe('200');
    await expect(approvals.requireNoOpenRequest(isSame)).resolves.toBeUndefined();
  });

  it('is withdrawn by who asked, and refused by another operator', async () => {
    const [own, other] = [await waiting(), await waiting()];
    const operator = await bench.signedIn(OPERATOR);
    expect(await refusalOf(decide(operator, own))).toBe('409 APPROVAL_OF_ANOTHER');
    expect(await refusalOf(decide(operator, own, 'refuse'))).toBe('200');
    const admin = await bench.signedIn(ADMIN);
    expect(await refusalOf(decide(admin, other, 'refuse'))).toBe('200');
    const states = [await listed(admin, own), await listed(admin, other)].map((it) => it?.state);
    expect(states).toEqual(['withdrawn', 'refused']);
  });

  it('is in the audit log when it expires, and a database that is out is asked again later', async () => {
    const id = await waiting();
    bench.clock.advance(APPROVAL_MS);
    await approvals.noteExpired();
    const { rows } = await bench.database.pool.query<{ outcome: string }>(
      `SELECT outcome FROM redemption.audit WHERE arguments ->> 'approval' = $1 ORDER BY id`,
      [id],
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(['asked', 'expired']);
    const noting = (error: Error): Promise<void> => {
      const store = { noteExpired: () => Promise.reject(error) } as unknown as ApprovalStore;
      const { clock } = bench;
      const [rights, logger] = [{} as OperatorRights, {} as Logger];
      return new ApprovalService(store, rights, {} as ConsoleSettings, clock, logger).noteExpired();
    };
    await expect(noting(new RetryableError('OUT', 'It is out.'))).resolves.toBeUndefined();
    await expect(noting(new TypeError('a fault'))).rejects.toThrow('a fault');
  });

  it('asks for a fresh sign-in', async () => {
    const id = await waiting();
    const other = await bench.signedIn(ADMIN);
    bench.clock.advance(5 * MINUTE);
    expect(await refusalOf(decide(other, id))).toBe('401 FRESH_SIGN_IN_NEEDED');
    await bench.signedIn(ADMIN, { kind: 'operator' }, other);
    expect(await refusalOf(decide(other, id))).toBe('200');
  });

  it.each(['0', 'x', '9'.repeat(18), '9'.repeat(30), '1%00'])('is not found as %s', async (id) => {
    const other = await bench.signedIn(ADMIN);
    expect(await refusalOf(decide(other, id))).toBe('404 NOT_FOUND');
  });
});

describe('an action for which an operator’s role is too low', () => {
  it('is neither done nor asked for', async () => {
    for (const worthUsd of ['0', '1000']) {
      const viewer = approvals.perform(
        { ...operatorOf(VIEWER), role: 'viewer' },
        { ...PAY, worthUsd },
      );
      await expect(viewer).rejects.toMatchObject({ status: 403, code: 'ROLE_TOO_LOW' });
    }
    const moved = approvals.perform(operatorOf(OPERATOR), MOVE);
    await expect(moved).rejects.toMatchObject({ status: 403, code: 'ROLE_TOO_LOW' });
    expect(done).toEqual([]);
  });

  it('is neither approved nor refused', async () => {
    const id = await idOf(approvals.perform({ ...operatorOf(ADMIN), role: 'admin' }, MOVE));
    const operator = operatorOf(OPERATOR);
    for (const decided of [
      approvals.approve(BigInt(id), operator),
      approvals.refuse(BigInt(id), operator),
    ])
      await expect(decided).rejects.toMatchObject({ status: 403, code: 'ROLE_TOO_LOW' });
    expect((await listed(await bench.signedIn(ADMIN), id))?.state).toBe('open');
  });

  it('is not approved after a newer sign-in gave the lower role', async () => {
    const id = await idOf(approvals.perform({ ...operatorOf(ADMIN), role: 'admin' }, MOVE));
    bench.issuer.groups.set('ann', ['staff']);
    const ann = await signedInByOidc('ann');
    const stale = approvals.approve(BigInt(id), ann);
    await expect(stale).rejects.toMatchObject({ status: 403, code: 'ROLE_TOO_LOW' });
    expect(done).toEqual([]);
  });
});

it('an action is registered once, and one that is not is unknown', async () => {
  const execute = () => Promise.resolve('');
  expect(() => {
    approvals.register({ name: MOVE.action, role: 'viewer', execute });
  }).toThrow('twice');
  const asked = approvals.perform(operatorOf(OPERATOR), { ...PAY, action: 'test steal' });
  await expect(asked).rejects.toMatchObject({ code: 'ACTION_UNKNOWN' });
});

/** An operator with the role admin by the session, whatever the newest sign-in says. */
async function signedInByOidc(name: string): Promise<ConsoleOperator> {
  expect(await bench.signInByOidc(bench.visitor(), name)).toBe('');
  const person = { subject: oidcSubject(bench.issuer.url, name), name };
  return { ...person, role: 'admin', actor: actorOf(person) };
}

/** A request of ann, who has signed in. */
async function requestOfAnn(): Promise<string> {
  return idOf(approvals.perform(await signedInByOidc('ann'), MOVE));
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

  it.each([
    ['ann', 'bob'],
    ['bob', 'ann'],
  ])('is not carried out, whichever of the two comes first: %s asks', async (asks, approves) => {
    bench.issuer.groups.set('bob', ['ops']);
    const id = await idOf(approvals.perform(await signedInByOidc(asks), MOVE));
    bench.issuer.groups.set(asks, []);
    expect(await bench.signInByOidc(bench.visitor(), asks)).toBe('NOT_AN_OPERATOR');
    const decided = approvals.approve(BigInt(id), await signedInByOidc(approves));
    await expect(decided).rejects.toMatchObject({ status: 409, code: 'APPROVAL_REQUESTER' });
    await expect(decided).rejects.toThrow(new RegExp(`^${asks}.*no longer has the role admin`));
    expect(done).toEqual([]);
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
