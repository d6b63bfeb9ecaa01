import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLog } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { type ConsoleOperator } from '../auth/audience.js';
import { actorOf, oidcSubject } from '../auth/operators.js';
import {
  ADMIN,
  type Account,
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

beforeAll(async () => {
  bench = await ConsoleBench.start();
  approvals = bench.app.get(ApprovalService);
  approvals.register({
    name: 'test pay',
    role: 'operator',
    execute(given, actors) {
      if (given['to'] === 'nobody') throw new PermanentError('NO_PAYEE', 'There is no payee.');
      done.push({ given, actors });
      return Promise.resolve('Paid.');
    },
  });
});
afterAll(() => bench.stop());
beforeEach(() => {
  done = [];
  bench.clock.set(Date.now());
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

async function waiting(wanted: Partial<RequestedAction> = {}): Promise<string> {
  const performed = await pay(wanted);
  if (performed.done) throw new Error('It was done at once.');
  return String(performed.approval.id);
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

describe('two operators with the same name at the issuer', () => {
  const asked = async (sub: string): Promise<ApprovalBody> => {
    const person = { subject: oidcSubject('https://issuer.example', sub), name: 'Ann Lee' };
    const operator: ConsoleOperator = { ...person, role: 'operator', actor: actorOf(person) };
    const performed = await approvals.perform(operator, {
      ...{ action: 'test pay', arguments: { to: sub }, summary: 'Somebody is paid.' },
      ...{ worthUsd: '1000', reason: 'Why not.' },
    });
    if (performed.done) throw new Error('It was done at once.');
    const admin = await bench.signedIn(ADMIN);
    const list = (await (await admin.get('/api/operate/approvals')).json()) as ApprovalsBody;
    const found = list.approvals.find(({ id }) => id === String(performed.approval.id));
    if (found === undefined) throw new Error('It is not in the list.');
    expect(`operator:${found.requestedBy}`).toBe(operator.actor);
    return found;
  };

  it('are two to the one who approves, by the names of the audit log', async () => {
    const [one, other] = [await asked('1'), await asked('2')];
    expect(one.requestedBy).toMatch(/^Ann_Lee\.[0-9a-f]{8}$/);
    expect(other.requestedBy).not.toBe(one.requestedBy);
  });
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
    const list = (await (await other.get('/api/operate/approvals')).json()) as ApprovalsBody;
    const open = { id, state: 'open', isOwn: false, reason: 'She has won.' };
    expect(list.approvals.at(-1)).toMatchObject(open);
    const answer = (await (await decide(other, id)).json()) as ApprovalBody;
    expect(answer).toMatchObject({ state: 'approved', outcome: 'Paid.', summary: 'Ann is paid.' });
    const actor = `operator:${OPERATOR.address.toLowerCase()}`;
    const approvedBy = `operator:${ADMIN.address.toLowerCase()}`;
    expect(done).toEqual([{ given: { to: 'ann' }, actors: { actor, approvedBy } }]);
  });

  it('is not approved by who asked, who can take it back', async () => {
    const id = await waiting();
    const own = await bench.signedIn(OPERATOR);
    expect(await refusalOf(decide(own, id))).toBe('409 APPROVAL_OF_ANOTHER');
    const answer = (await (await decide(own, id, 'refuse')).json()) as ApprovalBody;
    expect(answer).toMatchObject({ state: 'withdrawn', isOwn: true, outcome: null });
    expect(await refusalOf(decide(await bench.signedIn(ADMIN), id))).toBe('409 APPROVAL_CLOSED');
    expect(done).toEqual([]);
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

  it('expires after a day', async () => {
    const id = await waiting();
    bench.clock.advance(24 * HOUR);
    expect(await refusalOf(decide(await bench.signedIn(ADMIN), id))).toBe('409 APPROVAL_CLOSED');
    await bench.app.get(ApprovalService).noteExpired();
    const log = new AuditLog(bench.database);
    const { entries } = await log.newest({ command: 'approval expire' }, { limit: 100 });
    expect(entries.map((one) => one.arguments)).toContainEqual({
      ...{ approval: Number(id), action: 'test pay', reason: 'She has won.' },
      askedBy: OPERATOR.address.toLowerCase(),
    });
  });

  it('is not for a viewer, and asks for a fresh sign-in', async () => {
    const id = await waiting();
    expect(await refusalOf(decide(await bench.signedIn(VIEWER), id))).toBe('403 ROLE_TOO_LOW');
    const other = await bench.signedIn(ADMIN);
    bench.clock.advance(5 * MINUTE);
    expect(await refusalOf(decide(other, id))).toBe('401 FRESH_SIGN_IN_NEEDED');
    await bench.signedIn(ADMIN, { kind: 'operator' }, other);
    expect(await refusalOf(decide(other, id))).toBe('200');
  });

  it.each(['0', '-1', 'x', '9'.repeat(30), '1%00'])('is not found as %s', async (id) => {
    const other = await bench.signedIn(ADMIN);
    expect(await refusalOf(decide(other, id))).toBe('404 NOT_FOUND');
  });
});
