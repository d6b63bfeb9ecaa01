/**
 * What the database refuses to write into the row of a redemption, whatever a program decides: the CHECKs of
 * libs/db/src/schema/redemption.ts and the triggers of redemption-guards.ts and ledger.ts, by the same names. The
 * contract of the stores compares the two.
 */
import { DatabaseRefusedError } from '#libs/db';
import { isFinal, type PayoutPlace, type Redemption } from '#libs/domain';

export interface GuardedRow {
  readonly redemption: Redemption;
  readonly place: PayoutPlace | null;
}

type Check = (row: Redemption, place: PayoutPlace | null) => boolean;

const OVER = ['claimed', 'reverted', 'failed', 'attention'];
const BEFORE_PLAN = ['created', 'deducting', 'deducted', 'failed'];
const PAID_FOR = ['deducted', 'authorised', 'claimed'];

function isText(value: string | null): boolean {
  return value === null || (value.length >= 1 && value.length <= 255);
}

/** By name; PostgreSQL checks them in the order of their names. */
const CHECKS: Readonly<Record<string, Check>> = {
  claimed_at_in_its_state: (r) => (r.state === 'claimed') === (r.claimedAtMs !== null),
  claimed_by_evidence: (r) =>
    r.state === 'claimed'
      ? r.paidEvidence !== null && r.deadEvidence === null
      : r.paidEvidence === null || r.state === 'attention',
  claimed_xor_reverted: (r) => r.claimedAtMs === null || r.revertedAtMs === null,
  dead_only_where_authorised: (r) => r.deadEvidence === null || r.plan !== null,
  deducted_before_paying: (r) =>
    r.plan === null || (r.partnerTransactionId !== null && r.deductedAtMs !== null),
  deducted_in_its_state: (r) =>
    !PAID_FOR.includes(r.state) || (r.partnerTransactionId !== null && r.deductedAtMs !== null),
  evidence_of_its_kind: (r) =>
    [undefined, 'paid'].includes(r.paidEvidence?.outcome) &&
    [undefined, 'dead'].includes(r.deadEvidence?.outcome),
  exposed_while_unproven: (r) => r.exposure === 'possible' || r.unprovenAttempts === 0,
  failed_at_in_its_state: (r) => (r.state === 'failed') === (r.failedAtMs !== null),
  failed_without_deduction: (r) =>
    r.state !== 'failed' || (r.partnerTransactionId === null && r.unprovenAttempts === 0),
  has_next_step: (r) => OVER.includes(r.state) === (r.nextActionAtMs === null),
  open_call_in_its_state: ({ openCall, state }) =>
    openCall === null ||
    (state === 'deducting' && openCall.step === 'deduct') ||
    (state === 'reverting' && openCall.step === 'revert'),
  pending_once_begun: (r) => ['created', 'failed'].includes(r.state) || r.pendingAtMs !== null,
  plan_in_its_state: (r) => {
    if (r.state === 'authorised' || r.state === 'claimed') return r.plan !== null;
    return !BEFORE_PLAN.includes(r.state) || r.plan === null;
  },
  plan_of_this_redemption: (r) =>
    r.plan === null || (r.plan.amount === r.tokenAmount && r.plan.recipient === r.wallet),
  redemption_deduct_attempts_check: (r) => r.attempts.deduct >= 0,
  redemption_partner_revert_id_check: (r) => isText(r.partnerRevertId),
  redemption_partner_transaction_id_check: (r) => isText(r.partnerTransactionId),
  redemption_payout_attempts_check: (r) => r.attempts.payout >= 0,
  redemption_revert_attempts_check: (r) => r.attempts.revert >= 0,
  redemption_unproven_attempts_check: (r) => r.unprovenAttempts >= 0,
  restored_by_evidence: (r) =>
    !['reverting', 'reverted'].includes(r.state) || r.plan === null || r.deadEvidence !== null,
  resume_in_attention: (r) => (r.state === 'attention') === (r.resume !== null),
  reverted_at_in_its_state: (r) => (r.state === 'reverted') === (r.revertedAtMs !== null),
  whole_plan: (r, place) =>
    (r.plan === null) === (place === null) && (r.plan === null) === (r.authorisedAtMs === null),
};

/** The refusal of a constraint or of a trigger that names one. */
export function refusal(sqlState: string, constraint: string, message = constraint): Error {
  return new DatabaseRefusedError(sqlState, Object.assign(new Error(message), { constraint }));
}

const TRIGGER = '23000';
const CHECK = '23514';
const UNIQUE = '23505';

export function guardNew({ redemption, place }: GuardedRow): void {
  if (redemption.state !== 'created' || redemption.version !== 1) {
    throw refusal(TRIGGER, 'guard_new', 'a redemption begins as created, in version 1');
  }
  check(redemption, place);
}

/** @param unnoted whether a restore is not noted */
export function guardChange(old: GuardedRow, row: GuardedRow, unnoted: boolean): void {
  const fault = faultOf(old.redemption, row.redemption);
  if (fault !== undefined) throw refusal(TRIGGER, 'guard', fault);
  if (unnoted && needsNote(old.redemption, row.redemption)) throw notNoted();
  check(row.redemption, row.place);
}

export function notNoted(): Error {
  return refusal(TRIGGER, 'restore_noted');
}

export function guardUnique(row: Redemption, others: Iterable<Redemption>): void {
  for (const other of others) {
    if (other.id === row.id || other.partner !== row.partner) continue;
    const isSame = (field: 'partnerTransactionId' | 'partnerRevertId'): boolean =>
      row[field] !== null && row[field] === other[field];
    if (isSame('partnerTransactionId')) throw refusal(UNIQUE, 'redemption_transaction_id');
    if (isSame('partnerRevertId')) throw refusal(UNIQUE, 'redemption_revert_id');
    const bothOpen = !isFinal(row.state) && !isFinal(other.state);
    if (bothOpen && row.wallet === other.wallet) throw refusal(UNIQUE, 'redemption_open');
  }
}

function check(row: Redemption, place: PayoutPlace | null): void {
  for (const [name, holds] of Object.entries(CHECKS)) {
    if (!holds(row, place)) throw refusal(CHECK, name);
  }
}

/** What the trigger `guard` says; the columns of terms and place are never written again. */
function faultOf(old: Redemption, row: Redemption): string | undefined {
  if (isFinal(old.state)) return `redemption ${old.id} is ${old.state}, which is final`;
  if (row.version !== old.version + 1) return `the version of redemption ${old.id} grows by 1`;
  if (
    old.plan !== null &&
    !isSame([old.plan, old.authorisedAtMs], [row.plan, row.authorisedAtMs])
  ) {
    return `the payout plan of redemption ${old.id} is frozen`;
  }
  const proven = [
    'partnerTransactionId',
    'deadEvidence',
    'paidEvidence',
    'pendingAtMs',
    'deductedAtMs',
  ] as const;
  return proven.some((field) => old[field] !== null && !isSame(old[field], row[field]))
    ? `what is proven of redemption ${old.id} stays as it is`
    : undefined;
}

/** What the trigger `restore_noted` refuses while a restore is not noted. */
function needsNote(old: Redemption, row: Redemption): boolean {
  const begins = row.openCall !== null && row.openCall.requestId !== old.openCall?.requestId;
  const isPlanned = old.plan === null && row.plan !== null;
  return begins || isPlanned || row.state === 'failed' || row.state === 'reverted';
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || text(one) === text(other);
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
}
