/** What each decision writes: the fields that change, with the command, or the code of the refusal. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type TransitionContext } from './decision.js';
import { needsBalance } from './deduct-rules.js';
import { PARTNER_CAPABILITIES } from './partner-call.js';
import { type EventOf, type RedemptionEventType } from './redemption-event.js';
import { newRedemption, type Redemption, type RedemptionState } from './redemption.js';
import { mayAwaitPartner } from './revert-rules.js';
import {
  aBlock,
  aCall,
  aClaim,
  aContext,
  anExpiry,
  aPlan,
  aRedemption,
  aUuid,
  START_MS,
  WALLET,
} from './testing/builders.js';
import { EVENTS } from './testing/events.js';
import { transition } from './transition.js';

const NOW = aContext().nowMs;
const DAY_MS = 24 * 3_600_000;
const DUE = { nextActionAtMs: NOW };
const NEXT_ID = aUuid(START_MS, 2);
const { id } = aRedemption('created');
/** A restore of the ledger was noted: until then a voucher may be paid that the ledger lacks. */
const LEDGER_RESTORED = { lostVoucherUntilSeconds: START_MS / 1000 + 3600 };
const NO_CALL = { openCall: null };
const BEFORE_REVERTS = { ...NO_CALL, attempts: { deduct: 1, payout: 0, revert: 0 } };
const SPENT = { deduct: 5, payout: 0, revert: 0 };
const UNNAMED = { partnerTransactionId: null };
const NO_CONFIRMATION = { policy: { capabilities: PARTNER_CAPABILITIES, confirms: false } };
const DEAD = { plan: aPlan(), deadEvidence: anExpiry() };

type Row = readonly [
  what: string,
  from: readonly [RedemptionState, Partial<Redemption>?],
  event: RedemptionEventType | readonly [RedemptionEventType, Readonly<Record<string, unknown>>],
  effect: string | Readonly<Record<string, unknown>>,
  context?: Partial<TransitionContext>,
];

function effectOf([, [state, change], event, , context]: Row): unknown {
  const [type, fields] = typeof event === 'string' ? [event, {}] : event;
  const before = aRedemption(state, change);
  const of = { ...EVENTS[type], ...fields } as EventOf<RedemptionEventType>;
  const decision = transition(before, of, aContext(context));
  if (decision.kind === 'refused') return decision.code;
  const { next, command } = decision;
  const entered = next.state === before.state ? before.stateSinceMs : (context?.nowMs ?? NOW);
  expect(next.stateSinceMs).toBe(entered);
  const changed = Object.entries({ ...next, command }).filter(
    ([name, value]) =>
      !['version', 'stateSinceMs'].includes(name) &&
      !isDeepStrictEqual(value, name === 'command' ? null : before[name as keyof Redemption]),
  );
  return Object.fromEntries(changed);
}

const failed = (reason: string) => ({
  state: 'failed',
  reason,
  nextActionAtMs: null,
  failedAtMs: NOW,
});
const reverting = (reason: string) => ({ state: 'reverting', reason, revertReason: reason });
const revertingDue = (reason: string) => ({ ...reverting(reason), ...DUE });
const attention = (reason: string, resume = 'reverting') => ({
  ...{ state: 'attention', reason, resume, nextActionAtMs: null },
});
/** A redemption of a restored ledger counts as one with an unknown call. */
const UNKNOWN_CALL = { exposure: 'possible', unprovenAttempts: 1, lastDeductAtMs: NOW };

