/** The results of an operator's commands in the cells of the transition table, for the specs. */
import { aClaim, aCall, anExpiry, aPlan, START_MS } from './builders.js';
import { type CaseRow, type Way, waysOf } from './ways.js';

const afterHours = (count: number): Way['given'] => ({
  context: { nowMs: START_MS + count * 3_600_000 },
});
const later = afterHours(1);
const noCall = { openCall: null };
const nameless = { ...noCall, partnerTransactionId: null };
const lost = { lostVoucherUntilSeconds: START_MS / 1000 + 4000 };
const dead = { ...noCall, plan: aPlan(), deadEvidence: anExpiry() };
const empty = { event: { partnerTransactionId: '' } };
const open = { openCall: aCall('revert', { startedAtMs: START_MS + 3_500_000 }) };

/** Of a command that settles a redemption whose points are being given back. */
const settling = (end: Way['expected']): readonly CaseRow[] => [
  ['the vault was asked', end, { redemption: nameless, ...later }],
  [
    'the vault was not asked',
    '!vault-not-asked',
    { redemption: { ...nameless, firstRevertAtMs: null }, ...later },
  ],
  [
    'a lost voucher may be open',
    '!vault-not-asked',
    { redemption: { ...nameless, ...lost }, ...later },
  ],
  [
    'a plan without dead evidence',
    '!vault-not-asked',
    { redemption: { ...nameless, plan: aPlan() }, ...later },
  ],
  ['a call is under way', '!call-open', { redemption: open, ...later }],
];

/** Of the same command where the automation has stopped. */
const settlingHeld = (end: Way['expected']): readonly CaseRow[] => {
  const held = { redemption: { ...nameless, ...lost } };
  return [
    ['a lost voucher may be open', '!vault-not-asked', { ...held, ...afterHours(2) }],
    ['a lost voucher has expired', end, { ...held, ...afterHours(3) }],
  ];
};

/** For redemptions that are under way: what is refused while a call is open, and the guard of each command. */
export const OPERATOR_WAYS = waysOf({
  'deducting operator-retry': [
    ['no call is open', 'deducting', { redemption: noCall }],
    ['the call is lost', 'deducting', later],
  ],
  'deducting operator-set-transaction': [
    ['asked for by the operator', 'reverting', { redemption: noCall }],
    ['an empty id', '!invalid-transaction-id', { redemption: noCall, ...empty }],
  ],
  'deducting operator-not-deducted': [
    ['a late call may arrive', '!too-fresh', { redemption: noCall }],
    ['no call can arrive', 'failed', later],
    [
      'a lost voucher may be open',
      '!vault-not-asked',
      { redemption: { ...noCall, ...lost }, ...later },
    ],
  ],
  'reverting operator-retry': [
    ['no call is open', 'reverting', { redemption: noCall }],
    ['the call is lost', 'reverting', later],
  ],
  'reverting operator-set-transaction': [
    ['unresolved', 'reverting', { redemption: nameless }],
    ['known', '!transaction-id-known', { redemption: noCall }],
    ['an empty id', '!invalid-transaction-id', { redemption: nameless, ...empty }],
  ],
  'reverting operator-restored': [
    ...settling('reverted'),
    ['dead by its row', 'reverted', { redemption: dead }],
  ],
  'reverting operator-not-deducted': [
    ...settling('failed'),
    ['known to be deducted', '!deduction-proven', { redemption: dead, ...later }],
    ['a late call may arrive', '!too-fresh', { redemption: nameless }],
  ],
  'attention operator-restored': settlingHeld('reverted'),
  'attention operator-not-deducted': settlingHeld('failed'),
  'attention operator-settled': [
    [
      'points and tokens gone',
      'attention',
      { redemption: { ...dead, paidEvidence: aClaim(), reason: 'paid-after-dead' } },
    ],
  ],
});
