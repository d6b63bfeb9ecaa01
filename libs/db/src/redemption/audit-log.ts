/** The audit of operators' commands, including refused ones. */
import { type PartnerId, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { type OrNull, orNull, unnamed } from '../connection/named.js';
import { type LogPage, nextKey, type PageRequest } from '../connection/page.js';

export interface AuditEntry {
  /** Grows with each entry. A text, because the value may exceed the exact integers of a number. */
  readonly id: string;
  readonly at: Date;
  /** `operator:NAME` */
  readonly actor: string;
  /** For example `partner set`. */
  readonly command: string;
  readonly redemptionId: UuidV7 | null;
  /** The partner's id. */
  readonly partner: PartnerId | null;
  /** Without secrets. */
  readonly arguments: object;
  /** `done`, `now reverting` or `refused: CODE`, for example. */
  readonly outcome: string;
}

/** An operator's command, as the audit records it. */
export interface AuditNote {
  readonly command: string;
  readonly arguments?: object;
  readonly outcome: string;
}

/** Absent fields do not restrict the result. */
export interface AuditFilter {
  readonly actor?: string | undefined;
  readonly partner?: PartnerId | undefined;
  readonly redemptionId?: UuidV7 | undefined;
  readonly command?: string | undefined;
  /** Without what members of partners did on their pages. */
  readonly withoutMembers?: boolean | undefined;
}

const NEWEST = unnamed<OrNull<AuditFilter & PageRequest<string>>>(
  `SELECT id::text, at, actor, command, redemption_id AS "redemptionId", partner, arguments, outcome FROM redemption.audit
    WHERE (:actor::text IS NULL OR actor = :actor) AND (:partner::uuid IS NULL OR partner = :partner)
      AND (:redemptionId::uuid IS NULL OR redemption_id = :redemptionId)
      AND (:command::text IS NULL OR command = :command) AND (:withoutMembers::boolean IS NOT TRUE OR actor NOT LIKE 'partner:%')
      AND (:after::bigint IS NULL OR id < :after)
    ORDER BY audit.id DESC LIMIT :limit`,
);

const NOTE = `INSERT INTO redemption.audit (actor, command, arguments, outcome, redemption_id, partner) VALUES ($1, $2, $3, $4, $5, $6)`;

/** Records a command in the transaction of its change, so that neither exists without the other. */
export async function noteCommand(
  /** pg's client or TypeORM's manager. */
  on: { query(text: string, values: unknown[]): Promise<unknown> },
  actor: string,
  { command, arguments: given = {}, outcome }: AuditNote,
  of: { readonly redemptionId?: string; readonly partner?: PartnerId } = {},
): Promise<void> {
  const { redemptionId = null, partner = null } = of;
  await on.query(NOTE, [actor, command, JSON.stringify(given), outcome, redemptionId, partner]);
}

export class AuditLog {
  constructor(private readonly database: Database) {}

  async newest(
    { actor, partner, redemptionId, command, withoutMembers }: AuditFilter,
    { limit, after }: PageRequest<string>,
  ): Promise<LogPage<AuditEntry, string>> {
    const asked = orNull({
      ...{ actor, partner, redemptionId, command, withoutMembers },
      ...{ limit, after },
    });
    const entries = await this.database.query<AuditEntry>(NEWEST(asked));
    return { entries, next: nextKey(entries, limit, ({ id }) => id) };
  }
}
