import { type PartnerId, PermanentError } from '#libs/domain';
import { isRefusal } from '../connection/database.error.js';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type PartnerIdentity } from '../partners/partner-changes.js';
import { type GrantedRole, lockGrantedRoles } from './granted-role-store.js';
import { type Person } from './standing.js';

export type ApprovalDecision = 'approved' | 'refused' | 'withdrawn';

export interface ApprovalRequest {
  readonly action: string;
  /** Arguments of the action: plain JSON without secrets. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the action means, in the words that its requester saw. */
  readonly summary: string;
  /** Why the action is requested: 1 to 500 characters. */
  readonly reason: string;
  readonly requestedBy: Person;
  /** `operator:NAME` of the requester, for the audit. */
  readonly actor: string;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

/** An operator; `actor` is the operator's name in the audit. */
export interface Decider extends Person {
  readonly actor: string;
  /**
   * Throws where the requester or the decider has lost the role. Gets what is known of both, which does not change before
   * the decision is stored. Default: no such check.
   */
  readonly requireRights?: (known: readonly GrantedRole[]) => void;
}

export interface Approval {
  readonly id: bigint;
  readonly action: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly summary: string;
  /** The partner whose id the arguments have, with its name of now; null if there is none. */
  readonly partner: PartnerIdentity | null;
  readonly reason: string;
  readonly requestedBy: Person;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
  readonly decided: {
    readonly decision: ApprovalDecision;
    readonly by: Person;
    readonly at: Date;
  } | null;
  /** Result of the approved action. Null where the action is not finished, or where its end was never learnt. */
  readonly outcome: string | null;
}

/** The requester cannot approve or refuse a request, and another operator cannot withdraw it. */
export class OwnApprovalError extends PermanentError {
  constructor() {
    super(
      'APPROVAL_OF_ANOTHER',
      'An action is approved or refused by another operator than the one who asked for it; that one can withdraw it.',
    );
  }
}

export class ApprovalClosedError extends PermanentError {
  constructor() {
    super('APPROVAL_CLOSED', 'This request is decided or has expired: ask for the action again.');
  }
}

interface Page {
  /** The smallest id of the previous page. */
  readonly before?: bigint | undefined;
  readonly limit: number;
}

const UUID = `'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`;

/** The argument of a request with this name where it is an id, otherwise NULL. */
function idOf(name: 'id' | 'partner'): string {
  return `CASE WHEN arguments ->> '${name}' ~ ${UUID} THEN (arguments ->> '${name}')::uuid END`;
}

const COLUMNS = `id, action, arguments, summary, reason, requested_by AS subject, requested_name AS name, requested_at AS "requestedAt",
  expires_at AS "expiresAt", decision, decided_by AS decider, decided_name AS "deciderName", decided_at AS "decidedAt", outcome,
  ${idOf('partner')} AS "partnerId", (SELECT p.name FROM partners.partner p WHERE p.id = ${idOf('partner')}) AS "partnerName"`;

type Row = Person &
  Omit<Approval, 'id' | 'requestedBy' | 'decided' | 'partner'> & {
    readonly partnerId: PartnerId | null;
    readonly partnerName: string | null;
    readonly id: string;
    readonly decision: ApprovalDecision | null;
    readonly decider: string;
    readonly deciderName: string;
    readonly decidedAt: Date;
  };

/**
 * Writes audit rows about requests, in the statement that changes the requests.
 * @param rows name of the part of the statement that has the requests
 */
function audited(rows: string, note: { actor: string; command: string; outcome: string }): string {
  return `INSERT INTO redemption.audit (actor, command, redemption_id, partner, arguments, outcome)
      SELECT ${note.actor}, ${note.command}, ${idOf('id')}, ${idOf('partner')},
        jsonb_strip_nulls(jsonb_build_object('approval', id, 'action', action, 'askedBy', name, 'reason', reason)), ${note.outcome}
      FROM ${rows}`;
}

const REQUEST = named<{
  action: string;
  args: string;
  summary: string;
  reason: string;
  subject: string;
  name: string;
  actor: string;
  now: Date;
  expiresAt: Date;
}>(
  'approval_request',
  `WITH asked AS (
      INSERT INTO console.approval (action, arguments, summary, reason, requested_by, requested_name, requested_at, expires_at)
      VALUES (:action, :args, :summary, :reason, :subject, :name, :now, :expiresAt) RETURNING ${COLUMNS}
    ), noted AS (
      ${audited('asked', { actor: ':actor', command: `'approval request'`, outcome: `'asked'` })}
    ) SELECT * FROM asked`,
);

/** A concurrent decision waits for the end of this one. */
const LOCK = named<{ id: string }>(
  'approval_lock',
  'SELECT requested_by AS subject FROM console.approval WHERE id = :id FOR UPDATE',
);

const DECIDE = named<{
  id: string;
  decision: string;
  command: string;
  subject: string;
  name: string;
  actor: string;
  now: Date;
}>(
  'approval_decide',
  `WITH decided AS (
      UPDATE console.approval SET decision = :decision, decided_by = :subject, decided_name = :name, decided_at = :now
      WHERE id = :id AND decision IS NULL AND expires_at > :now RETURNING ${COLUMNS}
    ), noted AS (
      ${audited('decided', { actor: ':actor', command: ':command', outcome: 'decision' })}
    ) SELECT * FROM decided`,
);

const COMMANDS: Readonly<Record<ApprovalDecision, string>> = {
  approved: 'approval approve',
  refused: 'approval refuse',
  withdrawn: 'approval withdraw',
};

/** Records each request once, even where two consoles look at the same time. */
const NOTE_EXPIRED = named<{ now: Date; limit: number; actor: string }>(
  'approval_note_expired',
  `WITH expired AS (
      UPDATE console.approval SET expiry_noted = true WHERE NOT expiry_noted AND id IN (
        SELECT id FROM console.approval WHERE decision IS NULL AND expires_at <= :now AND NOT expiry_noted
        ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED)
      RETURNING ${COLUMNS}
    ), noted AS (
      ${audited('expired', { actor: ':actor', command: `'approval expire'`, outcome: `'expired'` })}
    ) SELECT id FROM expired`,
);

const FINISH = named<{ id: string; outcome: string }>(
  'approval_finish',
  `UPDATE console.approval SET outcome = :outcome WHERE id = :id AND decision = 'approved' AND outcome IS NULL RETURNING id`,
);

const FIND = named<{ id: string }>(
  'approval_find',
  `SELECT ${COLUMNS} FROM console.approval WHERE id = :id`,
);

const OPEN = named<{ now: Date; limit: number }>(
  'approval_open',
  `SELECT ${COLUMNS} FROM console.approval WHERE decision IS NULL AND expires_at > :now ORDER BY expires_at, id LIMIT :limit`,
);

const PAGE = named<{ before: string | null; limit: number }>(
  'approval_page',
  `SELECT ${COLUMNS} FROM console.approval WHERE :before::bigint IS NULL OR id < :before ORDER BY id DESC LIMIT :limit`,
);

/**
 * Two-person approval: actions that wait for a second operator. A CHECK of the table ensures that it is another person.
 */
export class ApprovalStore {
  constructor(private readonly database: Database) {}

