import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { isFinal, publicStatus } from './redemption.js';
import { type RedemptionEventType } from './redemption-event.js';
import { REDEMPTION_STATES, type RedemptionState } from './redemption.js';
import { aContext, aRedemption, START_MS } from './testing/builders.js';
import { EVENTS, outcomeOf } from './testing/events.js';
import { REDEMPTION_EVENT_TYPES, cellOf, transition } from './transition.js';

/**
 * Written by hand from the state table, independent of the table under test. One row per event, in the order of STATES:
 * the state that the event leads to, or `!` and the code of its refusal.
 */
const STATES = 'created deducting deducted authorised reverting attention claimed reverted failed';
const FINAL = '!final !final !final';
const EXPECTED: Readonly<Record<RedemptionEventType, string>> = {
  'call-due': `deducting !call-open !out-of-place !out-of-place !call-open !needs-operator ${FINAL}`,
  'balance-refused': `failed ${'!out-of-place '.repeat(4)}!needs-operator ${FINAL}`,
  'balance-unknown': `created ${'!out-of-place '.repeat(4)}!needs-operator ${FINAL}`,
  'evidence-rejected': `attention attention attention !out-of-place attention !needs-operator ${FINAL}`,
  'deduct-confirmed': `!stale-call deducted !stale-call !stale-call !stale-call !needs-operator ${FINAL}`,
  'deduct-id-reused': `!stale-call attention !stale-call !stale-call !stale-call !needs-operator ${FINAL}`,
  'deduct-refused': `!stale-call failed !stale-call !stale-call !stale-call !needs-operator ${FINAL}`,
  'deduct-duplicate': `!stale-call reverting !stale-call !stale-call !stale-call !needs-operator ${FINAL}`,
  'deduct-unknown': `!stale-call deducting !stale-call !stale-call !stale-call !needs-operator ${FINAL}`,
  'deduct-not-sent': `!stale-call deducting !stale-call !stale-call !stale-call !needs-operator ${FINAL}`,
  'plan-committed': `!out-of-place !out-of-place authorised !out-of-place !out-of-place !needs-operator ${FINAL}`,
  'plan-failed': `!out-of-place !out-of-place deducted !out-of-place !out-of-place !needs-operator ${FINAL}`,
  'payout-live': `!out-of-place !out-of-place !out-of-place authorised !call-open !needs-operator ${FINAL}`,
  'payout-paid': `!out-of-place !out-of-place !out-of-place claimed attention !needs-operator ${FINAL}`,
  'payout-dead': `!out-of-place !out-of-place !out-of-place reverting !out-of-place !needs-operator ${FINAL}`,
  'revert-confirmed': `!stale-call !stale-call !stale-call !stale-call reverted !needs-operator ${FINAL}`,
  'revert-already': `!stale-call !stale-call !stale-call !stale-call reverted !needs-operator ${FINAL}`,
  'revert-not-found': `!stale-call !stale-call !stale-call !stale-call reverting !needs-operator ${FINAL}`,
  'revert-amount-disputed': `!stale-call !stale-call !stale-call !stale-call attention !needs-operator ${FINAL}`,
  'revert-not-sent': `!stale-call !stale-call !stale-call !stale-call reverting !needs-operator ${FINAL}`,
  'revert-unknown': `!stale-call !stale-call !stale-call !stale-call reverting !needs-operator ${FINAL}`,
  cancel: `failed !not-yet-cancellable reverting authorised !too-late-to-cancel !needs-operator ${FINAL}`,
  'operator-retry': `created !call-open deducted authorised !call-open reverting ${FINAL}`,
  'operator-set-transaction': `!not-in-attention !call-open ${'!not-in-attention '.repeat(2)}!call-open !transaction-id-known ${FINAL}`,
  'operator-restored': `${'!not-in-attention '.repeat(4)}!call-open reverted ${FINAL}`,
  'operator-not-deducted': `!not-in-attention !call-open ${'!not-in-attention '.repeat(2)}!call-open !deduction-proven ${FINAL}`,
  'operator-settled': `${'!not-in-attention '.repeat(5)}!not-contradictory ${FINAL}`,
};

const cells = REDEMPTION_EVENT_TYPES.flatMap((type) =>
  STATES.split(' ').map((state, index) => ({
    state: state as RedemptionState,
    type,
    expected: EXPECTED[type].split(' ')[index] ?? 'no expectation',
  })),
);

describe('every state x event cell', () => {
  it('is expected here, and nothing else is', () => {
    expect(new Set(cells.map(({ state }) => state))).toEqual(new Set(REDEMPTION_STATES));
    expect(Object.keys(EXPECTED).sort()).toEqual(Object.keys(EVENTS).sort());
    expect([...REDEMPTION_EVENT_TYPES].sort()).toEqual(Object.keys(EVENTS).sort());
    for (const row of Object.values(EXPECTED)) expect(row.split(' ')).toHaveLength(9);
  });

  it.each(cells)('$state x $type: $expected', ({ state, type, expected }) => {
    const before = aRedemption(state);
    const frozen = structuredClone(before);
    const decision = transition(before, EVENTS[type], aContext());
    expect(outcomeOf(decision)).toBe(expected);
    expect(before).toEqual(frozen);
    if (decision.kind === 'refused') {
      expect(decision.message).not.toBe('');
      return;
    }
    const { next } = decision;
    expect(next.version).toBe(before.version + 1);
    expect(next.stateSinceMs).toBe(next.state === state ? before.stateSinceMs : START_MS + 1000);
    expect(next.nextActionAtMs === null).toBe(isFinal(next.state) || next.state === 'attention');
    expect(next.resume === null).toBe(next.state !== 'attention');
    const cell = cellOf(state, type);
    expect(typeof cell === 'string' ? [] : cell.to).toContain(next.state);
  });
});

describe('documents and alerts', () => {
  const textOf = (path: string) =>
    readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');

  it.each(['redemption.md', 'wire/redemption.md', 'operating/first-day.md'])(
    '%s says what each state is',
    (name) => {
      const items =
        textOf(`docs/${name}`)
          .match(/^(?:- `\w+`:|\| `.*?\|)/gm)
          ?.join(' ') ?? '';
      const told = REDEMPTION_STATES.filter((state) => items.includes(`\`${state}\``));
      expect(told).toEqual([...REDEMPTION_STATES]);
    },
  );

  it('an alert tells of a redemption that stays in any state that is not final', () => {
    const watched = textOf('deploy/prometheus/rules.yml').matchAll(
      /lowmark_redemption(?:s|_oldest_seconds)\{state=~?"([a-z|]+)"/g,
    );
    const states = [...watched].flatMap(([, names = '']) => names.split('|'));
    expect(new Set(states)).toEqual(new Set(REDEMPTION_STATES.filter((one) => !isFinal(one))));
  });
});

describe('public status', () => {
  it('is that of the state table', () => {
    expect(
      Object.fromEntries(REDEMPTION_STATES.map((state) => [state, publicStatus(state)])),
    ).toEqual({
      created: 'initial',
      deducting: 'pending',
      deducted: 'pending',
      authorised: 'pending',
      reverting: 'pending',
      attention: 'pending',
      claimed: 'claimed',
      reverted: 'reverted',
      failed: 'failed',
    });
    expect(REDEMPTION_STATES.filter(isFinal)).toEqual(['claimed', 'reverted', 'failed']);
  });
});
