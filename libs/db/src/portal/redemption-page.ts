/** A partner's redemptions and our calls to the partner, page by page. */
import { type PartnerStep, type RedemptionState, type UuidV7 } from '#libs/domain';
import { named, type OrNull, orNull, unnamed } from '../connection/named.js';
import { IS_FAILED } from '../redemption/redemption-log.js';
import { type PortalQuery } from './portal-database.js';

/** Amounts are decimal numbers as text. */
export interface OwnRedemption {
  readonly id: UuidV7;
  /** `0x` and 40 hex digits. */
  readonly wallet: string;
  readonly points: string;
  readonly usdAmount: string;
  /** In the token's smallest unit. */
  readonly tokenAmount: string;
  readonly tokenDecimals: number;
  readonly state: RedemptionState;
  readonly reason: string | null;
  readonly partnerTransactionId: string | null;
  readonly partnerRevertId: string | null;
  readonly paidTransactionHash: string | null;
  readonly createdAt: Date;
  readonly stateSince: Date;
}

/** Absent fields do not restrict the result. */
export interface OwnRedemptionPage {
  readonly limit: number;
  /** Last id of the previous page. */
  readonly before?: UuidV7 | undefined;
  readonly state?: RedemptionState | undefined;
  /** In lower case, with `0x`. */
  readonly wallet?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** `record` has request and answer. A call without an end is in progress, or its end was never learnt. */
export interface OwnCall {
  readonly requestId: UuidV7;
  /** Null for a balance read. */
  readonly redemptionId: UuidV7 | null;
  readonly step: PartnerStep;
  readonly begunAt: Date;
  readonly endedAt: Date | null;
  readonly outcome: string | null;
  readonly record: Readonly<Record<string, unknown>> | null;
}

export interface CallPage {
  readonly limit: number;
  /** Last id of the previous page. */
  readonly before?: UuidV7 | undefined;
  readonly step?: PartnerStep | undefined;
  readonly outcome?: string | undefined;
  /** Only calls without a usable answer. */
  readonly failedOnly?: boolean | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export interface OwnRedemptionHistory {
  readonly redemption: OwnRedemption;
  /** Oldest first. */
  readonly transitions: readonly {
    readonly event: string;
    readonly from: RedemptionState | null;
    readonly to: RedemptionState;
    readonly reason: string | null;
    /** `operator`, `user` or `service`, without a name. */
    readonly actor: string;
    readonly at: Date;
  }[];
  /** Oldest first. */
  readonly calls: readonly OwnCall[];
  readonly confirmation:
    | {
        readonly payload: string;
        readonly state: string;
        readonly attempts: number;
        readonly nextActionAt: Date | null;
        readonly deliveredAt: Date | null;
        readonly undeliveredAt: Date | null;
      }
    | undefined;
}

const REDEMPTION = `SELECT id, '0x' || encode(wallet, 'hex') AS wallet, points::text, usd_amount::text AS "usdAmount",
      token_amount::text AS "tokenAmount", token_decimals AS "tokenDecimals", state, reason,
      partner_transaction_id AS "partnerTransactionId", partner_revert_id AS "partnerRevertId",
      paid_transaction_hash AS "paidTransactionHash", initial_at AS "createdAt", state_since_at AS "stateSince"
    FROM portal.redemption`;

const REDEMPTIONS = unnamed<
  OrNull<Omit<OwnRedemptionPage, 'wallet'> & { readonly wallet?: Buffer | undefined }>
>(
  `${REDEMPTION} WHERE (:before::uuid IS NULL OR id < :before) AND (:state::text IS NULL OR state = :state)
      AND (:wallet::bytea IS NULL OR wallet = :wallet) AND (:since::timestamptz IS NULL OR initial_at >= :since)
      AND (:until::timestamptz IS NULL OR initial_at < :until)
    ORDER BY id DESC LIMIT :limit`,
);
const ONE = named<{ id: UuidV7 }>('portal_redemption', `${REDEMPTION} WHERE id = :id`);

const TRANSITIONS = named<{ id: UuidV7 }>(
  'portal_transitions',
  `SELECT event, from_state AS "from", to_state AS "to", reason, actor, at FROM portal.transition
    WHERE redemption_id = :id ORDER BY version LIMIT 1000`,
);

const CALL = `SELECT request_id AS "requestId", redemption_id AS "redemptionId", step, begun_at AS "begunAt", ended_at AS "endedAt",
      outcome, record FROM portal.partner_call`;
const CALLS_OF_ONE = named<{ id: UuidV7 }>(
  'portal_calls_of_redemption',
  `${CALL} WHERE redemption_id = :id ORDER BY begun_at, request_id LIMIT 1000`,
);
const CALLS = unnamed<OrNull<CallPage>>(
  `${CALL} WHERE (:before::uuid IS NULL OR request_id < :before)
      AND (:step::text IS NULL OR step = :step) AND (:outcome::text IS NULL OR outcome = :outcome)
      AND (:failedOnly::boolean IS NOT TRUE OR ${IS_FAILED})
      AND (:since::timestamptz IS NULL OR begun_at >= :since) AND (:until::timestamptz IS NULL OR begun_at < :until)
    ORDER BY request_id DESC LIMIT :limit`,
);

const CONFIRMATION = named<{ id: UuidV7 }>(
  'portal_confirmation',
  `SELECT payload, state, attempts, next_action_at AS "nextActionAt", delivered_at AS "deliveredAt", undelivered_at AS "undeliveredAt"
    FROM portal.confirmation WHERE redemption_id = :id`,
);

/** Newest first. */
export function readOwnRedemptions(
  query: PortalQuery,
  { limit, before, state, wallet, since, until }: OwnRedemptionPage,
): Promise<OwnRedemption[]> {
  const bytes = wallet === undefined ? undefined : Buffer.from(wallet.slice(2), 'hex');
  const asked = orNull({ limit, before, state, wallet: bytes, since, until });
  return query<OwnRedemption & object>(REDEMPTIONS(asked));
}

/** @returns undefined where the partner has no redemption with this id */
export async function readOwnHistory(
  query: PortalQuery,
  id: UuidV7,
): Promise<OwnRedemptionHistory | undefined> {
  const [redemption] = await query<OwnRedemption & object>(ONE({ id }));
  if (redemption === undefined) return undefined;
  type History = OwnRedemptionHistory;
  return {
    redemption,
    transitions: await query<History['transitions'][number]>(TRANSITIONS({ id })),
    calls: await query<OwnCall & object>(CALLS_OF_ONE({ id })),
    confirmation: (await query<NonNullable<History['confirmation']>>(CONFIRMATION({ id })))[0],
  };
}

/** Newest first. */
export function readOwnCalls(
  query: PortalQuery,
  { limit, before, step, outcome, failedOnly, since, until }: CallPage,
): Promise<OwnCall[]> {
  const asked = orNull({ limit, before, step, outcome, failedOnly, since, until });
  return query<OwnCall & object>(CALLS(asked));
}