const DEDUCTS: readonly Row[] = [
  [
    'the first call',
    ['created'],
    'call-due',
    {
      state: 'deducting',
      exposure: 'possible',
      unprovenAttempts: 1,
      openCall: { step: 'deduct', requestId: NEXT_ID, startedAtMs: NOW },
      attempts: { deduct: 1, payout: 0, revert: 0 },
      firstDeductAtMs: NOW,
      lastDeductAtMs: NOW,
      pendingAtMs: NOW,
      ...DUE,
      command: {
        kind: 'call-partner',
        requestId: NEXT_ID,
        request: {
          step: 'deduct',
          body: { address: WALLET, deductPoints: 5000, svcRedemptionId: id },
        },
      },
    },
  ],
  [
    'the quote has expired',
    ['created', { quoteExpiresAtMs: NOW }],
    'call-due',
    failed('quote-expired'),
  ],
  [
    'a restored ledger',
    ['created', LEDGER_RESTORED],
    'call-due',
    { ...revertingDue('deduction-unknown'), ...UNKNOWN_CALL, pendingAtMs: NOW },
  ],
  [
    'another call',
    ['deducting', NO_CALL],
    'call-due',
    {
      unprovenAttempts: 2,
      openCall: { step: 'deduct', requestId: NEXT_ID, startedAtMs: NOW },
      attempts: { deduct: 2, payout: 0, revert: 0 },
      lastDeductAtMs: NOW,
      ...DUE,
      command: {
        kind: 'call-partner',
        requestId: NEXT_ID,
        request: {
          step: 'deduct',
          body: { address: WALLET, deductPoints: 5000, svcRedemptionId: id },
        },
      },
    },
  ],
  ['a call is open', ['deducting'], 'call-due', 'call-open'],
  [
    'no attempt is left, and one may have deducted',
    ['deducting', { ...NO_CALL, attempts: SPENT }],
    'call-due',
    revertingDue('deduction-unknown'),
  ],
  [
    'no attempt is left, and none has deducted',
    ['deducting', { ...NO_CALL, attempts: SPENT, unprovenAttempts: 0, exposure: 'none' }],
    'call-due',
    failed('partner-unreachable'),
  ],
  [
    'again in a restored ledger',
    ['deducting', { ...NO_CALL, ...LEDGER_RESTORED, unprovenAttempts: 3 }],
    'call-due',
    { ...revertingDue('deduction-unknown'), lastDeductAtMs: NOW },
  ],

  ['too few points', ['created'], 'balance-refused', failed('insufficient-points')],
  [
    'no such user',
    ['created'],
    ['balance-refused', { code: 'ERR-USER-NOT-FOUND' }],
    failed('user-not-found'),
  ],
  [
    'too few points in a restored ledger',
    ['created', LEDGER_RESTORED],
    'balance-refused',
    { ...revertingDue('deduction-unknown'), ...UNKNOWN_CALL, pendingAtMs: NOW },
  ],
  ['the balance is unknown', ['created'], 'balance-unknown', { nextActionAtMs: NOW + 5000 }],
  [
    'the balance is unknown until the quote expires',
    ['created', { quoteExpiresAtMs: NOW + 5000 }],
    'balance-unknown',
    failed('partner-unreachable'),
  ],
  [
    'the balance is unknown in a restored ledger',
    ['created', LEDGER_RESTORED],
    'balance-unknown',
    { ...revertingDue('deduction-unknown'), ...UNKNOWN_CALL, pendingAtMs: NOW },
  ],

  [
    'confirmed',
    ['deducting'],
    'deduct-confirmed',
    { state: 'deducted', partnerTransactionId: 'tx-1', openCall: null, deductedAtMs: NOW, ...DUE },
  ],
  [
    'the transaction id of another redemption',
    ['deducting'],
    'deduct-id-reused',
    { ...attention('transaction-id-reused'), revertReason: 'deduction-unknown', openCall: null },
  ],
  [
    'refused',
    ['deducting'],
    'deduct-refused',
    { ...failed('insufficient-points'), exposure: 'none', unprovenAttempts: 0, openCall: null },
  ],
  [
    'refused after an unknown call',
    ['deducting', { unprovenAttempts: 2 }],
    ['deduct-refused', { retryAfterSeconds: 8 }],
    { unprovenAttempts: 1, openCall: null, nextActionAtMs: NOW + 8_000 },
  ],
  [
    'refused in a restored ledger',
    ['deducting', LEDGER_RESTORED],
    'deduct-refused',
    { unprovenAttempts: 0, openCall: null, nextActionAtMs: NOW + 5000 },
  ],
  [
    'refused at last, after an unknown call',
    ['deducting', { unprovenAttempts: 2, attempts: SPENT }],
    'deduct-refused',
    { ...revertingDue('deduction-unknown'), unprovenAttempts: 1, openCall: null },
  ],
  [
    'not sent',
    ['deducting'],
    ['deduct-not-sent', { retryAfterSeconds: 8 }],
    { exposure: 'none', unprovenAttempts: 0, openCall: null, nextActionAtMs: NOW + 8_000 },
  ],
  [
    'never sent',
    ['deducting', { attempts: SPENT }],
    'deduct-not-sent',
    { ...failed('partner-unreachable'), exposure: 'none', unprovenAttempts: 0, openCall: null },
  ],
  [
    'unknown, with a transaction id',
    ['deducting'],
    ['deduct-unknown', { candidateTransactionId: 'tx-7' }],
    { candidateTransactionIds: ['tx-7'], openCall: null, nextActionAtMs: NOW + 5000 },
  ],
  [
    'unknown, with a known transaction id',
    ['deducting', { candidateTransactionIds: ['tx-7'] }],
    ['deduct-unknown', { candidateTransactionId: 'tx-7' }],
    { openCall: null, nextActionAtMs: NOW + 5000 },
  ],
  [
    'unknown, with a sixth transaction id',
    ['deducting', { candidateTransactionIds: ['a', 'b', 'c', 'd', 'e'] }],
    ['deduct-unknown', { candidateTransactionId: 'tx-7' }],
    { openCall: null, nextActionAtMs: NOW + 5000 },
  ],
  [
    'unknown at last',
    ['deducting', { attempts: SPENT }],
    'deduct-unknown',
    { ...revertingDue('deduction-unknown'), openCall: null },
  ],
  [
    'deducted before',
    ['deducting'],
    'deduct-duplicate',
    { ...revertingDue('deduction-unknown'), openCall: null },
  ],
  [
    'a row that the service did not write',
    ['created'],
    'evidence-rejected',
    { ...attention('evidence-invalid'), revertReason: 'deduction-unknown', pendingAtMs: NOW },
  ],
  [
    'the same, on its way back',
    ['reverting'],
    'evidence-rejected',
    { ...attention('evidence-invalid'), openCall: null },
  ],
];

