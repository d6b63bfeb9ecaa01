import { createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { parseSiwe, type SiweMessage, WalletSignatures } from '#libs/chain';
import { NonceStore, SessionStore } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { UserError } from '../http/user.error.js';
import { RedemptionSettings } from '../redemption.env.js';
import { type NonceBody, type SessionBody, type SignedMessage } from './auth.dto.js';

/** How far a user's clock may be from ours. */
const CLOCK_MS = 5 * 60_000;
/** How long a message may have waited for its signature; its nonce is good no longer. */
const NONCE_TTL_MS = 5 * 60_000;

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

/** Sign-In with Ethereum (EIP-4361). */
@Injectable()
export class AuthService {
  constructor(
    private readonly nonces: NonceStore,
    private readonly sessions: SessionStore,
    private readonly signatures: WalletSignatures,
    private readonly settings: RedemptionSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws DatabaseUnavailableError */
  async issueNonce(): Promise<NonceBody> {
    const nonce = randomBytes(16).toString('hex');
    const expiresAtMs = this.clock.nowMs() + NONCE_TTL_MS;
    await this.nonces.issue(nonce, expiresAtMs);
    return { nonce, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /**
   * The nonce is taken last: where the chain cannot be asked about a contract wallet, the same message may be sent again.
   * @throws UserError 400, 401; AllEndpointsFailedError; DatabaseUnavailableError
   */
  async verify({ message: text, signature }: SignedMessage): Promise<SessionBody> {
    const { nonces, sessions, signatures, settings, clock } = this;
    const message = parseSiwe(text);
    if (message === undefined) {
      throw UserError.badRequest('message', 'message must be an EIP-4361 message of version 1.');
    }
    const fault = signInFault(message, settings, clock.nowMs());
    if (fault !== undefined) throw fault;
    const { wallet, nonce } = message;
    if (!(await signatures.isSignedBy(wallet, text, signature))) {
      throw refusal('SIGNATURE', 'The signature is not this wallet’s signature of this message.');
    }
    if (!(await nonces.use(nonce, clock.nowMs()))) {
      throw refusal('NONCE', 'The nonce was used, has expired or is not ours. Ask for a new one.');
    }
    const token = mintSessionToken();
    const expiresAtMs = clock.nowMs() + settings.sessionTtlSeconds * 1000;
    await sessions.open({
      tokenHash: hashSessionToken(token),
      wallet,
      domain: message.domain.toLowerCase(),
      expiresAtMs,
    });
    return { token, wallet, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /** Ends the session; where there is none, that is done already. */
  async logOut(tokenHash: Buffer): Promise<void> {
    await this.sessions.close(tokenHash);
  }
}

/** Why the message does not sign its wallet in here and now, its signature and nonce aside; undefined where it does. */
function signInFault(
  message: SiweMessage,
  { siweDomains: domains, chainId }: RedemptionSettings,
  nowMs: number,
): UserError | undefined {
  const { domain, uri, issuedAtMs, expiresAtMs = Infinity, notBeforeMs = -Infinity } = message;
  if (!domains.includes(domain.toLowerCase())) {
    return refusal('DOMAIN', 'The message is for another site: its domain is not one of ours.');
  }
  if (!isOurs(uri, domains)) {
    return refusal('URI', 'The message is for another site: its URI is not on one of ours.');
  }
  if (message.chainId !== chainId) {
    return refusal('CHAIN_ID', `The message is for another chain: Chain ID must be ${chainId}.`);
  }
  if (nowMs >= expiresAtMs) return refusal('EXPIRED', 'The message has expired. Sign a new one.');
  if (nowMs < notBeforeMs) return refusal('NOT_BEFORE', 'The message is not valid yet.');
  if (issuedAtMs > nowMs + CLOCK_MS || issuedAtMs < nowMs - NONCE_TTL_MS - CLOCK_MS) {
    return refusal(
      'ISSUED_AT',
      'Issued At is not now. Check the clock of this device and sign a new message.',
    );
  }
  return undefined;
}

/** With a user in front of its host, a wallet would show its user another site first. */
function isOurs(uri: string, domains: readonly string[]): boolean {
  if (!URL.canParse(uri)) return false;
  const { host, username, password } = new URL(uri);
  return domains.includes(host) && username === '' && password === '';
}

/** 401 with a code that says which part was wrong. */
function refusal(part: string, message: string): UserError {
  return new UserError(401, `SIWE_${part}`, message);
}
