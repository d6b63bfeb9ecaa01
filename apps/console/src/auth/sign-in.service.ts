import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import {
  InvitationStore,
  type InvitingPartner,
  MemberStore,
  type OperatorRole,
  type Person,
  SignInLinkStore,
  type SignInNote,
  type Standing,
} from '#libs/db';
import { type Address, parsePartnerId } from '#libs/domain';
import { withoutInvisible } from '#libs/names';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { hashToken } from '#libs/signing';
import { ConsoleSettings } from '../console.env.js';
import { csrfTokenOf } from '../http/session-cookie.js';
import { type InvitingPartnerBody, type SessionBody } from './auth.dto.js';
import { mayActAs } from './operator-roles.js';
import { OperatorRights } from './operator-rights.js';
import { actorOf, walletSubject } from './operators.js';
import { type CurrentSession, Sessions } from './sessions.js';
import { SignInAudit } from './sign-in-audit.js';
import { notAnOperator, type SignInCode, signInProblem } from './sign-in.problem.js';

/** A request and its reply, which gets the cookies of the new session. */
export interface RequestAndReply {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A person who has just authenticated, by a wallet or by OpenID Connect. */
export interface Authenticated extends Person {
  /** The role as an operator; undefined for a person who is not an operator. */
  readonly role: OperatorRole | undefined;
  /** Why the role is not known. Absent: the person has none. */
  readonly roleUnknown?: SignInCode | undefined;
  /** Unix time in milliseconds. Default: now. An issuer of OpenID Connect may have authenticated the person earlier. */
  readonly authenticatedAtMs?: number | undefined;
}

/** What a person wants to sign in as. */
export interface Wish {
  readonly kind: Standing['kind'];
  /** Token of an invitation to act for a partner, which the sign-in accepts. */
  readonly invitation?: string | undefined;
}

/** Opens sessions for authenticated persons, as operators or as members of a partner. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: Sessions,
    private readonly members: MemberStore,
    private readonly invitations: InvitationStore,
    private readonly links: SignInLinkStore,
    private readonly audit: SignInAudit,
    private readonly rights: OperatorRights,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Opens a session. A refused sign-in as an operator goes to the audit log.
   * @param authenticate identifies the person, or throws where the sign-in is refused
   * @throws HttpProblem 403, and what `authenticate` throws; DatabaseUnavailableError
   */
  async signIn(
    exchange: RequestAndReply,
    by: 'wallet' | 'oidc',
    authenticate: () => Promise<Authenticated>,
    wish: Wish,
  ): Promise<SessionBody> {
    let person: Authenticated | undefined;
    try {
      person = await authenticate();
      if (person.role === undefined) await this.rights.learn(person.subject, undefined);
      const standing =
        wish.kind === 'operator'
          ? operatorStanding(person, by)
          : await this.partnerStanding(exchange, person, wish.invitation);
      return await this.open(exchange, person, { by, standing });
    } catch (error) {
      const who = person && actorOf(person);
      const note = { by, from: exchange.request.ip, who };
      if (wish.kind === 'operator') await this.audit.noteRefused(error, note);
      throw error;
    }
  }

  /** @param verify returns the account that has signed. @throws HttpProblem 400, 401, 403; DatabaseUnavailableError */
  signInByWallet(
    exchange: RequestAndReply,
    verify: () => Promise<{ readonly wallet: Address }>,
    wish: Wish,
  ): Promise<SessionBody> {
    const authenticate = async (): Promise<Authenticated> => {
      const { wallet } = await verify();
      const role = this.settings.operators?.get(wallet);
      return { subject: walletSubject(wallet), name: wallet, role };
    };
    return this.signIn(exchange, 'wallet', authenticate, wish);
  }

  /** Signs in by a link that works once. @throws HttpProblem 403; DatabaseUnavailableError */
  async signInByLink(exchange: RequestAndReply, token: string): Promise<SessionBody> {
    const tokenHash = hashToken(token);
    const used = tokenHash && (await this.links.use(tokenHash, this.clock.nowMs()));
    if (used === undefined) {
      const problem = signInProblem('LINK_CLOSED');
      await this.audit.noteRefused(problem, { by: 'link', from: exchange.request.ip });
      throw problem;
    }
    return this.open(exchange, used, { by: 'link', standing: used.standing });
  }

  /** The partner of an open invitation. @throws HttpProblem 403; DatabaseUnavailableError */
  async invitingPartner(token: string): Promise<InvitingPartnerBody> {
    const { partnerId: id, partnerName: name } = await this.openInvitation(hashToken(token));
    return { partner: { id, name } };
  }