const PAYOUTS: readonly Row[] = [
  [
    'planned',
    ['deducted', { reason: 'operator-retried' }],
    'plan-committed',
    { state: 'authorised', reason: null, plan: aPlan(), authorisedAtMs: NOW, ...DUE },
  ],
  [
    'planned in a restored ledger',
    ['deducted', LEDGER_RESTORED],
    'plan-committed',
    'ledger-restored',
  ],
  ...[
    { recipient: `0x${'b2'.repeat(20)}` },
    { amount: 1n },
    { deadlineSeconds: NOW / 1000 },
    { deadlineSeconds: NOW / 1000 + 60.5 },
  ].map((wrong): Row => [
    `planned with ${String(Object.values(wrong)[0])}`,
    ['deducted'],
    ['plan-committed', { plan: { ...aPlan(), ...wrong } }],
    'invalid-plan',
  ]),
  ['planned twice', ['deducted', { plan: aPlan() }], 'plan-committed', 'invalid-plan'],
  [
    'no plan',
    ['deducted'],
    'plan-failed',
    { attempts: { deduct: 1, payout: 1, revert: 0 }, nextActionAtMs: NOW + 5000 },
  ],
  [
    'no plan at last',
    ['deducted', { deductedAtMs: NOW - 7 * DAY_MS }],
    'plan-failed',
    { ...revertingDue('payout-unavailable'), attempts: { deduct: 1, payout: 1, revert: 0 } },
  ],
  [
    'no plan in a restored ledger',
    ['deducted', LEDGER_RESTORED],
    'plan-failed',
    { ...revertingDue('payout-unavailable'), attempts: { deduct: 1, payout: 1, revert: 0 } },
  ],
  ['not claimed yet', ['authorised'], 'payout-live', { nextActionAtMs: NOW + 12_000 }],
  [
    'looked at at once',
    ['authorised'],
    ['payout-live', { recheckMs: 0 }],
    { nextActionAtMs: NOW + 1 },
  ],
  [
    'not resolved for a day',
    ['authorised'],
    'payout-live',
    attention('payout-unresolved', 'authorised'),
    { nowMs: aPlan().deadlineSeconds * 1000 + DAY_MS + 1 },
  ],
  [
    'not resolved for less than a day',
    ['authorised'],
    'payout-live',
    { nextActionAtMs: aPlan().deadlineSeconds * 1000 + DAY_MS + 12_000 },
    { nowMs: aPlan().deadlineSeconds * 1000 + DAY_MS },
  ],
  ['the vault, while a call is open', ['reverting'], 'payout-live', 'call-open'],
  [
    'the vault does not answer for days',
    ['reverting', { ...DEAD, ...NO_CALL }],
    'payout-live',
    { nextActionAtMs: NOW + 9 * DAY_MS + 12_000 },
    { nowMs: NOW + 9 * DAY_MS },
  ],
  [
    'the vault contradicts the row for a day',
    ['reverting', { ...DEAD, ...NO_CALL }],
    ['payout-live', { contradiction: 'never-planned' }],
    attention('payout-unresolved'),
    { nowMs: NOW + 9 * DAY_MS },
  ],
  [
    'paid in the final block',
    ['authorised'],
    ['payout-paid', { evidence: aClaim({ finalised: aClaim().block }) }],
    {
      ...{ state: 'claimed', nextActionAtMs: null },
      paidEvidence: aClaim({ finalised: aClaim().block }),
      claimedAtMs: aClaim().block.timestampSeconds * 1000,
    },
    NO_CONFIRMATION,
  ],
  [
    'paid in a block that is not final',
    ['authorised'],
    ['payout-paid', { evidence: aClaim({ finalised: aBlock(1) }) }],
    'no-evidence',
  ],
  ['paid, without a plan', ['authorised', { plan: null }], 'payout-paid', 'no-evidence'],
  [
    'paid, another redemption',
    ['authorised'],
    ['payout-paid', { redemptionId: aUuid(START_MS, 9) }],
    'no-evidence',
  ],
  ['dead, without a plan', ['authorised', { plan: null }], 'payout-dead', 'no-evidence'],
  [
    'dead, another redemption',
    ['authorised'],
    ['payout-dead', { redemptionId: aUuid(START_MS, 9) }],
    'no-evidence',
  ],
  [
    'dead',
    ['authorised'],
    'payout-dead',
    { ...revertingDue('claim-timeout'), deadEvidence: anExpiry() },
  ],
  [
    'dead, as the user wished',
    ['authorised', { revertReason: 'user-cancelled' }],
    'payout-dead',
    { state: 'reverting', reason: 'user-cancelled', ...DUE, deadEvidence: anExpiry() },
  ],
  [
    'paid on its way back',
    ['reverting', DEAD],
    'payout-paid',
    { ...attention('paid-after-dead'), openCall: null, paidEvidence: aClaim() },
  ],
  [
    'paid on its way back, before a revert',
    ['reverting', { ...DEAD, ...BEFORE_REVERTS }],
    'payout-paid',
    { ...attention('paid-after-dead'), paidEvidence: aClaim() },
  ],
  [
    'paid on its way back, another redemption',
    ['reverting', DEAD],
    ['payout-paid', { redemptionId: aUuid(START_MS, 9) }],
    'no-evidence',
  ],
  [
    'paid to another wallet on its way back',
    ['reverting', DEAD],
    ['payout-paid', { evidence: aClaim({ recipient: `0x${'b2'.repeat(20)}` as typeof WALLET }) }],
    'no-evidence',
  ],
  [
    'paid without a plan, before a revert',
    ['reverting', { ...NO_CALL, attempts: { deduct: 1, payout: 0, revert: 0 } }],
    'payout-paid',
    attention('claimed-without-plan'),
  ],
];

