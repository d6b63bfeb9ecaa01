import { Inject, Injectable } from '@nestjs/common';
import { SessionStore } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { SiweVerifier } from '#libs/sign-in';
import { hashToken, newToken } from '#libs/signing';
import { type SessionBody, type SignedMessage } from './auth.dto.js';

/** A player signs in once a day, and a stolen session ends within a day. */
const SESSION_MS = 86_400_000;

/**
 * @param header Authorization, as it was sent
 * @returns undefined where the header does not hold a token of ours
 */
export function bearerHash(header: string | undefined): Buffer | undefined {
  return hashToken(/^Bearer (.+)$/i.exec(header ?? '')?.[1]);
}

@Injectable()
export class AuthService {
  constructor(
    private readonly siwe: SiweVerifier,
    private readonly sessions: SessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws HttpProblem 400, 401; AllEndpointsFailedError; DatabaseUnavailableError */
  async verify({ message, signature }: SignedMessage): Promise<SessionBody> {
    const { wallet, domain } = await this.siwe.verify(message, signature);
    const { token, tokenHash } = newToken();
    const expiresAtMs = this.clock.nowMs() + SESSION_MS;
    await this.sessions.open({ tokenHash, wallet, domain, expiresAtMs });
    return { token, wallet, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /** Ends the session; does nothing where there is none. */
  async logOut(tokenHash: Buffer): Promise<void> {
    await this.sessions.close(tokenHash);
  }
}
