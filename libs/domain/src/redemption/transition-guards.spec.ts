import { describe, expect, it } from '@jest/globals';
import { type PartnerCapability } from './partner-call.js';
import { REDEMPTION_STATES } from './redemption.js';
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
import { OPERATOR_WAYS } from './testing/operator-ways.js';
import { type CaseRow, UNPLANNED_WAYS, type Way, waysOf } from './testing/ways.js';
import { REDEMPTION_EVENT_TYPES, cellOf, transition } from './transition.js';

const noCall = { openCall: null };
const nameless = { partnerTransactionId: null };
const late = { nowMs: START_MS + 400_000 };
const hours = (count: number) => ({ nowMs: START_MS + count * 3_600_000 });
const none = { ...noCall, unprovenAttempts: 0, exposure: 'none' } as const;
const five = { attempts: { deduct: 5, payout: 0, revert: 0 } };
const earlier = { unprovenAttempts: 2 };
const lastOfTwo = { redemption: { ...earlier, ...five } };
const ofAnother = { redemptionId: aUuid(1, 1) };
const cancelled = { ...aClaim(), outcome: 'dead', reason: 'cancelled' };
const notFinal = { finalised: { ...aClaim().finalised, number: aClaim().block.number - 1n } };
const dead = { plan: aPlan(), deadEvidence: anExpiry() };
const paying = { plan: aPlan(), resume: 'authorised' } as const;
const policyOf = (...capabilities: PartnerCapability[]) => ({
  policy: { capabilities, confirms: true },
});
const asked = aCall('revert', { startedAtMs: START_MS + 600_001, target: { by: 'redemption' } });
const found = { redemption: { ...nameless, openCall: asked }, context: hours(1) };
const OTHER_PLANS = [
  aPlan({ recipient: `0x${'b'.repeat(40)}` as never }),
  aPlan({ amount: aPlan().amount + 1n }),
  aPlan({ deadlineSeconds: START_MS / 1000 + 1 }),
  aPlan({ deadlineSeconds: NaN }),
];

const STALE = REDEMPTION_EVENT_TYPES.flatMap((type): Way[] => {
  const state = /^deduct-/.test(type) ? 'deducting' : 'reverting';
  if (!/^(?:deduct|revert)-/.test(type)) return [];
  const given = { event: { requestId: aUuid(START_MS, 77) } };
  return [{ name: 'of another call', state, type, expected: '!stale-call', given }];
});

/** Held back for a reason for which the points may not be given back by hand. */
const held = (expected: Way['expected']): CaseRow[] =>
  (['claimed-without-plan', 'payout-unresolved'] as const).map((reason) => [
    reason,
    expected,
    { redemption: { ...nameless, reason }, context: hours(9) },
  ]);
const TOKENS_MAY_MOVE: CaseRow = [
  'tokens may move',
  '!not-restorable',
  { redemption: { ...paying, ...nameless }, context: hours(9) },
];
const PAID: CaseRow = [
  'paid after all',
  '!contradictory-evidence',
  { redemption: { ...dead, ...nameless, paidEvidence: aClaim() }, context: hours(9) },
];

