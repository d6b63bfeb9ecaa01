/** Writes one transition with everything that belongs to it, in one statement. */
import {
  canonicalJson,
  evidenceContent,
  transactionIdsContent,
  type Moved,
  type PayoutPlace,
  PermanentError,
  type Redemption,
  type ReservationRefusal,
  type UuidV7,
} from '#libs/domain';
import { isRefusal, isRefusedBy } from '../connection/database.error.js';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressBytes } from '../connection/rows.js';
import { type AuditNote } from './audit-log.js';
import { HINT_CHANNEL } from './redemption-hints.js';
import {
  type EvidenceSeal,
  READ_COLUMNS,
  type RedemptionRow,
  type RowMacs,
  STATE_COLUMNS,
  stateValues,
  type StoredRedemption,
} from './redemption-row.js';
import {
  LeaseLostError,
  PartnerIdReusedError,
  RedemptionMissingError,
  ReservationRefusedError,
  RestoreNotNotedError,
  StaleRedemptionError,
} from './redemption.error.js';

export interface CallEnd {
  readonly requestId: UuidV7;
  /** `answer`, `no-answer` or `nothing-sent`. */
  readonly outcome: string;
  /** Plain JSON of at most 32 KiB. The code that calls the partner limits its size and removes secrets. */
  readonly record: object;
}

/** Limits into which the redemption's tokens must fit before its points are taken, in the token's smallest unit. */
export interface ReservationLimits {
  /** What the vault can pay in total, open payouts included. */
  readonly room: bigint;
  /** Budget of the partner for the UTC day on which the redemption was created. Absent: no limit. */
  readonly partnerDailyTokens?: bigint | undefined;
  /** Budget of the wallet for the same day. Absent: no limit. */
  readonly walletDailyTokens?: bigint | undefined;
}

export interface TransitionWrite {
  /** The redemption as it was read. The write is refused where the row has changed since. */
  readonly before: Redemption;
  /**
   * The domain's decision. The write stores what its command leaves in the database; a call is for the caller to make.
   */
  readonly decision: Moved;
  /** Type of the event that was decided on. */
  readonly event: string;
  /** `worker`, `user` or `operator:NAME`. */
  readonly actor: string;
  /**
   * Owner of the lease under which the worker writes. Absent for users and operators, whose writes
   * only the version guards.
   */
  readonly owner?: string;
  /** Also releases the lease. The write of a final or stopped redemption always does. */
  readonly release?: boolean;
  /** Required with the transition that commits the plan. */
  readonly place?: PayoutPlace;
  /**
   * The row as it was read. Where it has a valid MAC, the row that follows from it gets one. Required in a
   * program that has the keys.
   */
  readonly stored?: StoredRedemption;
  /**
   * An operator vouches for the partner's transaction ids in the next row. Has an effect only in a
   * program that has the keys.
   */
  readonly vouchesForNames?: true;
  /** End of the call that led to the event, where the end is known. */
  readonly callEnd?: CallEnd;
  /** The call that the event belongs to, where its end is not known. */
  readonly requestId?: UuidV7;
  readonly audit?: AuditNote;
  /** Reserves the tokens with the transition. Required with the transition that begins the deduction. */
  readonly reserve?: ReservationLimits;
}

/**
 * NULL where the tokens fit into the limits, otherwise the reason of the refusal. Locks the sums
 * until the transaction ends.
 */
const RESERVE = `redemption.reserve(partner, wallet, token_amount, initial_at,
    :room::numeric, :partnerBudget::numeric, :walletBudget::numeric)`;

/**
 * Writes nothing where the row is not as it was read, by its version or by a restore that was noted since, or where its
 * tokens cannot be reserved. Sends a hint where another worker can go on at once.
 */
