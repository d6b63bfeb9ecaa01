import { type SiweMessage } from '#libs/chain';
import { UserError } from '../http/user.error.js';

export interface SignInRules {
  /** Hosts with their ports, in lower case. */
  readonly domains: readonly string[];
  readonly chainId: number;
}

/** How far a user's clock may be from ours. */
const CLOCK_MS = 5 * 60_000;
/** How long a message may have waited for its signature; its nonce is good no longer. */
export const NONCE_TTL_MS = 5 * 60_000;

/** Why the message does not sign anybody in here and now, its signature and nonce aside; undefined where it would. */
export function signInFault(
  message: SiweMessage,
  { domains, chainId }: SignInRules,
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
export function refusal(part: string, message: string): UserError {
  return new UserError(401, `SIWE_${part}`, message);
}
