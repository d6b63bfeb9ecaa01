import { describe, expect, it } from '@jest/globals';
import { alertsOf } from './alerts.js';
import { type RedemptionEventType } from './redemption-event.js';
import { type Redemption, type RedemptionState } from './redemption.js';
import { aRedemption } from './testing/builders.js';
import { EVENTS } from './testing/events.js';

function alerts(
  type: RedemptionEventType,
  fields: Readonly<Record<string, unknown>>,
  [from, to, change]: readonly [RedemptionState, RedemptionState, Partial<Redemption>?],
) {
  const event = { ...EVENTS[type], ...fields };
  return alertsOf(event, aRedemption(from), aRedemption(to, change));
}

describe('the alerts of a transition', () => {
  it('tell of a payout about which the facts contradict each other', () => {
    const watched = ['authorised', 'authorised'] as const;
    expect(alerts('payout-live', { contradiction: 'two claims' }, watched)).toEqual([
      { severity: 'critical', code: 'contradiction' },
    ]);
    expect(alerts('payout-live', {}, watched)).toEqual([]);
    expect(alerts('operator-retry', { contradiction: 'two claims' }, watched)).toEqual([]);
  });

  it.each([
    ['balance', 'created'],
    ['deduct', 'deducting'],
    ['revert', 'reverting'],
  ] as const)('tell of an answer to %s that a partner has to mend', (step, state) => {
    const of = (reason: string | undefined) =>
      alerts(`${step}-unknown`, { reason }, [state, state]);
    expect(of('auth-failed')).toEqual([{ severity: 'warning', code: 'auth-failed', step }]);
    expect(of('timeout')).toEqual([]);
    expect(of(undefined)).toEqual([]);
  });

  it('tell of a redemption that begins to wait for an operator', () => {
    const held = (reason: Redemption['reason'], from: RedemptionState = 'reverting') =>
      alerts('revert-amount-disputed', {}, [from, 'attention', { reason }]);
    expect(held('amount-disputed')).toEqual([{ severity: 'critical', code: 'amount-disputed' }]);
    expect(held('revert-exhausted')).toEqual([{ severity: 'warning', code: 'revert-exhausted' }]);
    expect(held(null)).toEqual([]);
    expect(held('settled-by-hand', 'attention')).toEqual([]);
    const reverting = ['attention', 'reverting', { reason: 'operator-retried' }] as const;
    expect(alerts('operator-retry', {}, reverting)).toEqual([]);
    expect(alerts('operator-retry', {}, ['reverting', 'reverting'])).toEqual([]);
  });
});
