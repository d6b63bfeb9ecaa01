import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { SessionStore } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { SiweVerifier } from '#libs/sign-in';
import { RedemptionSettings } from '../redemption.env.js';
import { type SessionBody, type SignedMessage } from './auth.dto.js';

const BEARER = /^Bearer (svct_[A-Za-z0-9_-]{43})$/i;

/** The bearer token of a session: opaque, unguessable, and known by its hash only. */
export function mintSessionToken(): string {
  return `svct_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256: the token has 256 random bits, so a slow hash would add nothing. */
export function hashSessionToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** @param header Authorization, whatever was sent; undefined where it does not hold a token of ours */
export function bearerHash(header: string | undefined): Buffer | undefined {
  const token = BEARER.exec(header ?? '')?.[1];
  return token === undefined ? undefined : hashSessionToken(token);
}

/** Opens and ends the sessions of wallets. */
@Injectable()
export class AuthService {
  constructor(
    private readonly siwe: SiweVerifier,
    private readonly sessions: SessionStore,
    private readonly settings: RedemptionSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws HttpProblem 400, 401; AllEndpointsFailedError; DatabaseUnavailableError */
  async verify({ message, signature }: SignedMessage): Promise<SessionBody> {
    const { wallet, domain } = await this.siwe.verify(message, signature);
    const token = mintSessionToken();
    const expiresAtMs = this.clock.nowMs() + this.settings.sessionTtlSeconds * 1000;
    await this.sessions.open({
      tokenHash: hashSessionToken(token),
      ...{ wallet, domain, expiresAtMs },
    });
    return { token, wallet, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /** Ends the session; where there is none, that is done already. */
  async logOut(tokenHash: Buffer): Promise<void> {
    await this.sessions.close(tokenHash);
  }
}
