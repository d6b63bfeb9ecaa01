/** Members of a partner, who may act for it on the pages, and invitations to become one. */
import { type PartnerId } from '#libs/domain';
import {
  type Database,
  type Invitation,
  InvitationStore,
  MemberStore,
  type PartnerAudit,
  type PartnerIdentity,
  RedemptionViews,
} from '#libs/db';
import { type Clock } from '#libs/platform';
import { newToken } from '#libs/signing';
import { auditedText, onPartner, type Operator } from '../audit/audited.js';
import { type PrintedLink } from './sign-in-link.js';

const INVITATION_MS = 7 * 24 * 3_600_000;
const INVITATION_PATH = '/partner/invitation';

export interface InvitationWish {
  readonly partner: PartnerId;
  /** An address, or another text that tells for whom the invitation is. */
  readonly note: string;
  /** Origin at which browsers reach the console. */
  readonly origin: string;
  /** Subject of the operator on the pages: the invitation is of use while the operator may invite. */
  readonly inviter?: string;
}

/** Makes an invitation whose URL works once. @throws PartnerUnknownError */
export function invitePartner(
  database: Database,
  clock: Clock,
  operator: Operator,
  { partner, note, origin, inviter }: InvitationWish,
): Promise<PrintedLink & PartnerIdentity> {
  const kept = auditedText(note);
  const given = { partner, arguments: { note: kept } };
  return onPartner(database, operator, given, async (who, audit) => {
    const nowMs = clock.nowMs();
    const { token, tokenHash } = newToken();
    const expiresAtMs = nowMs + INVITATION_MS;
    const { partnerId } = who;
    const invitation = { tokenHash, partnerId, invitedBy: operator.actor, inviter, note: kept };
    await new InvitationStore(database).create({ ...invitation, nowMs, expiresAtMs }, audit);
    const url = `${origin}${INVITATION_PATH}#${token}`;
    return { ...who, url, expiresAt: new Date(expiresAtMs) };
  });
}

export const INVITATION_STATES = ['open', 'accepted', 'withdrawn', 'expired'] as const;

export function invitationState(
  { acceptedAt, withdrawnAt, expiresAt }: Invitation,
  nowMs: number,
): (typeof INVITATION_STATES)[number] {
  if (acceptedAt !== null) return 'accepted';
  if (withdrawnAt !== null) return 'withdrawn';
  return expiresAt.getTime() > nowMs ? 'open' : 'expired';
}

/** @returns false where the invitation cannot be accepted any more. @throws PartnerUnknownError */
export function withdrawInvitation(
  database: Database,
  clock: Clock,
  operator: Operator,
  { partner, invitation }: { readonly partner: PartnerId; readonly invitation: bigint },
): Promise<boolean> {
  const given = { partner, arguments: { invitation: invitation.toString() } };
  return onPartner(database, operator, given, async ({ partnerId }, audit) => {
    const store = new InvitationStore(database);
    const isWithdrawn = await store.withdraw(partnerId, invitation, clock.nowMs(), audit);
    if (!isWithdrawn) await auditRefusal(database, partnerId, audit, 'INVITATION_CLOSED');
    return isWithdrawn;
  });
}

/** The consequence, for the operator to read before a member is removed. */
export const REMOVE_MEMBER_CONSEQUENCE =
  'The member is signed out at once and can act for the partner no more; an invitation would let them in again.';

/** @returns false where there is no such member. @throws PartnerUnknownError */
export function removeMember(
  database: Database,
  clock: Clock,
  operator: Operator,
  { partner, subject }: { readonly partner: PartnerId; readonly subject: string },
): Promise<boolean> {
  const given = { partner, arguments: { subject: auditedText(subject) } };
  return onPartner(database, operator, given, async ({ partnerId }, audit) => {
    const store = new MemberStore(database);
    const isRemoved = await store.remove(partnerId, subject, clock.nowMs(), audit);
    if (!isRemoved) await auditRefusal(database, partnerId, audit, 'MEMBER_UNKNOWN');
    return isRemoved;
  });
}

async function auditRefusal(
  database: Database,
  partner: PartnerId,
  { actor, note }: PartnerAudit,
  code: string,
): Promise<void> {
  const refused = { ...note, outcome: `refused: ${code}` };
  await new RedemptionViews(database).audit(actor, refused, { partner });
}