const APPLY = named<Record<string, unknown>>(
  'redemption_apply',
  `WITH moved AS (
      UPDATE redemption.redemption r SET ${STATE_COLUMNS.map((name) => `${name} = :${name}`).join(', ')},
        plan_vault = coalesce(plan_vault, :vault), plan_chain_id = coalesce(plan_chain_id, :chainId),
        plan_from_block = coalesce(plan_from_block, :fromBlock),
        evidence_mac = CASE WHEN :hasKeys THEN :evidenceMac::bytea ELSE evidence_mac END,
        names_mac = CASE WHEN :hasKeys THEN :namesMac::bytea ELSE names_mac END,
        leased_until = CASE WHEN :release THEN NULL ELSE leased_until END,
        lease_owner = CASE WHEN :release THEN NULL ELSE lease_owner END
      WHERE id = :id AND state = :before AND version = :readVersion
        AND (:owner::text IS NULL OR lease_owner = :owner)
        AND lost_voucher_until_seconds IS NOT DISTINCT FROM :lostVoucherUntil::bigint
        AND CASE WHEN :room::numeric IS NULL THEN true ELSE ${RESERVE} IS NULL END
      RETURNING id, partner, version, state, reason, state_since_at,
        next_action_at <= now() + interval '1 second' AND (leased_until IS NULL OR leased_until <= now()) AS is_due
    ), noted AS (
      INSERT INTO redemption.transition (redemption_id, version, event, from_state, to_state, reason, actor, request_id)
      SELECT id, version, :event, :before, state, reason, :actor, :requestId::uuid FROM moved
    ), begun AS (
      INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step)
      SELECT :begun::uuid, id, partner, :step FROM moved WHERE :begun::uuid IS NOT NULL
    ), ended AS (
      UPDATE redemption.partner_call c SET ended_at = clock_timestamp(), outcome = :outcome, record = :record::jsonb
      FROM moved WHERE c.request_id = :ended::uuid AND c.redemption_id = moved.id AND c.ended_at IS NULL
    ), delivery AS (
      INSERT INTO redemption.confirmation (redemption_id, partner, payload, state, version, attempts, next_action_at)
      SELECT id, partner, :payload, 'pending', 1, 0, state_since_at FROM moved WHERE :payload::text IS NOT NULL
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, redemption_id, partner, arguments, outcome)
      SELECT :actor, :command, id, partner, coalesce(:arguments::jsonb, '{}'), :auditOutcome FROM moved
      WHERE :command::text IS NOT NULL
    )
    SELECT version, CASE WHEN is_due OR :payload::text IS NOT NULL THEN pg_notify('${HINT_CHANNEL}', '')::text END FROM moved`,
);

const REFUSED_RESERVATION = named<{ id: UuidV7 } & Reserved>(
  'redemption_refused_reservation',
  `SELECT ${RESERVE} AS reason FROM redemption.redemption WHERE id = :id`,
);

export const BY_ID = named<{ id: UuidV7 }>(
  'redemption_by_id',
  `SELECT ${READ_COLUMNS}, r.lease_owner, r.leased_until FROM redemption.redemption r WHERE r.id = :id`,
);

export interface LeasedRow extends RedemptionRow {
  readonly lease_owner: string | null;
  readonly leased_until: Date | null;
}

type Reserved = Readonly<Record<'room' | 'partnerBudget' | 'walletBudget', bigint | null>>;

function reservationValues(limits: ReservationLimits | undefined): Reserved {
  return {
    room: limits?.room ?? null,
    partnerBudget: limits?.partnerDailyTokens ?? null,
    walletBudget: limits?.walletDailyTokens ?? null,
  };
}

/** @see RedemptionStore.apply */
export async function applyTransition(
  database: Database,
  write: TransitionWrite,
  seal?: EvidenceSeal,
): Promise<void> {
  const { owner, before, reserve } = write;
  const { id, version } = before;
  const rows = await database.query(transitionStatement(write, seal)).catch((error: unknown) => {
    throw reusedId(error, id) ?? unnotedRestore(error) ?? error;
  });
  if (rows.length > 0) return;
  const [row] = await database.query<LeasedRow>(BY_ID({ id }));
  if (row === undefined) throw new RedemptionMissingError(id);
  if (owner !== undefined && row.lease_owner !== owner) throw new LeaseLostError(id);
  if (reserve !== undefined && row.version === version) {
    const [refused] = await database.query<{ reason: ReservationRefusal | null }>(
      REFUSED_RESERVATION({ id, ...reservationValues(reserve) }),
    );
    // If the tokens fit by now, the caller only has to read the redemption again.
    const reason = refused?.reason ?? null;
    if (reason !== null) throw new ReservationRefusedError(id, reason);
  }
  throw new StaleRedemptionError(id);
}