  /** Switches the session to another partner of the person. @throws HttpProblem 403; DatabaseUnavailableError */
  async choosePartner(session: CurrentSession, text: string): Promise<SessionBody> {
    const partnerId = parsePartnerId(text);
    if (partnerId === undefined || !(await this.sessions.choosePartner(session, partnerId))) {
      throw signInProblem('NOT_A_MEMBER');
    }
    return this.bodyOf({ ...session, standing: { kind: 'partner', partnerId } });
  }

  async bodyOf(session: CurrentSession): Promise<SessionBody> {
    const { subject, name, standing, untilMs, freshUntilMs, token } = session;
    const shared = {
      ...{ name, subject, csrf: csrfTokenOf(token) },
      until: new Date(untilMs).toISOString(),
      freshUntil: new Date(freshUntilMs).toISOString(),
    };
    if (standing.kind === 'operator') {
      return { kind: 'operator', role: standing.role, partner: null, partners: [], ...shared };
    }
    const found = await this.members.partnersOf(subject);
    const partners = found.map(({ partnerId: id, partnerName }) => ({ id, name: partnerName }));
    const partner = partners.find(({ id }) => id === standing.partnerId) ?? null;
    return { kind: 'partner', role: null, partner, partners, ...shared };
  }

  private async open(
    { request, reply }: RequestAndReply,
    person: Person & { readonly authenticatedAtMs?: number | undefined },
    { by, standing }: { readonly by: SignInNote['by']; readonly standing: Standing },
  ): Promise<SessionBody> {
    const { subject, name, authenticatedAtMs } = person;
    const opening = { subject, name: shownName(name), authenticatedAtMs, standing };
    const who = standing.kind === 'operator' ? actorOf(person) : standing.partnerId;
    // The audit row is written before the session opens, so that no operator has a session without an audit row.
    if (standing.kind === 'operator') {
      await this.audit.note(who, { by, from: request.ip, role: standing.role });
      await this.rights.learn(subject, standing.role);
    }
    const session = await this.sessions.open(request, reply, opening);
    this.logger.info({ kind: standing.kind, who }, 'Signed in');
    return this.bodyOf(session);
  }

  /**
   * Accepts an invitation, if given. Otherwise a member of several partners keeps the partner of the current session.
   */
  private async partnerStanding(
    { request }: RequestAndReply,
    { subject, name }: Person,
    invitation: string | undefined,
  ): Promise<Standing> {
    if (invitation !== undefined) {
      const tokenHash = hashToken(invitation);
      await this.openInvitation(tokenHash);
      const person = { subject, name: shownName(name) };
      const nowMs = this.clock.nowMs();
      const partnerId = tokenHash && (await this.invitations.accept(tokenHash, person, nowMs));
      if (partnerId === undefined) throw signInProblem('INVITATION_CLOSED');
      return { kind: 'partner', partnerId };
    }
    const partners = (await this.members.partnersOf(subject)).map(({ partnerId }) => partnerId);
    const current = (await this.sessions.find(request, { isUse: false }))?.standing;
    const kept = current?.kind === 'partner' ? current.partnerId : undefined;
    const partnerId = partners.find((one) => one === kept) ?? partners[0];
    if (partnerId === undefined) throw signInProblem('NOT_A_MEMBER');
    return { kind: 'partner', partnerId };
  }

  /** An invitation that can be accepted, by an operator who may still invite. @throws HttpProblem 403 */
  private async openInvitation(tokenHash: Buffer | undefined): Promise<InvitingPartner> {
    const found = tokenHash && (await this.invitations.find(tokenHash, this.clock.nowMs()));
    if (found === undefined) throw signInProblem('INVITATION_CLOSED');
    const { inviter } = found;
    const role = inviter === null ? 'admin' : await this.rights.find(inviter);
    if (role === undefined || !mayActAs(role, 'admin')) throw signInProblem('INVITATION_CLOSED');
    return found;
  }
}

function operatorStanding(
  { role, roleUnknown, name }: Authenticated,
  by: 'wallet' | 'oidc',
): Standing {
  if (role !== undefined) return { kind: 'operator', role };
  throw roleUnknown === undefined ? notAnOperator(by, name) : signInProblem(roleUnknown);
}

const LONGEST_NAME = 255;

/**
 * The name as the table stores it and as pages show it beside actions to approve: without characters that hide
 * something or turn the text, and at most LONGEST_NAME characters long.
 */
function shownName(name: string): string {
  return Array.from(withoutInvisible(name)).slice(0, LONGEST_NAME).join('');
}
