/** Calls that are wrong in one way, to each of the four endpoints, which must refuse all of them. */
import { randomUUID } from 'node:crypto';
import { type CheckId } from '../checks/all-checks.js';
import { StoryBlocked } from '../run/caller.js';
import {
  notSucceeded,
  readable,
  type Story,
  type Tester,
  type CallOverrides,
} from '../run/tester.js';
import { claimedPayload } from './confirm.stories.js';
import { type Exchange, randomAddress, type Step } from '../wire/exchange.js';
import { text } from '../wire/transport.js';
import { newRequestId } from '../../request-id.js';
import { canonicalJson } from '../../signing/signing.js';

const OFF_MS = 400_000;

interface Wrong {
  readonly check: CheckId;
  readonly what: string;
  /** One change of the call for each way of being wrong. */
  readonly twists: (nowMs: number) => readonly CallOverrides[];
}

const ANOTHER_SECRET = { signed: { secret: 'another secret than yours' } };

const WRONGS: readonly Wrong[] = [
  {
    check: 'auth-key-missing',
    what: 'without X-API-KEY',
    twists: () => [{ headers: { 'x-api-key': undefined } }],
  },
  {
    check: 'auth-key-wrong',
    what: 'with another X-API-KEY',
    twists: () => [{ headers: { 'x-api-key': 'another-key-than-yours' } }],
  },
  {
    check: 'auth-signature-missing',
    what: 'without X-API-SIGNATURE',
    twists: () => [{ headers: { 'x-api-signature': undefined } }],
  },
  {
    check: 'auth-signature-wrong',
    what: 'with a signature by another secret, or for another id, path or body',
    twists: (nowMs) => [
      ANOTHER_SECRET,
      { signed: { requestId: newRequestId(nowMs) } },
      { signed: { path: '/another-path' } },
      { signed: { body: '{"another":"body"}' } },
    ],
  },
  {
    check: 'auth-request-missing',
    what: 'without X-API-REQUEST (the signature leaves it out too)',
    twists: () => [{ requestId: '', headers: { 'x-api-request': undefined } }],
  },
  {
    check: 'auth-request-version',
    what: 'with a UUID of version 4 as X-API-REQUEST',
    twists: () => [{ requestId: randomUUID() }],
  },
  {
    check: 'auth-request-stale',
    what: 'with an X-API-REQUEST from 400 s ago',
    twists: (nowMs) => [{ requestId: newRequestId(nowMs - OFF_MS) }],
  },
  {
    check: 'auth-request-future',
    what: 'with an X-API-REQUEST from 400 s ahead',
    twists: (nowMs) => [{ requestId: newRequestId(nowMs + OFF_MS) }],
  },
];

export const refusals: readonly Story[] = WRONGS.map(({ check, what, twists }) => ({
  title: `calls ${what}`,
  checks: [check],
  async play(tester) {
    const nowMs = tester.caller.nowMs();
    const calls = stepsOf(tester).map((step) =>
      twists(nowMs).map((twist) => send(tester, { step, what, twist })),
    );
    judgeAll(tester, check, await Promise.all(calls.flat()));
  },
}));

/** Calls that the partner would refuse with another code, if it answered them. */
export const forged: Story = {
  title: 'forged calls for a player who does not exist',
  checks: ['auth-before-answer'],
  async play(tester) {
    const exchanges = await Promise.all([
      tester.read('a forged read of a wallet that no one has', randomAddress(), ANOTHER_SECRET),
      deductFromNobody(tester, 'a forged deduction from a wallet that no one has', ANOTHER_SECRET),
    ]);
    judgeAll(tester, 'auth-before-answer', exchanges);
  },
};

function deductFromNobody(
  tester: Tester,
  purpose: string,
  twist: CallOverrides,
): Promise<Exchange> {
  return tester.deduct({
    ...{ purpose, twist, points: 1 },
    ...{ id: tester.newId(), address: randomAddress() },
  });
}

export const reused: Story = {
  title: 'calls that come a second time',
  checks: ['auth-request-reused'],
  async play(tester) {
    const twice = async (step: Step): Promise<Exchange> => {
      const requestId = newRequestId(tester.caller.nowMs());
      await send(tester, { step, what: 'the first time', twist: { requestId } });
      return send(tester, { step, what: 'the same X-API-REQUEST again', twist: { requestId } });
    };
    // The only harmless deduction is one that is refused. Its copy could succeed once the player has the points.
    const refusedTwice = async (): Promise<Exchange> => {
      const twist = { requestId: newRequestId(tester.caller.nowMs()) };
      await deductFromNobody(tester, 'a deduction that is refused', twist);
      return deductFromNobody(tester, 'the same X-API-REQUEST again, after a refusal', twist);
    };
    const steps = stepsOf(tester).filter((step) => step !== 'deduct');
    judgeAll(
      tester,
      'auth-request-reused',
      await Promise.all([...steps.map(twice), refusedTwice()]),
    );
  },
};

