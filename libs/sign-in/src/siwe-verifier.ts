/** Sign-In with Ethereum (EIP-4361): the nonce, the message and its signature, for every program that signs wallets in. */
import { randomBytes } from 'node:crypto';
import { parseSiwe, type SiweMessage } from '#libs/chain';
import { type NonceStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';

/** How far a person's clock may be from ours. */
const CLOCK_MS = 5 * 60_000;
/** How long a message may have waited for its signature; its nonce is good no longer. */
const NONCE_TTL_MS = 5 * 60_000;

const MESSAGES = {
  SIWE_DOMAIN: 'The message is for another site: its domain is not one of ours.',
  SIWE_URI: 'The message is for another site: its URI is not on one of ours.',
  SIWE_CHAIN_ID: 'The message is for another chain.',
  SIWE_EXPIRED: 'The message has expired. Sign a new one.',
  SIWE_NOT_BEFORE: 'The message is not valid yet.',
  SIWE_ISSUED_AT: 'Issued At is not now. Check the clock of this device and sign a new message.',
  SIWE_SIGNATURE: 'The signature is not this wallet’s signature of this message.',
  SIWE_NONCE: 'The nonce was used, has expired or is not ours. Ask for a new one.',
} as const;
type SiweCode = keyof typeof MESSAGES;

/** Which part of a message was wrong, as the code of a 401. */
export const SIWE_CODES = Object.keys(MESSAGES) as readonly SiweCode[];

/** Where wallets sign in, and what counts as their signature. */
export interface SiweSite {
  /** Host and port, in lower case. */
  readonly domains: readonly string[];
  /** Whether a page, without a user in front of its host, is one of the site. */
  readonly hasPage: (page: URL) => boolean;
  /** Undefined: any. */
  readonly chainId?: number;
  readonly isSignedBy: (wallet: Address, text: string, signature: string) => Promise<boolean>;
}

export interface SignedIn {
  readonly wallet: Address;
  readonly domain: string;
}

export class SiweVerifier {
  constructor(
    private readonly nonces: NonceStore,
    private readonly site: SiweSite,
    private readonly clock: Clock,
  ) {}

  /** @throws DatabaseUnavailableError */
  async issueNonce(): Promise<{ readonly nonce: string; readonly expiresAt: string }> {
    const nonce = randomBytes(16).toString('hex');
    const expiresAtMs = this.clock.nowMs() + NONCE_TTL_MS;
    await this.nonces.issue(nonce, expiresAtMs);
    return { nonce, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /**
   * The nonce is taken last: where the signature cannot be judged now, the same message may be sent again.
   * @returns the wallet that signed, and for which of the domains
   * @throws HttpProblem 400, 401; AllEndpointsFailedError; DatabaseUnavailableError
   */
  async verify(text: string, signature: string): Promise<SignedIn> {
    const { nonces, site, clock } = this;
    const message = parseSiwe(text);
    if (message === undefined) {
      throw HttpProblem.badRequest('message', 'message must be an EIP-4361 message of version 1.');
    }
    const fault = faultOf(message, site, clock.nowMs());
    if (fault !== undefined) throw refusal(fault);
    const { wallet, nonce, domain } = message;
    if (!(await site.isSignedBy(wallet, text, signature))) throw refusal('SIWE_SIGNATURE');
    if (!(await nonces.use(nonce, clock.nowMs()))) throw refusal('SIWE_NONCE');
    return { wallet, domain: domain.toLowerCase() };
  }
}

/** Why the message does not sign its wallet in here and now, its signature and nonce aside. */
function faultOf(message: SiweMessage, site: SiweSite, nowMs: number): SiweCode | undefined {
  const { domain, uri, issuedAtMs, expiresAtMs = Infinity, notBeforeMs = -Infinity } = message;
  if (!site.domains.includes(domain.toLowerCase())) return 'SIWE_DOMAIN';
  if (!isPageOf(site, uri)) return 'SIWE_URI';
  if (site.chainId !== undefined && message.chainId !== site.chainId) return 'SIWE_CHAIN_ID';
  if (nowMs >= expiresAtMs) return 'SIWE_EXPIRED';
  if (nowMs < notBeforeMs) return 'SIWE_NOT_BEFORE';
  const isNow = issuedAtMs <= nowMs + CLOCK_MS && issuedAtMs >= nowMs - NONCE_TTL_MS - CLOCK_MS;
  return isNow ? undefined : 'SIWE_ISSUED_AT';
}

/** With a user in front of its host, a wallet would show its user another site first. */
function isPageOf(site: SiweSite, uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const page = new URL(uri);
  return page.username === '' && page.password === '' && site.hasPage(page);
}

function refusal(code: SiweCode): HttpProblem {
  return new HttpProblem(401, MESSAGES[code], { code });
}
