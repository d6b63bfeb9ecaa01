import { describe, expect, it } from '@jest/globals';
import { type RedemptionEventType } from './redemption-event.js';
import { REDEMPTION_STATES, type RedemptionState } from './redemption.js';
import {
  aCall,
  aClaim,
  aContext,
  anExpiry,
  aPlan,
  aRedemption,
  aUuid,
  START_MS,
} from './testing/builders.js';
import { EVENTS, outcomeOf } from './testing/events.js';
import { operatorWays } from './testing/operator-ways.js';
import { noteIn, unplannedWays, type Way } from './testing/ways.js';
import { REDEMPTION_EVENT_TYPES, cellOf, transition } from './transition.js';

function ways(): Way[] {
  const ways = unplannedWays();
  const way = noteIn(ways);
  const late = { nowMs: START_MS + 400_000 };
  const noCall = { openCall: null };
  const none = { ...noCall, unprovenAttempts: 0, exposure: 'none' } as const;
  way('quote expired', ['created', 'call-due'], { context: late }, 'failed');
  way(
    'no time for another read',
    ['created', 'balance-unknown'],
    { context: { nowMs: START_MS + 55_000 } },
    'failed',
  );
  way('after a wait', ['deducting', 'call-due'], { redemption: noCall }, 'deducting');
  way(
    'too late, nothing unproven',
    ['deducting', 'call-due'],
    { redemption: none, context: late },
    'failed',
  );
  way(
    'too late, one unproven',
    ['deducting', 'call-due'],
    { redemption: noCall, context: late },
    'reverting',
  );
  const five = { attempts: { deduct: 5, payout: 0, revert: 0 } };
  const earlier = { unprovenAttempts: 2 };
  way('one unproven before', ['deducting', 'deduct-refused'], { redemption: earlier }, 'deducting');
  way(
    'the last, one unproven before',
    ['deducting', 'deduct-refused'],
    { redemption: { ...earlier, ...five } },
    'reverting',
  );
  way(
    'the last, nothing unproven',
    ['deducting', 'deduct-not-sent'],
    { redemption: five },
    'failed',
  );
  way(
    'the last, one unproven before',
    ['deducting', 'deduct-not-sent'],
    { redemption: { ...earlier, ...five } },
    'reverting',
  );
  way('the last', ['deducting', 'deduct-unknown'], { redemption: five }, 'reverting');
  const another = { event: { requestId: aUuid(START_MS, 77) } };
  for (const type of REDEMPTION_EVENT_TYPES) {
    if (/^deduct-/.test(type)) way('of another call', ['deducting', type], another, '!stale-call');
    if (/^revert-/.test(type)) way('of another call', ['reverting', type], another, '!stale-call');
  }
  const hours = (count: number) => ({ nowMs: START_MS + count * 3_600_000 });
  way('half an hour on', ['deducted', 'plan-failed'], { context: hours(0.6) }, 'reverting');
  for (const plan of [
    aPlan({ recipient: `0x${'b'.repeat(40)}` as never }),
    aPlan({ amount: aPlan().amount + 1n }),
    aPlan({ deadlineSeconds: START_MS / 1000 + 1 }),
    aPlan({ deadlineSeconds: NaN }),
  ]) {
    way('another plan', ['deducted', 'plan-committed'], { event: { plan } }, '!invalid-plan');
  }
  way(
    'a second plan',
    ['deducted', 'plan-committed'],
    { redemption: { plan: aPlan() } },
    '!invalid-plan',
  );
  way(
    'a day after the deadline',
    ['authorised', 'payout-live'],
    { context: hours(25) },
    'attention',
  );
  // Rule F and rule G: facts that are no evidence.
  way(
    'final block at the deadline',
    ['authorised', 'payout-dead'],
    { event: { evidence: anExpiry(0) }, context: hours(9) },
    '!no-evidence',
  );
  way(
    'of another redemption',
    ['authorised', 'payout-dead'],
    { event: { redemptionId: aUuid(1, 1) } },
    '!no-evidence',
  );
  const cancelled = { ...aClaim(), outcome: 'dead', reason: 'cancelled' };
  way(
    'cancelled on chain',
    ['authorised', 'payout-dead'],
    { event: { evidence: cancelled } },
    'reverting',
  );
  const notFinal = { finalised: { ...aClaim().finalised, number: aClaim().block.number - 1n } };
  way(
    'cancellation not final',
    ['authorised', 'payout-dead'],
    { event: { evidence: { ...cancelled, ...notFinal } } },
    '!no-evidence',
  );
  way(
    'claim not final',
    ['authorised', 'payout-paid'],
    { event: { evidence: aClaim(notFinal) } },
    '!no-evidence',
  );
  way(
    'of another redemption',
    ['authorised', 'payout-paid'],
    { event: { redemptionId: aUuid(1, 1) } },
    '!no-evidence',
  );
  way(
    'another amount',
    ['authorised', 'payout-paid'],
    { event: { evidence: aClaim({ amount: 1n }) } },
    '!no-evidence',
  );
  const dead = { plan: aPlan(), deadEvidence: anExpiry() };
  way('after all', ['reverting', 'payout-paid'], { redemption: dead }, 'attention');
  way(
    'authorised without dead evidence',
    ['reverting', 'call-due'],
    { redemption: { ...noCall, plan: aPlan() } },
    '!not-restorable',
  );
  way(
    'authorised and dead',
    ['reverting', 'call-due'],
    { redemption: { ...noCall, ...dead } },
    'reverting',
  );
  way(
    '8 days on',
    ['reverting', 'call-due'],
    { redemption: noCall, context: hours(192) },
    'attention',
  );
  way('8 days on', ['reverting', 'revert-unknown'], { context: hours(192) }, 'attention');
  const alone = { context: { policy: { capabilities: [], confirms: true } } };
  const nameless = { partnerTransactionId: null };
  way(
    'no way to name it',
    ['reverting', 'call-due'],
    { redemption: { ...noCall, ...nameless }, ...alone },
    'attention',
  );
  way('8 days on', ['reverting', 'revert-not-sent'], { context: hours(192) }, 'attention');
  const day = { redemption: { firstNotFoundAtMs: START_MS }, context: hours(24.5) };
  way('a day long, though proven', ['reverting', 'revert-not-found'], day, 'attention');
  const asked = aCall('revert', { startedAtMs: START_MS + 600_001, target: { by: 'redemption' } });
  const found = { redemption: { ...nameless, openCall: asked }, context: hours(1) };
  way('proof', ['reverting', 'revert-not-found'], found, 'failed');
  const unproven = {
    policy: { capabilities: ['revert-by-redemption-id'], confirms: true },
  } as const;
  way(
    'no proof of this partner',
    ['reverting', 'revert-not-found'],
    { ...found, context: { ...hours(1), ...unproven } },
    'attention',
  );
  for (const reason of ['claimed-without-plan', 'payout-unresolved'] as const) {
    const held = { redemption: { ...nameless, reason }, context: hours(9) };
    way(reason, ['attention', 'operator-restored'], held, '!not-restorable');
    way(reason, ['attention', 'operator-not-deducted'], held, '!not-restorable');
    way(reason, ['attention', 'operator-retry'], held, 'reverting');
    way(reason, ['attention', 'operator-set-transaction'], held, 'reverting');
  }
  const inAttention = (type: RedemptionEventType): [RedemptionState, RedemptionEventType] => [
    'attention',
    type,
  ];
  const paying = { plan: aPlan(), resume: 'authorised' } as const;
  way('watching', inAttention('operator-retry'), { redemption: paying }, 'authorised');
  way('unresolved', inAttention('operator-set-transaction'), { redemption: nameless }, 'reverting');
  way(
    'an empty id',
    inAttention('operator-set-transaction'),
    { redemption: nameless, event: { partnerTransactionId: '' } },
    '!invalid-transaction-id',
  );
  way(
    'unresolved',
    inAttention('operator-not-deducted'),
    { redemption: nameless, context: hours(1) },
    'failed',
  );
  way(
    'a late call may arrive',
    inAttention('operator-not-deducted'),
    { redemption: nameless },
    '!too-fresh',
  );
  for (const type of [
    'operator-set-transaction',
    'operator-restored',
    'operator-not-deducted',
  ] as const) {
    way(
      'tokens may move',
      inAttention(type),
      { redemption: { ...paying, ...nameless }, context: hours(9) },
      '!not-restorable',
    );
  }
  for (const type of [
    'operator-retry',
    'operator-set-transaction',
    'operator-restored',
    'operator-not-deducted',
  ] as const) {
    const both = { ...dead, ...nameless, paidEvidence: aClaim() };
    way(
      'paid after all',
      inAttention(type),
      { redemption: both, context: hours(9) },
      '!contradictory-evidence',
    );
  }
  for (const one of operatorWays()) way(one.name, [one.state, one.type], one.given, one.expected);
  return ways;
}

describe('the second ways out of a cell', () => {
  it.each(ways())('$state x $type, $name: $expected', ({ state, type, given, expected }) => {
    const event = { ...EVENTS[type], ...given.event };
    const decision = transition(
      aRedemption(state, given.redemption),
      event,
      aContext(given.context),
    );
    expect(outcomeOf(decision)).toBe(expected);
  });

  it('and the straight ones are all the arrows of the table', () => {
    const tried = new Set(
      ways().map(({ state, type, expected }) => `${state} ${type} ${expected}`),
    );
    for (const state of REDEMPTION_STATES) {
      for (const type of REDEMPTION_EVENT_TYPES) {
        const straight = outcomeOf(transition(aRedemption(state), EVENTS[type], aContext()));
        const cell = cellOf(state, type);
        for (const to of typeof cell === 'string' ? [`!${cell}`] : cell.to) {
          if (to !== straight) expect(tried).toContain(`${state} ${type} ${to}`);
        }
      }
    }
  });
});