  async request(request: ApprovalRequest): Promise<Approval> {
    const { action, summary, reason, requestedBy, actor, nowMs, expiresAtMs } = request;
    const args = JSON.stringify(request.arguments);
    const times = { now: new Date(nowMs), expiresAt: new Date(expiresAtMs) };
    const { subject, name } = requestedBy;
    const rows = await this.database.query<Row>(
      REQUEST({ action, args, summary, reason, subject, name, actor, ...times }),
    );
    return approvalOf(rows[0] as Row);
  }

  /**
   * Succeeds for exactly one caller. After `approved`, this caller carries out the action and then calls `finish`.
   * @throws OwnApprovalError, ApprovalClosedError, and what `requireRights` throws
   */
  async decide(
    id: bigint,
    decision: ApprovalDecision,
    { subject, name, actor, requireRights }: Decider,
    nowMs: number,
  ): Promise<Approval> {
    const values = {
      ...{ id: id.toString(), decision, command: COMMANDS[decision] },
      ...{ subject, name, actor, now: new Date(nowMs) },
    };
    let rows: Row[];
    try {
      rows = await this.database.transaction(async (client) => {
        const [asked] = await run<{ subject: string }>(client, LOCK({ id: values.id }));
        if (asked === undefined) return [];
        requireRights?.(await lockGrantedRoles(client, [asked.subject, subject]));
        return run<Row>(client, DECIDE(values));
      });
    } catch (error) {
      throw isRefusal(error, 'check_violation') ? new OwnApprovalError() : error;
    }
    if (rows[0] === undefined) throw new ApprovalClosedError();
    return approvalOf(rows[0]);
  }

  /** Stores the result of an approved action, once. @throws ApprovalClosedError */
  async finish(id: bigint, outcome: string): Promise<void> {
    const rows = await this.database.query(FINISH({ id: id.toString(), outcome }));
    if (rows.length === 0) throw new ApprovalClosedError();
  }

  /**
   * Records requests that expired without a decision in the audit.
   * @param actor the program
   * @returns number of requests, at most `limit`
   */
  async noteExpired(nowMs: number, actor: string, limit = 100): Promise<number> {
    const rows = await this.database.query(NOTE_EXPIRED({ now: new Date(nowMs), limit, actor }));
    return rows.length;
  }

  async find(id: bigint): Promise<Approval | undefined> {
    const [row] = await this.database.query<Row>(FIND({ id: id.toString() }));
    return row && approvalOf(row);
  }

  /** Requests that can be decided; those that expire first come first. */
  async listOpen(nowMs: number, limit: number): Promise<Approval[]> {
    const rows = await this.database.query<Row>(OPEN({ now: new Date(nowMs), limit }));
    return rows.map(approvalOf);
  }

  /** All requests, newest first. */
  async list({ before, limit }: Page): Promise<Approval[]> {
    const page = { before: before?.toString() ?? null, limit };
    return (await this.database.query<Row>(PAGE(page))).map(approvalOf);
  }
}

function approvalOf(row: Row): Approval {
  const { subject, name, decision, decider, deciderName, decidedAt: at, ...others } = row;
  const { partnerId, partnerName, ...approval } = others;
  return {
    ...approval,
    id: BigInt(row.id),
    requestedBy: { subject, name },
    partner: partnerId !== null && partnerName !== null ? { partnerId, partnerName } : null,
    decided: decision && { decision, by: { subject: decider, name: deciderName }, at },
  };
}
