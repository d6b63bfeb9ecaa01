import { type PoolClient } from 'pg';
import { type PartnerId, PermanentError } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { auditPartner, type PartnerAudit } from '../partners/partner-changes.js';
import { type Person } from './standing.js';

export interface Member extends Person {
  readonly addedAt: Date;
}

interface NewMember extends Person {
  readonly partnerId: PartnerId;
  readonly now: Date;
}

const ADD = named<NewMember>(
  'member_add',
  `INSERT INTO console.member (partner, subject, name, added_at) VALUES (:partnerId, :subject, :name, :now)
    ON CONFLICT (partner, subject) WHERE removed_at IS NULL DO UPDATE SET name = excluded.name`,
);

const LIST = named<{ partnerId: PartnerId }>(
  'member_list',
  `SELECT subject, name, added_at AS "addedAt" FROM console.member
    WHERE partner = :partnerId AND removed_at IS NULL ORDER BY added_at, id`,
);

/** A concurrent transaction waits here, and then sees the members that are left. */
const LOCK = named<{ partnerId: PartnerId }>(
  'member_lock',
  `SELECT subject FROM console.member WHERE partner = :partnerId AND removed_at IS NULL ORDER BY id FOR UPDATE`,
);

const PARTNERS = named<{ subject: string }>(
  'member_partners',
  `SELECT m.partner AS "partnerId", p.name AS "partnerName" FROM console.member m JOIN partners.partner p ON p.id = m.partner
    WHERE m.subject = :subject AND m.removed_at IS NULL ORDER BY lower(p.name)`,
);

const REMOVE = named<{ partnerId: PartnerId; subject: string; now: Date }>(
  'member_remove',
  `UPDATE console.member SET removed_at = greatest(:now, added_at)
    WHERE partner = :partnerId AND subject = :subject AND removed_at IS NULL RETURNING subject`,
);

const CLOSE_SESSIONS = named<{ partnerId: PartnerId; subject: string }>(
  'member_close_sessions',
  'DELETE FROM console.session WHERE partner = :partnerId AND subject = :subject',
);

/** Runs in the transaction that makes the person a member. A person who is a member already gets the new name. */
export async function addMember(client: PoolClient, { partnerId, subject, name, now }: NewMember) {
  await run(client, ADD({ partnerId, subject, name, now }));
}

/** The persons who may act for a partner on the web pages. */
export class MemberStore {
  constructor(private readonly database: Database) {}

  /** The longest member first. */
  list(partnerId: PartnerId): Promise<Member[]> {
    return this.database.query<Member & object>(LIST({ partnerId }));
  }

  /** The partners that a person may act for, ordered by name. */
  partnersOf(subject: string): Promise<{ partnerId: PartnerId; partnerName: string }[]> {
    return this.database.query(PARTNERS({ subject }));
  }

  /**
   * Removes a member and ends the person's sessions for this partner.
   * @param audit written where there is such a member
   * @returns false where there is no such member
   */
  remove(
    partnerId: PartnerId,
    subject: string,
    nowMs: number,
    audit?: PartnerAudit,
  ): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const isRemoved = await removeMember(client, partnerId, subject, nowMs);
      if (isRemoved) await auditPartner(client, partnerId, audit);
      return isRemoved;
    });
  }

  /** Like `remove`, but never removes the last member. @throws PermanentError MEMBER_MISSING, LAST_MEMBER */
  withdraw(
    partnerId: PartnerId,
    subject: string,
    nowMs: number,
    audit: PartnerAudit,
  ): Promise<void> {
    return this.database.transaction(async (client) => {
      const members = await run<{ subject: string }>(client, LOCK({ partnerId }));
      if (!members.some((member) => member.subject === subject)) {
        throw new PermanentError('MEMBER_MISSING', 'There is no such member.');
      }
      if (members.length === 1) {
        const message = 'You are the last member. Your operator can end the access of all.';
        throw new PermanentError('LAST_MEMBER', message);
      }
      await removeMember(client, partnerId, subject, nowMs);
      await auditPartner(client, partnerId, audit);
    });
  }
}

async function removeMember(
  client: PoolClient,
  partnerId: PartnerId,
  subject: string,
  nowMs: number,
): Promise<boolean> {
  const removed = await run(client, REMOVE({ partnerId, subject, now: new Date(nowMs) }));
  await run(client, CLOSE_SESSIONS({ partnerId, subject }));
  return removed.length > 0;
}