/** @returns undefined unless the database refused because of a restore that was not noted */
export function unnotedRestore(error: unknown): RestoreNotNotedError | undefined {
  return isRefusedBy(error, 'restore_noted')
    ? new RestoreNotNotedError({ cause: error })
    : undefined;
}

/** @returns undefined unless the database refused an id of the partner that another redemption already has */
function reusedId(error: unknown, id: UuidV7): PartnerIdReusedError | undefined {
  if (!isRefusal(error, 'unique_violation')) return undefined;
  const { constraint } = error.cause as { constraint?: string };
  if (constraint === 'redemption_transaction_id')
    return new PartnerIdReusedError(id, 'transaction');
  return constraint === 'redemption_revert_id' ? new PartnerIdReusedError(id, 'revert') : undefined;
}

/** The place of the plan that the write commits; undefined where it commits none. @throws PermanentError PLAN_WITHOUT_PLACE */
export function committedPlace({
  before,
  decision,
  place,
}: TransitionWrite): PayoutPlace | undefined {
  if (before.plan !== null || decision.next.plan === null) return undefined;
  if (place !== undefined) return place;
  throw new PermanentError(
    'PLAN_WITHOUT_PLACE',
    'A payout plan is stored with its vault, chain and first block.',
  );
}

/**
 * @param seal absent in a program without the keys, for example for an operator; the row keeps its MACs
 * @throws PermanentError PLAN_WITHOUT_PLACE
 */
function transitionStatement(write: TransitionWrite, seal?: EvidenceSeal) {
  const { before, decision, callEnd, audit } = write;
  const { next, command } = decision;
  const place = committedPlace(write);
  const macs = seal && macsOf(write, seal);
  const isBegun = next.openCall?.requestId !== before.openCall?.requestId;
  const begun = isBegun ? next.openCall : null;
  return APPLY({
    ...stateValues(next),
    ...reservationValues(write.reserve),
    id: before.id,
    before: before.state,
    readVersion: before.version,
    lostVoucherUntil: before.lostVoucherUntilSeconds,
    owner: write.owner ?? null,
    release: write.release === true || next.nextActionAtMs === null,
    event: write.event,
    actor: write.actor,
    requestId: callEnd?.requestId ?? begun?.requestId ?? write.requestId ?? null,
    begun: begun?.requestId ?? null,
    step: begun?.step ?? null,
    ended: callEnd?.requestId ?? null,
    outcome: callEnd?.outcome ?? null,
    record: callEnd === undefined ? null : JSON.stringify(callEnd.record),
    payload: command?.kind === 'confirm' ? canonicalJson(command.payload) : null,
    command: audit?.command ?? null,
    arguments: audit?.arguments === undefined ? null : JSON.stringify(audit.arguments),
    auditOutcome: audit?.outcome ?? null,
    vault: place === undefined ? null : addressBytes(place.vault),
    chainId: place?.chainId ?? null,
    fromBlock: place?.fromBlock ?? null,
    hasKeys: seal !== undefined,
    evidenceMac: macs?.evidence ?? null,
    namesMac: macs?.names ?? null,
  });
}

/** The MACs of the row that the write leaves. */
export function macsOf(write: TransitionWrite, seal: EvidenceSeal): RowMacs {
  return { evidence: evidenceMacOf(write, seal), names: namesMacOf(write, seal) };
}

/** Only a row that follows from a row with a valid MAC gets a MAC. A MAC must not confirm what other programs wrote. */
function evidenceMacOf(write: TransitionWrite, seal: EvidenceSeal): Buffer | null {
  const { before, decision, stored } = write;
  if (stored?.isSealed !== true) return null;
  const place = before.plan === null ? write.place : stored.place;
  const content = evidenceContent(decision.next, place ?? null);
  return content === undefined ? null : seal.mac(content);
}

function namesMacOf(write: TransitionWrite, seal: EvidenceSeal): Buffer | null {
  const { decision, stored, vouchesForNames } = write;
  const content = transactionIdsContent(decision.next);
  const areOurs = stored?.namesAreOurs === true || vouchesForNames === true;
  return areOurs && content !== undefined ? seal.mac(content) : null;
}
