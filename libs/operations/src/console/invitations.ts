/** Members of a partner, who may act for it on the pages, and invitations to become one. */
import {
  type Invitation,
  InvitationStore,
  MemberStore,
  type PartnerAudit,
  type PartnerIdentity,
} from '#libs/db';
import { PermanentError } from '#libs/domain';
import { newToken } from '#libs/signing';
import { auditedText } from '../audit/audited.js';
import { Field } from '../operation/field.js';
import { type OperationContext } from '../operation/operation.js';
import { OnPartner } from '../operation/on-partner.js';
import { printable } from '../text/text.js';
import { type PrintedLink } from './sign-in-link.js';

const INVITATION_MS = 7 * 24 * 3_600_000;
const INVITATION_PATH = '/partner/invitation';

/** Makes an invitation whose URL works once. */
export class InviteMember extends OnPartner<PrintedLink & PartnerIdentity> {
  static readonly spec = {
    command: 'partner invite',
    description: 'print a link that makes who opens it and signs in a member of the partner, once',
    role: 'admin',
    isFresh: true,
    needs: 'consoleOrigin',
  } as const;

  @Field({
    type: 'text',
    label: 'Whom it is for',
    help: 'whom it is for: an address or a name, for the list',
    option: '--note <text>',
    expected: '1 to 200 characters in one line, none of them a control, direction or invisible one',
    pattern: /^(?=.*\S)[^\p{C}\u2028\u2029]{1,200}$/u,
    most: 200,
    required: true,
  })
  readonly note!: string;

  protected async change(
    { database, clock, actor, subject: inviter, consoleOrigin = '' }: OperationContext,
    who: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<PrintedLink & PartnerIdentity> {
    const nowMs = clock.nowMs();
    const { token, tokenHash } = newToken();
    const expiresAtMs = nowMs + INVITATION_MS;
    const { partnerId } = who;
    const note = auditedText(this.note.trim());
    // With an inviter the invitation is of use while that operator may invite.
    const invitation = {
      tokenHash,
      partnerId,
      invitedBy: actor,
      ...(inviter && { inviter }),
      note,
    };
    await new InvitationStore(database).create({ ...invitation, nowMs, expiresAtMs }, audit);
    const url = `${consoleOrigin}${INVITATION_PATH}#${token}`;
    return { ...who, url, expiresAt: new Date(expiresAtMs) };
  }
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

const INVITATION_NUMBER = /^[1-9]\d{0,17}$/;

export class WithdrawInvitation extends OnPartner<void> {
  static readonly spec = {
    command: 'partner withdraw-invitation',
    description: 'make the link of an invitation useless that was not accepted yet',
    role: 'admin',
  } as const;

  @Field({
    type: 'text',
    help: 'its number, as `partner members` shows it',
    option: '--invitation <number>',
    expected: 'the number of an invitation',
    pattern: INVITATION_NUMBER,
    isPatternTold: true,
    required: true,
    inPath: true,
  })
  invitation!: string;

  protected async change(
    { database, clock }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<void> {
    const store = new InvitationStore(database);
    const isWithdrawn =
      INVITATION_NUMBER.test(this.invitation) &&
      (await store.withdraw(partnerId, BigInt(this.invitation), clock.nowMs(), audit));
    if (!isWithdrawn) throw new PermanentError('INVITATION_CLOSED', CLOSED);
  }

  override outcomeOf(): string {
    return `Invitation ${this.invitation} is withdrawn: its link can no longer be used.`;
  }
}

const CLOSED =
  'There is no such invitation of this partner that is open: `partner members` lists them.';

export class RemoveMember extends OnPartner<void> {
  static readonly spec = {
    command: 'partner remove-member',
    description: 'end what a person may do for the partner on the web pages, and their sessions',
    consequence:
      'The member is signed out at once and can act for the partner no more; an invitation would let them in again.',
    role: 'admin',
    isFresh: true,
    isConfirmed: true,
  } as const;

  @Field({
    type: 'text',
    help: 'how the person signs in, as `partner members` shows it',
    option: '--subject <text>',
    most: 1024,
    faultOf: (text) => (/\p{Cc}/u.test(text) ? 'must be a text in one line' : undefined),
    required: true,
  })
  readonly subject!: string;

  protected async change(
    { database, clock }: OperationContext,
    { partnerId }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<void> {
    const store = new MemberStore(database);
    const isRemoved = await store.remove(partnerId, this.subject, clock.nowMs(), audit);
    if (!isRemoved) throw new PermanentError('MEMBER_UNKNOWN', UNKNOWN);
  }

  override outcomeOf(): string {
    return `${printable(this.subject)} is no longer a member, and is signed out.`;
  }
}

const UNKNOWN = 'There is no such member of this partner: `partner members` lists them.';
