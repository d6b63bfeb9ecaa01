import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type PartnerId } from '#libs/domain';
import {
  type ConsoleSession,
  ConsoleSessionStore,
  type OperatorRole,
  type Person,
  type Standing,
} from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { ConsoleSettings } from '../console.env.js';
import { SessionCookie } from '../http/session-cookie.js';
import { roleNow } from './operators.js';
import { SESSION_HOURS } from './session-hours.js';
import { hashToken, newToken } from '#libs/signing';

export const FRESH_MS = 5 * 60_000;
/** Sessions may confirm redemptions and show secrets: half an hour without use is a desk that was left. */
const IDLE_MS = 30 * 60_000;
const LIFE_MS = SESSION_HOURS * 3_600_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `Sessions.find`, which looks a session up once per request. */
    consoleSession?: CurrentSession;
  }
}

/** The session of a request. `standing` holds what the person may do now, which may be less than at the sign-in. */
export interface CurrentSession extends Person {
  readonly tokenHash: Buffer;
  readonly standing: Standing;
  /** The session token. `csrfTokenOf` derives the value of the header X-CSRF-Token from it. */
  readonly token: string;
  /** Unix time in milliseconds at which the session ends unless it is used before. */
  readonly untilMs: number;
  readonly freshUntilMs: number;
}

/** A person who has just authenticated. */
export interface NewSession extends Person {
  readonly standing: Standing;
  /** Unix time in milliseconds. Default: now. An issuer of OpenID Connect may have authenticated the person earlier. */
  readonly authenticatedAtMs?: number | undefined;
}

/** The sessions of operators and partner members: a row of console.session and a cookie each. */
@Injectable()
export class Sessions {
  private readonly cookie: SessionCookie;

  constructor(
    private readonly store: ConsoleSessionStore,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.cookie = new SessionCookie('console', settings.consoleOrigin);
  }

  /**
   * Opens a session under a new token, and closes the previous session of the browser.
   * @throws DatabaseUnavailableError
   */
  async open(
    request: FastifyRequest,
    reply: FastifyReply,
    opening: NewSession,
  ): Promise<CurrentSession> {
    const { standing, subject, name, authenticatedAtMs } = opening;
    const { token, tokenHash } = newToken();
    const nowMs = this.clock.nowMs();
    const expiresAtMs = nowMs + LIFE_MS;
    const session = await this.store.open({
      ...{ tokenHash, standing, subject, name, nowMs, authenticatedAtMs, expiresAtMs },
    });
    const before = hashToken(this.cookie.read(request));
    if (before !== undefined) await this.store.close(before);
    this.cookie.set(reply, token, LIFE_MS / 1000);
    return this.currentOf(session, token, tokenHash);
  }

  /** The session token in the request's cookie. Whether a session with this token exists is not checked. */
  tokenOf(request: FastifyRequest): string | undefined {
    return this.cookie.read(request);
  }

  /**
   * Finds the session of a request, and prolongs it where `isUse` is true.
   * @param isUse whether a user action caused the request
   * @returns undefined where no session has the token, the session has ended, or its person has no rights any more
   * @throws DatabaseUnavailableError
   */
  async find(
    request: FastifyRequest,
    { isUse }: { isUse: boolean },
  ): Promise<CurrentSession | undefined> {
    if (request.consoleSession !== undefined) return request.consoleSession;
    const token = this.cookie.read(request);
    const tokenHash = hashToken(token);
    if (token === undefined || tokenHash === undefined) return undefined;
    const nowMs = this.clock.nowMs();
    const found = await this.store.find(tokenHash, { nowMs, idleMs: IDLE_MS });
    if (found === undefined) return undefined;
    const standing = this.standingNow(found);
    if (standing === undefined) {
      await this.store.close(tokenHash);
      return undefined;
    }
    if (isUse) await this.store.see(tokenHash, nowMs);
    const seenAt = isUse ? new Date(nowMs) : found.seenAt;
    const session = this.currentOf({ ...found, seenAt, standing }, token, tokenHash);
    request.consoleSession = session;
    return session;
  }

  /** Switches a session to another partner. @returns false where the person is not a member of this partner */
  choosePartner({ tokenHash }: CurrentSession, partnerId: PartnerId): Promise<boolean> {
    return this.store.choosePartner(tokenHash, partnerId);
  }

  async close(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const tokenHash = hashToken(this.cookie.read(request));
    if (tokenHash !== undefined) await this.store.close(tokenHash);
    this.cookie.clear(reply);
  }

  private standingNow({ subject, standing }: ConsoleSession): Standing | undefined {
    if (standing.kind === 'partner') return standing;
    const role: OperatorRole | undefined = roleNow(subject, standing.role, this.settings);
    return role && { kind: 'operator', role };
  }

  private currentOf(session: ConsoleSession, token: string, tokenHash: Buffer): CurrentSession {
    const { subject, name, standing, seenAt, expiresAt, authenticatedAt } = session;
    const untilMs = Math.min(expiresAt.getTime(), seenAt.getTime() + IDLE_MS);
    const freshUntilMs = authenticatedAt.getTime() + FRESH_MS;
    return { subject, name, standing, token, tokenHash, untilMs, freshUntilMs };
  }
}
