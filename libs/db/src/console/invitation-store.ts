import { type PartnerId } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { auditPartner, type PartnerAudit } from '../partners/partner-changes.js';
import { addMember } from './member-store.js';
import { type Person } from './standing.js';

export interface NewInvitation {
  /** SHA-256 of the token, 32 bytes, in all functions of this file. */
  readonly tokenHash: Buffer;
  readonly partnerId: PartnerId;
  /** `operator:NAME` */
  readonly invitedBy: string;
  /** Subject of the operator who invites on the pages; absent for a command. */
  readonly inviter?: string | undefined;
  /** An address or another text that tells the operator whom the invitation is for. */
  readonly note: string;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

export interface Invitation {
  readonly id: bigint;
  readonly invitedBy: string;
  readonly note: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
  readonly withdrawnAt: Date | null;
}

export interface InvitingPartner {
  readonly partnerId: PartnerId;
  readonly partnerName: string;
  /** Null where a command made the invitation. */
  readonly inviter: string | null;
}

const CREATE = named<
  Omit<NewInvitation, 'nowMs' | 'expiresAtMs' | 'inviter'> & {
    readonly inviter: string | null;
    readonly now: Date;
    readonly expiresAt: Date;
  }
>(
  'invitation_create',
  `INSERT INTO console.invitation (token_hash, partner, invited_by, inviter, note, created_at, expires_at)
    VALUES (:tokenHash, :partnerId, :invitedBy, :inviter, :note, :now, :expiresAt) RETURNING id`,
);

const GOOD = 'accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > :now';

const FIND = named<{ tokenHash: Buffer; now: Date }>(
  'invitation_find',
  `SELECT i.partner AS "partnerId", p.name AS "partnerName", i.inviter
    FROM console.invitation i JOIN partners.partner p ON p.id = i.partner WHERE i.token_hash = :tokenHash AND ${GOOD}`,
);

/** One statement, so that of two concurrent acceptances only one succeeds. */
const ACCEPT = named<{ tokenHash: Buffer; subject: string; now: Date }>(
  'invitation_accept',
  `UPDATE console.invitation SET accepted_at = :now, accepted_by = :subject WHERE token_hash = :tokenHash AND ${GOOD}
    RETURNING partner AS "partnerId"`,
);

const WITHDRAW = named<{ partnerId: PartnerId; id: string; now: Date }>(
  'invitation_withdraw',
  `UPDATE console.invitation SET withdrawn_at = :now WHERE id = :id AND partner = :partnerId AND ${GOOD} RETURNING id`,
);

const LIST = named<{ partnerId: PartnerId; limit: number }>(
  'invitation_list',
  `SELECT id, invited_by AS "invitedBy", note, created_at AS "createdAt", expires_at AS "expiresAt", accepted_at AS "acceptedAt",
      accepted_by AS "acceptedBy", withdrawn_at AS "withdrawnAt"
    FROM console.invitation WHERE partner = :partnerId ORDER BY id DESC LIMIT :limit`,
);

/** Invitations to act for a partner. Each can be accepted once. */
export class InvitationStore {
  constructor(private readonly database: Database) {}

  create(
    { nowMs, expiresAtMs, inviter, ...invitation }: NewInvitation,
    audit?: PartnerAudit,
  ): Promise<bigint> {
    return this.database.transaction(async (client) => {
      const times = { now: new Date(nowMs), expiresAt: new Date(expiresAtMs) };
      const [row] = await run<{ id: string }>(
        client,
        CREATE({ ...invitation, inviter: inviter ?? null, ...times }),
      );
      await auditPartner(client, invitation.partnerId, audit);
      return BigInt((row as { id: string }).id);
    });
  }

  /** The partner that invites, while the invitation can be accepted. */
  async find(tokenHash: Buffer, nowMs: number): Promise<InvitingPartner | undefined> {
    const now = new Date(nowMs);
    return (await this.database.query<InvitingPartner & object>(FIND({ tokenHash, now })))[0];
  }

  /** Succeeds for exactly one caller, who becomes a member. @returns the id of the partner */
  accept(tokenHash: Buffer, person: Person, nowMs: number): Promise<PartnerId | undefined> {
    return this.database.transaction(async (client) => {
      const now = new Date(nowMs);
      const { subject } = person;
      const [row] = await run<{ partnerId: PartnerId }>(
        client,
        ACCEPT({ tokenHash, subject, now }),
      );
      if (row === undefined) return undefined;
      await addMember(client, { ...person, partnerId: row.partnerId, now });
      return row.partnerId;
    });
  }

  /**
   * @param audit written where the invitation is withdrawn
   * @returns false where the invitation could not be accepted any more
   */
  withdraw(
    partnerId: PartnerId,
    id: bigint,
    nowMs: number,
    audit?: PartnerAudit,
  ): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const withdrawal = WITHDRAW({ partnerId, id: id.toString(), now: new Date(nowMs) });
      const isWithdrawn = (await run(client, withdrawal)).length > 0;
      if (isWithdrawn) await auditPartner(client, partnerId, audit);
      return isWithdrawn;
    });
  }

  /** The newest ones, newest first. */
  async list(partnerId: PartnerId, limit: number): Promise<Invitation[]> {
    const query = LIST({ partnerId, limit });
    const rows = await this.database.query<Omit<Invitation, 'id'> & { id: string }>(query);
    return rows.map((row) => ({ ...row, id: BigInt(row.id) }));
  }
}