function stepsOf({ hasConfirm }: Tester): readonly Step[] {
  return hasConfirm ? ['balance', 'deduct', 'revert', 'confirm'] : ['balance', 'deduct', 'revert'];
}

function send(
  tester: Tester,
  {
    step,
    what,
    twist,
  }: { readonly step: Step; readonly what: string; readonly twist: CallOverrides },
): Promise<Exchange> {
  const { address } = tester;
  const purpose = `${step} ${what}`;
  const id = tester.newId();
  switch (step) {
    case 'balance':
      return tester.read(purpose, address, twist);
    case 'deduct':
      return tester.deduct({ purpose, points: 1, id, twist });
    case 'revert':
      return tester.revert({ purpose, points: 1, id, transactionId: 'none', twist });
    case 'confirm':
      return tester.confirm(purpose, claimedPayload({ id, address, points: 1 }), twist);
  }
}

/** @throws Blocked where no answer is wrong, but one is unreadable */
function judgeAll(tester: Tester, check: CheckId, exchanges: readonly Exchange[]): void {
  const wrong = exchanges.filter(({ reading }) => isAccepted(reading));
  const blocked = exchanges.find(({ reading }) => reading.kind === 'unreadable');
  if (wrong.length === 0 && blocked?.reading.kind === 'unreadable') {
    throw new StoryBlocked(`An answer could not be read (${blocked.reading.fault}).`);
  }
  const lines = wrong.map(({ purpose, reading }) => {
    if (reading.kind !== 'refusal') return `${purpose}: accepted.`;
    return `${purpose}: refused with ${reading.code} only, ${text(reading.fields['errorMessage'])}.`;
  });
  const observed = `Expected ERR-AUTH-FAILED. ${[...new Set(lines)].join(' ')}`;
  tester.judge(check, lines.length === 0 ? undefined : observed, wrong);
}

function isAccepted(reading: Exchange['reading']): boolean {
  return (
    reading.kind === 'success' || (reading.kind === 'refusal' && reading.code !== 'ERR-AUTH-FAILED')
  );
}

/** Reverts unknown deductions: the answer shows whether the partner has understood the body, and no points move. */
export const unknownFields: Story = {
  title: 'fields that the partner does not know',
  checks: ['request-unknown-fields'],
  async play(tester) {
    const unknown = { points: 1, transactionId: 'none' };
    const [plain, more] = await Promise.all([
      tester.revert({ ...unknown, purpose: 'an unknown deduction', id: tester.newId() }),
      tester.revert({
        ...unknown,
        purpose: 'an unknown deduction, with a field that is new',
        id: tester.newId(),
        extra: { svcNewField: { since: '2031' } },
      }),
    ]);
    tester.judge('request-unknown-fields', notAlike(plain, more), [plain, more]);
  },
};

export const headerCase: Story = {
  title: 'names of headers in a mixed case',
  checks: ['header-any-case'],
  async play(tester) {
    const { address } = tester;
    const isMixedCase = true;
    const exchange = await tester.read('header names in a mixed case', address, { isMixedCase });
    tester.judge('header-any-case', notSucceeded(exchange), [exchange]);
  },
};

export const otherJson: Story = {
  title: 'the same JSON printed in another way',
  checks: ['request-other-json'],
  async play(tester) {
    const send = (how: 'bytes' | 'canonical form' | undefined): Promise<Exchange> => {
      const body = unknownRevert(tester);
      if (how === undefined) return tester.caller.call('plain', { step: 'revert', body });
      const bodyText = JSON.stringify(body, null, 2);
      const signed = { body: how === 'bytes' ? bodyText : canonicalJson(body) };
      const purpose = `a body with blanks, its ${how} signed`;
      return tester.caller.call(purpose, { step: 'revert', body, bodyText, signed });
    };
    const [plain, ...ways] = await Promise.all([
      send(undefined),
      send('bytes'),
      send('canonical form'),
    ]);
    const problems = ways.map((way) => notAlike(plain, way));
    // A partner that verifies one of the two forms verifies everything that the service sends.
    const problem = problems.includes(undefined) ? undefined : problems.join(' ');
    tester.judge('request-other-json', problem, [plain, ...ways]);
  },
};

function unknownRevert(tester: Tester): Readonly<Record<string, unknown>> {
  return {
    svcRedemptionId: tester.newId(),
    partnerTransactionId: 'none',
    address: tester.address,
    deductPoints: 1,
    revertReason: 'Conformance test',
  };
}

/** Compares with the plain call, so that a wrong code is reported by its own check only. */
function notAlike(plain: Exchange, more: Exchange): string | undefined {
  const [a, b] = [readable(plain.reading), readable(more.reading)];
  if (a.kind === 'success' || b.kind === 'success' || a.code === b.code) return undefined;
  return `The plain body is answered with ${a.code}, this one (${more.purpose}) with ${b.code}.`;
}