const PLAN_OF_CLAIM = aPlan({ deadlineSeconds: aClaim().block.timestampSeconds });
const RESTORES: readonly Row[] = [
  [
    'paid by a plan that the ledger lost',
    ['reverting', { ...BEFORE_REVERTS, ...LEDGER_RESTORED }],
    'payout-paid',
    {
      ...{ state: 'claimed', reason: null, revertReason: null, nextActionAtMs: null },
      ...{ plan: PLAN_OF_CLAIM, paidEvidence: aClaim(), authorisedAtMs: NOW },
      claimedAtMs: aClaim().block.timestampSeconds * 1000,
    },
    NO_CONFIRMATION,
  ],
  [
    'the same, of a deduction without a time',
    ['reverting', { ...BEFORE_REVERTS, ...LEDGER_RESTORED, deductedAtMs: null }],
    'payout-paid',
    {
      ...{ state: 'claimed', reason: null, revertReason: null, nextActionAtMs: null },
      ...{ plan: PLAN_OF_CLAIM, paidEvidence: aClaim(), authorisedAtMs: NOW, deductedAtMs: NOW },
      claimedAtMs: aClaim().block.timestampSeconds * 1000,
    },
    NO_CONFIRMATION,
  ],
  [
    'the same, of an unknown deduction',
    ['reverting', { ...BEFORE_REVERTS, ...LEDGER_RESTORED, ...UNNAMED }],
    'payout-paid',
    attention('claimed-without-plan'),
  ],
  [
    'paid without a plan, after a revert',
    ['reverting', LEDGER_RESTORED],
    'payout-paid',
    { ...attention('paid-after-dead'), openCall: null, paidEvidence: aClaim() },
  ],
];