const OWN_WAYS = waysOf({
  'created call-due': [['quote expired', 'failed', { context: late }]],
  'created balance-unknown': [
    ['no time for another read', 'failed', { context: { nowMs: START_MS + 55_000 } }],
  ],
  'deducting call-due': [
    ['after a wait', 'deducting', { redemption: noCall }],
    ['too late, nothing unproven', 'failed', { redemption: none, context: late }],
    ['too late, one unproven', 'reverting', { redemption: noCall, context: late }],
  ],
  'deducting deduct-refused': [
    ['one unproven before', 'deducting', { redemption: earlier }],
    ['the last, one unproven before', 'reverting', lastOfTwo],
  ],
  'deducting deduct-not-sent': [
    ['the last, nothing unproven', 'failed', { redemption: five }],
    ['the last, one unproven before', 'reverting', lastOfTwo],
  ],
  'deducting deduct-unknown': [['the last', 'reverting', { redemption: five }]],
  'deducted plan-failed': [['half an hour on', 'reverting', { context: hours(0.6) }]],
  'deducted plan-committed': [
    ...OTHER_PLANS.map((plan): CaseRow => ['another plan', '!invalid-plan', { event: { plan } }]),
    ['a second plan', '!invalid-plan', { redemption: { plan: aPlan() } }],
  ],
  'authorised payout-live': [['a day after the deadline', 'attention', { context: hours(25) }]],
  // Rule F and rule G: facts that are no evidence.
  'authorised payout-dead': [
    [
      'final block at the deadline',
      '!no-evidence',
      { event: { evidence: anExpiry(0) }, context: hours(9) },
    ],
    ['of another redemption', '!no-evidence', { event: ofAnother }],
    ['cancelled on chain', 'reverting', { event: { evidence: cancelled } }],
    [
      'cancellation not final',
      '!no-evidence',
      { event: { evidence: { ...cancelled, ...notFinal } } },
    ],
  ],
  'authorised payout-paid': [
    ['claim not final', '!no-evidence', { event: { evidence: aClaim(notFinal) } }],
    ['of another redemption', '!no-evidence', { event: ofAnother }],
    ['another amount', '!no-evidence', { event: { evidence: aClaim({ amount: 1n }) } }],
  ],
  'reverting payout-paid': [['after all', 'attention', { redemption: dead }]],
  'reverting call-due': [
    [
      'authorised without dead evidence',
      '!not-restorable',
      { redemption: { ...noCall, plan: aPlan() } },
    ],
    ['authorised and dead', 'reverting', { redemption: { ...noCall, ...dead } }],
    ['8 days on', 'attention', { redemption: noCall, context: hours(192) }],
    [
      'no way to name it',
      'attention',
      { redemption: { ...noCall, ...nameless }, context: policyOf() },
    ],
  ],
  'reverting revert-unknown': [['8 days on', 'attention', { context: hours(192) }]],
  'reverting revert-not-sent': [['8 days on', 'attention', { context: hours(192) }]],
  'reverting revert-not-found': [
    [
      'a day long, though proven',
      'attention',
      { redemption: { firstNotFoundAtMs: START_MS }, context: hours(24.5) },
    ],
    ['proof', 'failed', found],
    [
      'no proof of this partner',
      'attention',
      { ...found, context: { ...hours(1), ...policyOf('revert-by-redemption-id') } },
    ],
  ],
  'attention operator-retry': [
    ['watching', 'authorised', { redemption: paying }],
    ...held('reverting'),
    PAID,
  ],
  'attention operator-set-transaction': [
    ['unresolved', 'reverting', { redemption: nameless }],
    [
      'an empty id',
      '!invalid-transaction-id',
      { redemption: nameless, event: { partnerTransactionId: '' } },
    ],
    ...held('reverting'),
    TOKENS_MAY_MOVE,
    PAID,
  ],
  'attention operator-restored': [...held('!not-restorable'), TOKENS_MAY_MOVE, PAID],
  'attention operator-not-deducted': [
    ['unresolved', 'failed', { redemption: nameless, context: hours(1) }],
    ['a late call may arrive', '!too-fresh', { redemption: nameless }],
    ...held('!not-restorable'),
    TOKENS_MAY_MOVE,
    PAID,
  ],
});
const WAYS = [...OWN_WAYS, ...STALE, ...UNPLANNED_WAYS, ...OPERATOR_WAYS];

describe('the second ways out of a cell', () => {
  it.each(WAYS)('$state x $type, $name: $expected', ({ state, type, given, expected }) => {
    const event = { ...EVENTS[type], ...given.event };
    const decision = transition(
      aRedemption(state, given.redemption),
      event,
      aContext(given.context),
    );
    expect(outcomeOf(decision)).toBe(expected);
  });

  it('and the straight ones are all the arrows of the table', () => {
    const tried = new Set(WAYS.map(({ state, type, expected }) => `${state} ${type} ${expected}`));
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
