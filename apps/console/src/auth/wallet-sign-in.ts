import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isSignedByAccount, parseSiwe, type SiweMessage } from '#libs/chain';
import { NonceStore } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';
import { type NonceBody } from './auth.dto.js';
import { walletSubject } from './operators.js';
import { siweProblem } from './sign-in.problem.js';
import { type Authenticated } from './sign-in.service.js';

/** How far a person's clock may be from ours. */
const CLOCK_MS = 5 * 60_000;
/** How long a message may have waited for its signature. */
const NONCE_TTL_MS = 5 * 60_000;

/** Sign-In with Ethereum (EIP-4361), by accounts. No chain is asked, so that a lying node cannot sign in for another. */
@Injectable()
export class WalletSignIn {
  private readonly host: string;

  constructor(
    private readonly nonces: NonceStore,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.host = new URL(settings.consoleOrigin).host;
  }

  /** @throws DatabaseUnavailableError */
  async issueNonce(): Promise<NonceBody> {
    const nonce = randomBytes(16).toString('hex');
    const expiresAtMs = this.clock.nowMs() + NONCE_TTL_MS;
    await this.nonces.issue(nonce, expiresAtMs);
    return { nonce, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /** @throws HttpProblem 400, 401; DatabaseUnavailableError */
  async verify(text: string, signature: string): Promise<Authenticated> {
    const message = parseSiwe(text);
    if (message === undefined) {
      throw HttpProblem.badRequest('message', 'message must be an EIP-4361 message of version 1.');
    }
    this.requireCurrent(message);
    const { wallet, nonce } = message;
    if (!(await isSignedByAccount(wallet, text, signature))) {
      throw siweProblem(
        'SIGNATURE',
        'The signature is not this account’s signature of this message. Contract wallets cannot sign in here.',
      );
    }
    if (!(await this.nonces.use(nonce, this.clock.nowMs()))) {
      throw siweProblem('NONCE', 'The nonce was used, has expired or is not ours: sign again.');
    }
    const role = this.settings.operators?.get(wallet);
    return { subject: walletSubject(wallet), name: wallet, role };
  }

  private requireCurrent(message: SiweMessage): void {
    const { domain, uri, issuedAtMs, expiresAtMs = Infinity, notBeforeMs = -Infinity } = message;
    const nowMs = this.clock.nowMs();
    if (domain.toLowerCase() !== this.host || !this.isOwn(uri)) {
      throw siweProblem('DOMAIN', 'The message is for another site than this one.');
    }
    if (nowMs >= expiresAtMs || nowMs < notBeforeMs) {
      throw siweProblem('EXPIRED', 'The message has expired, or is not valid yet: sign again.');
    }
    if (issuedAtMs > nowMs + CLOCK_MS || issuedAtMs < nowMs - NONCE_TTL_MS - CLOCK_MS) {
      throw siweProblem('ISSUED_AT', 'Issued At is not now: check the clock of this device.');
    }
  }

  /** With a user in front of its host, a wallet would show its user another site first. */
  private isOwn(uri: string): boolean {
    if (!URL.canParse(uri)) return false;
    const { origin, username, password } = new URL(uri);
    return origin === this.settings.consoleOrigin && username === '' && password === '';
  }
}