const revertCall = (target: object, body: object) => ({
  openCall: { step: 'revert', requestId: NEXT_ID, startedAtMs: NOW, target },
  command: {
    kind: 'call-partner',
    requestId: NEXT_ID,
    request: {
      step: 'revert',
      body: { address: WALLET, deductPoints: 5000, svcRedemptionId: id, ...body },
    },
  },
});
const BY_TRANSACTION = { by: 'transaction', transactionId: 'tx-1' } as const;
const SECOND_REVERT = { attempts: { deduct: 1, payout: 0, revert: 2 }, ...DUE };
const asked = (by: 'redemption' | 'candidate') => ({
  ...UNNAMED,
  openCall: aCall('revert', {
    startedAtMs: START_MS + 600_001,
    target: by === 'candidate' ? { by, transactionId: 'tx-7' } : { by },
  }),
});
const LATER = { nowMs: START_MS + 600_002 };
const policy = (...capabilities: (typeof PARTNER_CAPABILITIES)[number][]) => ({
  policy: { capabilities, confirms: true },
});

const REVERTS: readonly Row[] = [
  [
    'the first',
    ['reverting', { ...BEFORE_REVERTS, firstRevertAtMs: null, nextActionAtMs: START_MS }],
    'call-due',
    {
      ...revertCall(BY_TRANSACTION, {
        partnerTransactionId: 'tx-1',
        revertReason: 'User cancelled',
      }),
      attempts: { deduct: 1, payout: 0, revert: 1 },
      firstRevertAtMs: NOW,
      ...DUE,
    },
  ],
  ...(
    [
      [null, 'System error during processing'],
      ['operator-cancelled', 'Cancelled by the operator'],
      ['system-cancelled', 'System error during processing'],
      ['deduction-unknown', 'System error during processing: no valid answer to the deduction'],
      ['payout-unavailable', 'System error during processing: no payout was possible'],
      ['claim-timeout', 'Timeout: the redemption was not claimed'],
    ] as const
  ).map(([revertReason, text]): Row => [
    `another, ${revertReason ?? 'without a reason'}`,
    ['reverting', { ...NO_CALL, revertReason }],
    'call-due',
    {
      ...revertCall(BY_TRANSACTION, { partnerTransactionId: 'tx-1', revertReason: text }),
      ...SECOND_REVERT,
    },
  ]),
  [
    'by the id of the redemption alone',
    ['reverting', { ...NO_CALL, ...UNNAMED }],
    'call-due',
    { ...revertCall({ by: 'redemption' }, { revertReason: 'User cancelled' }), ...SECOND_REVERT },
  ],
  ['a call is open', ['reverting'], 'call-due', 'call-open'],
  [
    'it was paid',
    ['reverting', { ...NO_CALL, paidEvidence: aClaim() }],
    'call-due',
    'not-restorable',
  ],
  ['it may be paid', ['reverting', { ...NO_CALL, plan: aPlan() }], 'call-due', 'not-restorable'],
  [
    'the vault was not asked',
    ['reverting', NO_CALL],
    ['call-due', { neverPaid: undefined }],
    'vault-not-asked',
  ],
  [
    'for too long',
    ['reverting', { ...NO_CALL, firstRevertAtMs: NOW - 30 * DAY_MS }],
    'call-due',
    attention('revert-exhausted'),
  ],
  [
    'with no way to name the deduction',
    ['reverting', { ...NO_CALL, ...UNNAMED }],
    'call-due',
    attention('deduction-unresolved'),
    policy(),
  ],
  [
    'confirmed, with a transaction id that was unknown',
    ['reverting', UNNAMED],
    'revert-confirmed',
    {
      ...{ state: 'reverted', openCall: null, nextActionAtMs: null, revertedAtMs: NOW },
      ...{ partnerTransactionId: 'tx-1', partnerRevertId: 'rev-1' },
    },
    NO_CONFIRMATION,
  ],
  [
    'the answer to a call of another step',
    ['reverting', { openCall: aCall('deduct') }],
    'revert-confirmed',
    'stale-call',
  ],
  [
    'the answer to another call',
    ['reverting'],
    ['revert-confirmed', { requestId: NEXT_ID }],
    'stale-call',
  ],
  ['an answer without a call', ['reverting', NO_CALL], 'revert-confirmed', 'stale-call'],
  [
    'confirmed, with another transaction id',
    ['reverting'],
    ['revert-confirmed', { partnerTransactionId: 'tx-2' }],
    {
      ...{ state: 'reverted', openCall: null, nextActionAtMs: null, revertedAtMs: NOW },
      partnerRevertId: 'rev-1',
    },
    NO_CONFIRMATION,
  ],
  ['already', ['reverting', { paidEvidence: aClaim() }], 'revert-already', 'not-restorable'],
  [
    'another amount',
    ['reverting'],
    'revert-amount-disputed',
    { ...attention('amount-disputed'), openCall: null },
  ],
  [
    'not sent',
    ['reverting'],
    'revert-not-sent',
    {
      ...{ attempts: { deduct: 1, payout: 0, revert: 0 }, openCall: null },
      nextActionAtMs: NOW + 5000,
    },
  ],
  [
    'not sent for too long',
    ['reverting', { firstRevertAtMs: NOW - 30 * DAY_MS }],
    'revert-not-sent',
    {
      ...attention('revert-exhausted'),
      ...{ attempts: { deduct: 1, payout: 0, revert: 0 }, openCall: null },
    },
  ],
  [
    'unknown',
    ['reverting'],
    ['revert-unknown', { retryAfterSeconds: 8 }],
    { openCall: null, nextActionAtMs: NOW + 8_000 },
  ],
  [
    'unknown for too long',
    ['reverting', { firstRevertAtMs: NOW - 30 * DAY_MS }],
    'revert-unknown',
    { ...attention('revert-exhausted'), openCall: null },
  ],
  [
    'not found, while a deduct call may still arrive',
    [
      'reverting',
      {
        ...asked('redemption'),
        openCall: aCall('revert', {
          startedAtMs: START_MS + 600_000,
          target: { by: 'redemption' },
        }),
      },
    ],
    'revert-not-found',
    { openCall: null, nextActionAtMs: START_MS + 605_000 },
    { nowMs: START_MS + 600_000 },
  ],
  [
    'not found just after the call',
    ['reverting', UNNAMED],
    'revert-not-found',
    { openCall: null, nextActionAtMs: START_MS + 600_001 },
  ],
  [
    'not found: never deducted',
    ['reverting', asked('redemption')],
    'revert-not-found',
    {
      ...{ ...failed('never-deducted'), failedAtMs: LATER.nowMs },
      ...{ unprovenAttempts: 0, exposure: 'none', openCall: null },
    },
    LATER,
  ],
  [
    'not found by the redemption: the transaction ids are next',
    ['reverting', { ...asked('redemption'), candidateTransactionIds: ['tx-7'] }],
    'revert-not-found',
    { redemptionIdRefuted: true, openCall: null, nextActionAtMs: LATER.nowMs },
    { ...LATER, ...policy('revert-by-redemption-id', 'refuses-mismatched-pair') },
  ],
  [
    'not found by a transaction id: the next one',
    ['reverting', { ...asked('candidate'), candidateTransactionIds: ['tx-7', 'tx-8'] }],
    'revert-not-found',
    { candidateTransactionIds: ['tx-8'], openCall: null, nextActionAtMs: LATER.nowMs },
    { ...LATER, ...policy('refuses-mismatched-pair') },
  ],
  [
    'not found by the last transaction id',
    ['reverting', { ...asked('candidate'), candidateTransactionIds: ['tx-7'] }],
    'revert-not-found',
    { ...attention('deduction-unresolved'), candidateTransactionIds: [], openCall: null },
    { ...LATER, ...policy('refuses-mismatched-pair') },
  ],
  [
    'a confirmed deduction is not found',
    ['reverting'],
    'revert-not-found',
    { firstNotFoundAtMs: NOW, openCall: null, ...DUE },
  ],
  [
    'nor by the redemption',
    [
      'reverting',
      { ...asked('redemption'), partnerTransactionId: 'tx-1', firstNotFoundAtMs: START_MS },
    ],
    'revert-not-found',
    { redemptionIdRefuted: true, openCall: null, nextActionAtMs: NOW + 5000 },
  ],
  [
    'a confirmed deduction is not found, by a partner that needs its id',
    ['reverting'],
    ['revert-not-found', { retryAfterSeconds: 8 }],
    { firstNotFoundAtMs: NOW, openCall: null, nextActionAtMs: NOW + 8_000 },
    policy(),
  ],
  [
    'a confirmed deduction is not found for a day',
    ['reverting', { firstNotFoundAtMs: NOW - DAY_MS }],
    'revert-not-found',
    { ...attention('transaction-not-found'), openCall: null },
  ],
];

