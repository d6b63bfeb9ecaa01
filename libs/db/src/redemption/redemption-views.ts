/** Views of the redemptions for operators and metrics. Only `audit` writes. */
import { type DeliveryState, type PartnerId, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { type AuditNote, noteCommand } from './audit-log.js';
import {
  callOf,
  type CallRow,
  CALLS,
  type LoggedCall,
  type LoggedTransition,
  TRANSITIONS,
} from './redemption-log.js';
import { OPEN_STATES, type OpenState } from './redemption-pages.js';
import { type StoredRedemption, storedOf } from './redemption-row.js';
import { BY_ID, type LeasedRow } from './transition-write.js';

export interface RedemptionHistory extends StoredRedemption {
  readonly lease: { readonly owner: string; readonly until: Date } | null;
  /** Oldest first, like `calls`. */
  readonly transitions: readonly LoggedTransition[];
  readonly calls: readonly LoggedCall[];
  readonly confirmation: {
    readonly state: DeliveryState;
    readonly attempts: number;
    readonly payload: string;
    readonly deliveredAt: Date | null;
    readonly undeliveredAt: Date | null;
    /** Time of the next attempt; null where there will be none. */
    readonly nextActionAt: Date | null;
  } | null;
}

export interface RedemptionCounts {
  /** Without redemptions settled by hand, because they need no person. */
  readonly states: readonly OpenState[];
  /** Redemptions that are due and not leased. */
  readonly due: { readonly count: number; readonly oldestSeconds: number };
  readonly confirmationsPending: number;
  readonly confirmationsUndelivered: number;
}

const CONFIRMATION = named<{ id: UuidV7 }>(
  'redemption_confirmation',
  `SELECT state, attempts, payload, delivered_at AS "deliveredAt", undelivered_at AS "undeliveredAt",
      next_action_at AS "nextActionAt"
    FROM redemption.confirmation WHERE redemption_id = :id`,
);

const QUEUES: Statement = {
  name: 'redemption_queues',
  text: `SELECT d.count, d.oldest,
      (SELECT count(*)::int FROM redemption.confirmation WHERE next_action_at IS NOT NULL) AS pending,
      (SELECT count(*)::int FROM redemption.confirmation WHERE undelivered_at IS NOT NULL) AS undelivered
    FROM (SELECT count(*)::int AS count,
        coalesce(greatest(0, extract(epoch FROM now() - min(next_action_at))), 0)::float8 AS oldest
      FROM redemption.redemption
      WHERE next_action_at <= now() AND (leased_until IS NULL OR leased_until <= now())) AS d`,
};

export class RedemptionViews {
  constructor(private readonly database: Database) {}

  /** Everything that is known of one redemption. @throws UnreadableRedemptionError */
  async show(id: UuidV7): Promise<RedemptionHistory | undefined> {
    const [row] = await this.database.query<LeasedRow>(BY_ID({ id }));
    if (row === undefined) return undefined;
    const { lease_owner: owner, leased_until: until } = row;
    const transitions = await this.database.query<LoggedTransition>(
      TRANSITIONS({ id, after: 0, limit: null }),
    );
    const calls = await this.database.query<CallRow>(CALLS({ id, after: null, limit: null }));
    const [confirmation] = await this.database.query<
      NonNullable<RedemptionHistory['confirmation']>
    >(CONFIRMATION({ id }));
    return {
      ...storedOf(row),
      lease: owner === null || until === null ? null : { owner, until },
      transitions,
      calls: calls.map(callOf),
      confirmation: confirmation ?? null,
    };
  }

  async counts(): Promise<RedemptionCounts> {
    const states = await this.database.query<OpenState & object>(OPEN_STATES({}));
    const [queues] =
      await this.database.query<Record<'count' | 'oldest' | 'pending' | 'undelivered', number>>(
        QUEUES,
      );
    return {
      states,
      due: { count: queues?.count ?? 0, oldestSeconds: queues?.oldest ?? 0 },
      confirmationsPending: queues?.pending ?? 0,
      confirmationsUndelivered: queues?.undelivered ?? 0,
    };
  }

  /** Records a command that changed no redemption: a refused one, or one about a partner. */
  async audit(
    actor: string,
    note: AuditNote,
    of: { readonly redemptionId?: UuidV7; readonly partner?: PartnerId } = {},
  ): Promise<void> {
    await this.database.entities((manager) => noteCommand(manager, actor, note, of));
  }
}
