/** Which answer settles what: the table of docs/redemption.md, and the rule behind it over every answer and state. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { callEvent } from './call-event.js';
import { judgeReply } from './partner-answer.js';
import { type BookingStep, REDEMPTION_STATES, type Redemption } from './redemption.js';
import { ALL_ANSWERS, type Answer, answerTable, replyOf } from './testing/answer-table.js';
import { aCall, aContext, aRedemption, START_MS, WALLET } from './testing/builders.js';
import { BY_REDEMPTION } from './testing/fault-outcomes.js';
import { transition } from './transition.js';

const PAGE = readFileSync(new URL('../../../../docs/redemption.md', import.meta.url), 'utf8');

describe('the table of the page', () => {
  const { head, rows, answers } = answerTable();

  it('is the one that the state machine makes (npm run docs:answers)', () => {
    const made = PAGE.split('<!-- Made by `npm run docs:answers`. -->')[1];
    const lines = made?.split('<!-- End of what is made. -->')[0]?.trim().split('\n') ?? [];
    const cells = lines.map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    expect([cells[0], ...cells.slice(2)]).toEqual([head, ...rows]);
  });

  it('has each answer in exactly one row, and says one thing of it', () => {
    const listed = answers.flat().map((one) => JSON.stringify(one));
    expect(listed.toSorted()).toEqual(ALL_ANSWERS.map((one) => JSON.stringify(one)).toSorted());
    for (const row of rows) expect(row.join()).not.toContain(' or `');
  });
});

const STEPS: readonly BookingStep[] = ['deduct', 'revert'];
const DAY_MS = 86_400_000;
/** When an early and the last attempt is answered, in milliseconds since the first. */
const ANSWERED_MS = { deduct: [2000, 400_000], revert: [700_000, 8 * DAY_MS] } as const;
/** With and without an earlier unproven attempt, of a known and an unknown deduction. */
const HISTORIES: readonly Partial<Redemption>[] = [1, 2].flatMap((unprovenAttempts) =>
  [null, 'tx-1'].map((partnerTransactionId) => ({ unprovenAttempts, partnerTransactionId })),
);
const SETTLED: readonly Redemption['state'][] = ['deducted', 'authorised', 'claimed', 'reverted'];
const CALLS = [aCall('deduct'), aCall('revert'), BY_REDEMPTION];

interface Case extends Answer {
  readonly state: Redemption['state'];
  readonly step: BookingStep;
}

const cases: Case[] = REDEMPTION_STATES.flatMap((state) =>
  STEPS.flatMap((step) => ALL_ANSWERS.map((one) => ({ ...one, state, step }))),
);

interface Move {
  readonly before: Redemption;
  readonly after: Redemption;
  readonly isLast: boolean;
}

/** What the answer does, for each call of the step, each history, and an early and the last attempt. */
function moves(one: Case): Move[] {
  const { step, state } = one;
  const outcome = judgeReply({ step, address: WALLET }, replyOf(one));
  return CALLS.filter((call) => call.step === step).flatMap((openCall) =>
    HISTORIES.flatMap((history) =>
      ANSWERED_MS[step].flatMap((afterMs, index) => {
        const known = step === 'deduct' ? { partnerTransactionId: null } : {};
        const before = aRedemption(state, { ...history, ...known, openCall });
        const context = aContext({ nowMs: START_MS + afterMs });
        const decision = transition(before, callEvent(openCall, outcome), context);
        return decision.kind === 'moved'
          ? [{ before, after: decision.next, isLast: index === 1 }]
          : [];
      }),
    ),
  );
}

describe('every answer x signature x status x step x state', () => {
  const isSigned = ({ signature }: Answer) => signature === 'valid';

  it('settles nothing unless it is signed', () => {
    let moved = 0;
    for (const one of cases.filter((one) => !isSigned(one))) {
      for (const { before, after, isLast } of moves(one)) {
        moved++;
        const where = JSON.stringify({ ...one, after: after.state, reason: after.reason });
        expect([...SETTLED, 'failed'].includes(after.state) ? where : '').toBe('');
        expect(after).toMatchObject({
          ...{ exposure: before.exposure, unprovenAttempts: before.unprovenAttempts },
          ...{ partnerTransactionId: before.partnerTransactionId, partnerRevertId: null },
          ...{ firstNotFoundAtMs: null, redemptionIdRefuted: false },
        });
        // An unsigned answer stops the automation only as any other unknown one: when the attempts are spent.
        const stays = after.state === before.state;
        const isEnd = after.state === (one.step === 'deduct' ? 'reverting' : 'attention');
        expect(isLast ? isEnd : stays).toBe(true);
      }
    }
    expect(moved).toBeGreaterThan(1000);
  });

  it('settles only with 200, or as an error with a status that may carry one', () => {
    const reached = new Set<string>();
    for (const one of cases.filter(isSigned)) {
      for (const { after } of moves(one)) {
        if (![...SETTLED, 'failed'].includes(after.state)) continue;
        reached.add(`${one.step} ${one.answer}: ${after.state}`);
        expect(one.answer === 'success' ? [200] : [200, 400, 401, 404, 409, 422]).toContain(
          one.status,
        );
      }
    }
    expect([...reached].sort()).toEqual([
      'deduct ERR-INSUFFICIENT-POINTS: failed',
      'deduct ERR-USER-NOT-FOUND: failed',
      'deduct named duplicate: deducted',
      'deduct success: deducted',
      'revert ERR-ALREADY-REVERTED: reverted',
      'revert ERR-TRANSACTION-NOT-FOUND: failed',
      'revert success: reverted',
    ]);
  });
});