const COMMANDS: readonly Row[] = [
  ...(['user', 'operator', 'system'] as const).flatMap((by): Row[] => [
    [`cancelled by the ${by}`, ['created'], ['cancel', { by }], failed(`${by}-cancelled`)],
    [
      `cancelled by the ${by}, deducted`,
      ['deducted'],
      ['cancel', { by }],
      revertingDue(`${by}-cancelled`),
    ],
  ]),
  [
    'cancelled for a reason',
    ['created'],
    ['cancel', { by: 'system', because: 'budget-spent' }],
    failed('budget-spent'),
  ],
  [
    'cancelled in a restored ledger',
    ['created', LEDGER_RESTORED],
    'cancel',
    { ...revertingDue('user-cancelled'), ...UNKNOWN_CALL, pendingAtMs: NOW },
  ],
  ['cancelled, with a plan', ['deducted', { plan: aPlan() }], 'cancel', 'not-restorable'],
  ['a wish to cancel', ['authorised'], 'cancel', { revertReason: 'user-cancelled', ...DUE }],
  [
    'a second wish to cancel',
    ['authorised', { revertReason: 'operator-cancelled' }],
    'cancel',
    DUE,
  ],
  [
    'tried again, authorised',
    ['attention', { ...DEAD, deadEvidence: null, resume: 'authorised' }],
    'operator-retry',
    { state: 'authorised', reason: 'operator-retried', resume: null, ...DUE },
  ],
  [
    'tried again, on its way back',
    ['attention', { firstNotFoundAtMs: START_MS, redemptionIdRefuted: true }],
    'operator-retry',
    {
      ...{ state: 'reverting', reason: 'operator-retried', resume: null, ...DUE },
      ...{ attempts: { deduct: 1, payout: 0, revert: 0 }, firstRevertAtMs: null },
      ...{ firstNotFoundAtMs: null, redemptionIdRefuted: false },
    },
  ],
  [
    'tried again after both',
    ['attention', { paidEvidence: aClaim() }],
    'operator-retry',
    'contradictory-evidence',
  ],
  ['due now, while a call is open', ['deducting'], 'operator-retry', 'call-open'],
  [
    'due now, after a lost call',
    ['deducting'],
    'operator-retry',
    { openCall: null, nextActionAtMs: START_MS + 600_001 },
    { nowMs: START_MS + 600_001 },
  ],
  [
    'due now, before the call is lost',
    ['deducting'],
    'operator-retry',
    'call-open',
    { nowMs: START_MS + 600_000 },
  ],
  [
    'a transaction is named',
    ['deducting', NO_CALL],
    'operator-set-transaction',
    { ...revertingDue('deduction-unknown'), partnerTransactionId: 'tx-9' },
  ],
  [
    'a transaction is named, on its way back',
    ['reverting', { ...NO_CALL, ...UNNAMED }],
    'operator-set-transaction',
    {
      ...{
        reason: 'operator-retried',
        partnerTransactionId: 'tx-9',
        firstRevertAtMs: null,
        ...DUE,
      },
      attempts: { deduct: 1, payout: 0, revert: 0 },
    },
  ],
  [
    'a transaction without a name',
    ['deducting', NO_CALL],
    ['operator-set-transaction', { partnerTransactionId: '' }],
    'invalid-transaction-id',
  ],
  [
    'given back by hand',
    ['attention'],
    'operator-restored',
    { state: 'reverted', reason: 'restored-out-of-band', resume: null, revertedAtMs: NOW },
    NO_CONFIRMATION,
  ],
  [
    'given back by hand, on its way back',
    ['reverting', NO_CALL],
    'operator-restored',
    { state: 'reverted', reason: 'restored-out-of-band', nextActionAtMs: null, revertedAtMs: NOW },
    NO_CONFIRMATION,
  ],
  [
    'given back by hand, with evidence but no plan',
    ['reverting', { ...NO_CALL, firstRevertAtMs: null, deadEvidence: anExpiry() }],
    'operator-restored',
    'vault-not-asked',
  ],
  [
    'given back by hand, before the vault was asked',
    ['reverting', { ...NO_CALL, firstRevertAtMs: null }],
    'operator-restored',
    'vault-not-asked',
  ],
  [
    'never deducted, by the partner',
    ['deducting', NO_CALL],
    'operator-not-deducted',
    {
      ...{ ...failed('not-deducted-out-of-band'), failedAtMs: START_MS + 600_001 },
      ...{ unprovenAttempts: 0, exposure: 'none' },
    },
    { nowMs: START_MS + 600_001 },
  ],
  [
    'never deducted, while a call may still arrive',
    ['deducting', NO_CALL],
    'operator-not-deducted',
    'too-fresh',
    { nowMs: START_MS + 600_000 },
  ],
  [
    'never deducted, in a restored ledger',
    ['deducting', { ...NO_CALL, ...LEDGER_RESTORED }],
    'operator-not-deducted',
    'vault-not-asked',
    { nowMs: START_MS + 600_001 },
  ],
  ...(['claimed-without-plan', 'payout-unresolved'] as const).map((reason): Row => [
    `given back by hand: ${reason}`,
    ['attention', { reason }],
    'operator-restored',
    'not-restorable',
  ]),
  [
    'given back by hand, while a lost voucher may be paid',
    ['attention', LEDGER_RESTORED],
    'operator-restored',
    'vault-not-asked',
    { nowMs: START_MS + 2 * 3_600_000 },
  ],
  [
    'given back by hand, after a lost voucher',
    ['attention', LEDGER_RESTORED],
    'operator-restored',
    {
      ...{ state: 'reverted', reason: 'restored-out-of-band', resume: null },
      revertedAtMs: START_MS + 2 * 3_600_000 + 1,
    },
    { nowMs: START_MS + 2 * 3_600_000 + 1, ...NO_CONFIRMATION },
  ],
  [
    'given back by hand, before a lost voucher ends that is proven dead',
    ['attention', { ...LEDGER_RESTORED, plan: aPlan(), deadEvidence: anExpiry(1801) }],
    'operator-restored',
    { state: 'reverted', reason: 'restored-out-of-band', resume: null, revertedAtMs: NOW },
    NO_CONFIRMATION,
  ],
  [
    'given back by hand, what is still watched',
    ['attention', { ...DEAD, resume: 'authorised' }],
    'operator-restored',
    'not-restorable',
  ],
  [
    'given back by hand, with a plan that is not dead',
    ['attention', { plan: aPlan() }],
    'operator-restored',
    'not-restorable',
  ],
  [
    'given back by hand, what may be paid',
    ['attention', { plan: aPlan(), resume: 'authorised' }],
    'operator-restored',
    'not-restorable',
  ],
  [
    'settled by hand',
    ['attention', { paidEvidence: aClaim() }],
    'operator-settled',
    { reason: 'settled-by-hand' },
  ],
];

