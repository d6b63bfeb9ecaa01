/** Sign-In with Ethereum (EIP-4361): nonce, message and signature, for all programs that sign wallets in. */
import { randomBytes } from 'node:crypto';
import { isSignedByAccount, parseSiwe, type SiweMessage } from '#libs/chain';
import { type NonceStore } from '#libs/db';
import { type Address, isUnheldAddress } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';

/** Tolerated difference between a person's clock and ours. */
const CLOCK_MS = 5 * 60_000;
/**
 * How long a message may wait for its signature, from the nonce on. An account signs at once; the owners of a contract
 * wallet sign one after the other, or send a transaction each.
 */
const ACCOUNT_MS = 5 * 60_000;
const CONTRACT_MS = 30 * 60_000;

const MESSAGES = {
  SIWE_DOMAIN: 'The message is for another site: its domain is not one of ours.',
  SIWE_URI: 'The message is for another site: its URI is not on one of ours.',
  SIWE_CHAIN_ID: 'The message is for another chain.',
  SIWE_EXPIRED: 'The message has expired. Sign a new one.',
  SIWE_NOT_BEFORE: 'The message is not valid yet.',
  SIWE_ISSUED_AT: 'Issued At is not now. Check the clock of this device and sign a new message.',
  SIWE_WALLET:
    'The address in the message belongs to a chain or to a contract, and cannot sign in.',
  SIWE_SIGNATURE: 'The signature is not this wallet’s signature of this message.',
  SIWE_NONCE: 'The nonce was used or is not ours, or the time for signing is over.',
} as const;
type SiweCode = keyof typeof MESSAGES;

/** Codes of a 401, one for each part of a message that can be wrong. */
export const SIWE_CODES = Object.keys(MESSAGES) as readonly SiweCode[];

/** A site where wallets sign in, and the check of their signatures. */
export interface SiweSite {
  /** Hosts with their ports, in lower case. */
  readonly domains: readonly string[];
  /** Whether a page belongs to the site. The verifier has already refused a URL with a user part. */
  readonly hasPage: (page: URL) => boolean;
  /** Undefined: any chain. */
  readonly chainId?: number;
  /** The installation's own contracts. Default: none. */
  readonly contracts?: () => Promise<readonly Address[]>;
  /** Whether a contract wallet has signed, by the chain. Absent: only accounts sign in. */
  readonly isSignedByContract?: (
    wallet: Address,
    text: string,
    signature: string,
  ) => Promise<boolean>;
}

export interface SignedIn {
  readonly wallet: Address;
  readonly domain: string;
}

export class SiweVerifier {
  /** Lifetime of a nonce in the database. */
  private readonly longestMs: number;

  constructor(
    private readonly nonces: NonceStore,
    private readonly site: SiweSite,
    private readonly clock: Clock,
  ) {
    this.longestMs = site.isSignedByContract === undefined ? ACCOUNT_MS : CONTRACT_MS;
  }

  /** @throws DatabaseUnavailableError */
  async issueNonce(): Promise<{ readonly nonce: string; readonly expiresAt: string }> {
    const nonce = randomBytes(16).toString('hex');
    const expiresAtMs = this.clock.nowMs() + this.longestMs;
    await this.nonces.issue(nonce, expiresAtMs);
    return { nonce, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  /**
   * Verifies a message and its signature. A message without an open nonce costs no question to the chain. With an open
   * nonce an old message is one of a wrong clock, without one it is one that was signed too late. The nonce is used
   * last, so that the same message can be sent again where the signature could not be checked.
   * @returns the wallet that signed, and the domain of the site that the message is for
   * @throws HttpProblem 400, 401; AllEndpointsFailedError; DatabaseUnavailableError
   */
  async verify(text: string, signature: string): Promise<SignedIn> {
    const { nonces, site, clock, longestMs } = this;
    const message = parseSiwe(text);
    if (message === undefined) {
      throw HttpProblem.badRequest('message', 'message must be an EIP-4361 message of version 1.');
    }
    const fault = faultOf(message, site, clock.nowMs());
    if (fault !== undefined) throw refusal(fault);
    const { wallet, nonce, domain } = message;
    const isAccount = await isSignedByAccount(wallet, text, signature);
    const limitMs = isAccount ? ACCOUNT_MS : longestMs;
    // The nonce of an account ends earlier than the database has it.
    const nonceTimeMs = (): number => clock.nowMs() + longestMs - limitMs;
    if (!(await nonces.isOpen(nonce, nonceTimeMs()))) throw nonceRefusal(limitMs);
    if (!isNow(message, clock.nowMs(), limitMs)) throw refusal('SIWE_ISSUED_AT');
    if (isUnheldAddress(wallet, await site.contracts?.())) throw refusal('SIWE_WALLET');
    const isSigned = isAccount || (await site.isSignedByContract?.(wallet, text, signature));
    if (isSigned !== true) throw refusal('SIWE_SIGNATURE');
    if (!(await nonces.use(nonce, nonceTimeMs()))) throw nonceRefusal(limitMs);
    return { wallet, domain: domain.toLowerCase() };
  }
}

/** The fault of a message by its fields other than nonce and `Issued At`; undefined where there is none. */
function faultOf(message: SiweMessage, site: SiweSite, nowMs: number): SiweCode | undefined {
  const { domain, uri, expiresAtMs = Infinity, notBeforeMs = -Infinity } = message;
  if (!site.domains.includes(domain.toLowerCase())) return 'SIWE_DOMAIN';
  if (!isPageOf(site, uri)) return 'SIWE_URI';
  if (site.chainId !== undefined && message.chainId !== site.chainId) return 'SIWE_CHAIN_ID';
  if (nowMs >= expiresAtMs) return 'SIWE_EXPIRED';
  return nowMs < notBeforeMs ? 'SIWE_NOT_BEFORE' : undefined;
}

function isNow({ issuedAtMs }: SiweMessage, nowMs: number, limitMs: number): boolean {
  return issuedAtMs <= nowMs + CLOCK_MS && issuedAtMs >= nowMs - limitMs - CLOCK_MS;
}

/** Refuses a URI with a user part, which a wallet would show before the host, as if it were the site. */
function isPageOf(site: SiweSite, uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const page = new URL(uri);
  return page.username === '' && page.password === '' && site.hasPage(page);
}

function refusal(code: SiweCode, more = ''): HttpProblem {
  return new HttpProblem(401, `${MESSAGES[code]}${more}`, { code });
}

function nonceRefusal(limitMs: number): HttpProblem {
  const minutes = limitMs / 60_000;
  return refusal('SIWE_NONCE', ` Sign within ${minutes} minutes after you asked for it.`);
}
