/** What an operator can do with each redemption that is not final, whatever its reason. */
import { describe, expect, it } from '@jest/globals';
import { type EventOf, type RedemptionEventType } from './redemption-event.js';
import {
  type Redemption,
  type RedemptionReason,
  REDEMPTION_STATES,
  type RedemptionState,
} from './redemption.js';
import { isFinal } from './redemption.js';
import { aClaim, aContext, anExpiry, aPlan, aRedemption, START_MS } from './testing/builders.js';
import { EVENTS } from './testing/events.js';
import { transition } from './transition.js';

type Command = Extract<RedemptionEventType, `operator-${string}` | 'cancel'>;
const EACH_COMMAND: Readonly<Record<Command, true>> = {
  'operator-retry': true,
  'operator-set-transaction': true,
  'operator-restored': true,
  'operator-not-deducted': true,
  'operator-settled': true,
  cancel: true,
};
const COMMANDS = Object.keys(EACH_COMMAND) as readonly Command[];

/** The states in which each reason occurs; a state may have no reason in the ordinary course. */
const REASONS: Readonly<Record<RedemptionReason, readonly RedemptionState[]>> = {
  'user-cancelled': ['authorised', 'reverting'],
  'operator-cancelled': ['authorised', 'reverting'],
  'system-cancelled': ['authorised', 'reverting'],
  'deduction-unknown': ['reverting'],
  'payout-unavailable': ['reverting'],
  'claim-timeout': ['reverting'],
  'operator-retried': ['authorised', 'reverting'],
  'transaction-id-reused': ['attention'],
  'deduction-unresolved': ['attention'],
  'transaction-not-found': ['attention'],
  'amount-disputed': ['attention'],
  'revert-exhausted': ['attention'],
  'payout-unresolved': ['attention'],
  'paid-after-dead': ['attention'],
  'claimed-without-plan': ['attention'],
  'settled-by-hand': ['attention'],
  'evidence-invalid': ['attention'],
  // Reasons of final states only.
  'quote-expired': [],
  'budget-spent': [],
  'partner-unreachable': [],
  'insufficient-points': [],
  'user-not-found': [],
  'never-deducted': [],
  'restored-out-of-band': [],
  'not-deducted-out-of-band': [],
};

const REASONLESS: readonly RedemptionState[] = ['created', 'deducting', 'deducted', 'authorised'];
const cells: [RedemptionState, RedemptionReason | null][] = [
  ...REASONLESS.map((state): [RedemptionState, null] => [state, null]),
  ...(Object.entries(REASONS) as [RedemptionReason, readonly RedemptionState[]][]).flatMap(
    ([reason, states]) =>
      states.map((state): [RedemptionState, RedemptionReason] => [state, reason]),
  ),
];

/**
 * Redemptions with a known deduction and without one, never authorised, authorised, and dead by the row, as far as the
 * state allows.
 */
function variants(state: RedemptionState, reason: RedemptionReason | null): Redemption[] {
  const both: readonly RedemptionReason[] = ['paid-after-dead', 'settled-by-hand'];
  const dead = { plan: aPlan(), deadEvidence: anExpiry() };
  const paying = { plan: aPlan(), deadEvidence: null };
  const nameless = { partnerTransactionId: null };
  const base = { openCall: null, reason };
  const changes: Partial<Redemption>[] =
    reason !== null && both.includes(reason)
      ? [{ ...dead, paidEvidence: aClaim() }]
      : state === 'attention'
        ? [{}, nameless, dead, ...(reason === 'payout-unresolved' ? [paying] : [])]
        : state === 'reverting'
          ? [{}, nameless, dead, { firstRevertAtMs: null }, { ...nameless, firstRevertAtMs: null }]
          : [{}];
  return changes.map((change) =>
    aRedemption(state, {
      ...base,
      ...change,
      ...(change === paying && { resume: 'authorised' }),
    }),
  );
}

/** Late enough that no call counts as under way, and early enough that nothing is given up. */
const context = aContext({ nowMs: START_MS + 3_600_000 });
const acting = (redemption: Redemption): { command: Command; next: Redemption }[] =>
  COMMANDS.flatMap((command) => {
    const decision = transition(redemption, EVENTS[command] as EventOf<Command>, context);
    return decision.kind === 'moved' ? [{ command, next: decision.next }] : [];
  });

describe('an operator can act', () => {
  it('is tried for every state that is not final', () => {
    const open = REDEMPTION_STATES.filter((state) => !isFinal(state));
    expect(new Set(cells.map(([state]) => state))).toEqual(new Set(open));
  });

  it.each(cells)('on %s (%s)', (state, reason) => {
    for (const redemption of variants(state, reason)) {
      const found = acting(redemption);
      expect(found.map(({ command }) => command)).not.toEqual([]);
      for (const { command, next } of found) {
        expect(next.state).not.toBe('claimed');
        const mayPay = redemption.plan !== null && redemption.deadEvidence === null;
        if (mayPay) expect(next.state).toBe('authorised');
        if (redemption.paidEvidence !== null) {
          expect([command, next.state]).toEqual(['operator-settled', 'attention']);
        }
      }
    }
  });
});