describe.each([
  ['a deduction', DEDUCTS],
  ['a payout', PAYOUTS],
  ['a restored ledger', RESTORES],
  ['a revert', REVERTS],
  ['a command', COMMANDS],
])('%s', (_group, rows) => {
  it.each(rows.map((row) => [row[0], row] as const))('%s', (_what, row) => {
    expect(effectOf(row)).toStrictEqual(row[3]);
  });
});

it('asks for the balance before the first call, unless the quote has expired or the ledger was restored', () => {
  const { quoteExpiresAtMs } = aRedemption('created');
  expect(needsBalance(aRedemption('created'), quoteExpiresAtMs - 1)).toBe(true);
  expect(needsBalance(aRedemption('created'), quoteExpiresAtMs)).toBe(false);
  expect(needsBalance(aRedemption('created', LEDGER_RESTORED), NOW)).toBe(false);
  expect(needsBalance(aRedemption('deducting', NO_CALL), NOW)).toBe(false);
});

it('lets a revert wait for a partner that is down, after a first call and until reverts end', () => {
  const redemption = aRedemption('reverting', NO_CALL);
  expect(mayAwaitPartner(redemption, NOW)).toBe(true);
  expect(mayAwaitPartner(redemption, NOW + 30 * DAY_MS)).toBe(false);
  expect(mayAwaitPartner(aRedemption('reverting'), NOW)).toBe(false);
  expect(mayAwaitPartner({ ...redemption, firstRevertAtMs: null }, NOW)).toBe(false);
});

it('begins as created, with nothing exposed', () => {
  expect(newRedemption(aRedemption('created'), START_MS)).toMatchObject({
    ...{ state: 'created', exposure: 'none', unprovenAttempts: 0, nextActionAtMs: START_MS },
  });
});

it('dates a call by its id if the clock has gone back', () => {
  const nowMs = START_MS - 5000;
  const decision = transition(aRedemption('created'), EVENTS['call-due'], aContext({ nowMs }));
  expect(decision).toMatchObject({ next: { firstDeductAtMs: nowMs, lastDeductAtMs: START_MS } });
});

it('takes a block for evidence of a cancelled voucher once it is final', () => {
  const cancelled = (finalSeconds: number) => ({
    ...{ outcome: 'dead', reason: 'cancelled', transactionHash: `0x${'d'.repeat(64)}` },
    ...{ block: aBlock(1000), finalised: aBlock(finalSeconds) },
  });
  const effect = (seconds: number) =>
    effectOf(['', ['authorised'], ['payout-dead', { evidence: cancelled(seconds) }], '']);
  expect(effect(999)).toBe('no-evidence');
  expect(effect(1000)).toMatchObject({ state: 'reverting' });
});
