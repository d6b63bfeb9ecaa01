import { randomBytes } from 'node:crypto';
import { parseSiwe, type WalletSignatures } from '#libs/chain';
import { type NonceStore, type SessionStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { UserError } from '../http/user.error.js';
import { hashSessionToken, mintSessionToken } from './session-token.js';
import { NONCE_TTL_MS, refusal, signInFault, type SignInRules } from './sign-in-fault.js';

export interface AuthParts {
  readonly nonces: NonceStore;
  readonly sessions: SessionStore;
  readonly signatures: Pick<WalletSignatures, 'isSignedBy'>;
  readonly clock: Clock;
}

export interface SignedMessage {
  /** EIP-4361. */
  readonly message: string;
  readonly signature: string;
}

export interface NewSession {
  /** Shown this once. */
  readonly token: string;
  readonly wallet: Address;
  readonly expiresAt: string;
}

/** Sign-In with Ethereum (EIP-4361). */
export class AuthService {
  constructor(
    private readonly parts: AuthParts,
    private readonly rules: SignInRules & { readonly sessionTtlSeconds: number },
  ) {}

  /** @throws DatabaseUnavailableError */
  async issueNonce(): Promise<{ readonly nonce: string; readonly expiresAt: string }> {
    const nonce = randomBytes(16).toString('hex');
    const expiresAtMs = this.parts.clock.nowMs() + NONCE_TTL_MS;
    await this.parts.nonces.issue(nonce, expiresAtMs);
    return { nonce, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /**
   * The nonce is taken last: where the chain cannot be asked about a contract wallet, the same message may be sent again.
   * @throws UserError 400, 401; AllEndpointsFailedError; DatabaseUnavailableError
   */
  async verify({ message: text, signature }: SignedMessage): Promise<NewSession> {
    const { nonces, sessions, signatures, clock } = this.parts;
    const message = parseSiwe(text);
    if (message === undefined) {
      throw UserError.badRequest('message', 'message must be an EIP-4361 message of version 1.');
    }
    const fault = signInFault(message, this.rules, clock.nowMs());
    if (fault !== undefined) throw fault;
    const { wallet, nonce } = message;
    if (!(await signatures.isSignedBy(wallet, text, signature))) {
      throw refusal('SIGNATURE', 'The signature is not this wallet’s signature of this message.');
    }
    if (!(await nonces.use(nonce, clock.nowMs()))) {
      throw refusal('NONCE', 'The nonce was used, has expired or is not ours. Ask for a new one.');
    }
    const token = mintSessionToken();
    const expiresAtMs = clock.nowMs() + this.rules.sessionTtlSeconds * 1000;
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
    await this.parts.sessions.close(tokenHash);
  }
}
