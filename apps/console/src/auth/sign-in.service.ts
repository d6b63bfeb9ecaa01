import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import {
  InvitationStore,
  MemberStore,
  type OperatorRole,
  type Person,
  SignInLinkStore,
  type SignInNote,
  type Standing,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { hashToken } from '#libs/signing';
import { ConsoleSettings } from '../console.env.js';
import { csrfTokenOf } from '../http/session-cookie.js';
import { type InvitingPartnerBody, type SessionBody } from './auth.dto.js';
import { actorOf, walletSubject } from './operators.js';
import { type CurrentSession, Sessions } from './sessions.js';
import { SignInAudit } from './sign-in-audit.js';
import { notAnOperator, signInProblem } from './sign-in.problem.js';

/** The request and its answer, whose cookie becomes that of the new session. */
export interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A person who has just shown who they are, by a wallet or by OpenID Connect. */
export interface Authenticated extends Person {
  /** What they may do as an operator. */
  readonly role: OperatorRole | undefined;
  /** When they did, where that was not just now. */
  readonly authenticatedAtMs?: number | undefined;
}

/** As what they want to be signed in. */
export interface Wish {
  readonly kind: Standing['kind'];
  /** The token of an invitation to act for a partner. */
  readonly invitation?: string | undefined;
}

/** From a person who is known to a session: as an operator, or for a partner. */
@Injectable()
export class SignInService {
  constructor(
    private readonly sessions: Sessions,
    private readonly members: MemberStore,
    private readonly invitations: InvitationStore,
    private readonly links: SignInLinkStore,
    private readonly audit: SignInAudit,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * @param authenticate who it is; refused, it is a refused sign-in
   * @throws HttpProblem 403, and what `authenticate` throws; DatabaseUnavailableError
   */
  async signIn(
    exchange: Exchange,
    by: 'wallet' | 'oidc',
    authenticate: () => Promise<Authenticated>,
    wish: Wish,
  ): Promise<SessionBody> {
    let person: Authenticated | undefined;
    try {
      person = await authenticate();
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

  /** @param verify the account that has signed. @throws HttpProblem 400, 401, 403; DatabaseUnavailableError */
  signInByWallet(
    exchange: Exchange,
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

  /** By a link that signs in once. @throws HttpProblem 403; DatabaseUnavailableError */
  async signInByLink(exchange: Exchange, token: string): Promise<SessionBody> {
    const tokenHash = hashToken(token);
    const used = tokenHash && (await this.links.use(tokenHash, this.clock.nowMs()));
    if (used === undefined) {
      const problem = signInProblem('LINK_CLOSED');
      await this.audit.noteRefused(problem, { by: 'link', from: exchange.request.ip });
      throw problem;
    }
    return this.open(exchange, used, { by: 'link', standing: used.standing });
  }

  /** The partner that invites. @throws HttpProblem 403; DatabaseUnavailableError */
  async invitingPartner(token: string): Promise<InvitingPartnerBody> {
    const tokenHash = hashToken(token);
    const found = tokenHash && (await this.invitations.find(tokenHash, this.clock.nowMs()));
    if (found === undefined) throw signInProblem('INVITATION_CLOSED');
    return { partner: { id: found.partnerId, name: found.partnerName } };
  }

  /** The same session for another partner. @throws HttpProblem 403; DatabaseUnavailableError */
  async choosePartner(session: CurrentSession, partnerId: string): Promise<SessionBody> {
    if (!(await this.sessions.choosePartner(session, partnerId))) {
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
    { request, reply }: Exchange,
    person: Person & { readonly authenticatedAtMs?: number | undefined },
    { by, standing }: { readonly by: SignInNote['by']; readonly standing: Standing },
  ): Promise<SessionBody> {
    const { subject, name, authenticatedAtMs } = person;
    const opening = { subject, name: shownName(name), authenticatedAtMs, standing };
    const who = standing.kind === 'operator' ? actorOf(person) : standing.partnerId;
    // Before the session: there is none that the log does not have.
    if (standing.kind === 'operator') {
      await this.audit.note(who, { by, from: request.ip, role: standing.role });
    }
    const session = await this.sessions.open(request, reply, opening);
    this.logger.info({ kind: standing.kind, who }, 'Signed in');
    return this.bodyOf(session);
  }

  /** Who is signed in for one of several partners already stays with it. */
  private async partnerStanding(
    { request }: Exchange,
    { subject, name }: Person,
    invitation: string | undefined,
  ): Promise<Standing> {
    if (invitation !== undefined) {
      const tokenHash = hashToken(invitation);
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
}

/** A wallet is told which account it is, and where operators are listed. */
function operatorStanding({ role, name }: Authenticated, by: 'wallet' | 'oidc'): Standing {
  if (role === undefined) throw notAnOperator(by, name);
  return { kind: 'operator', role };
}

const LONGEST_NAME = 255;

/** As the table keeps it; what people call themselves may be anything. */
function shownName(name: string): string {
  return Array.from(name.replaceAll('\0', '')).slice(0, LONGEST_NAME).join('');
}
