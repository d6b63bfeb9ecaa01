import { type LookupFunction } from 'node:net';
import { type Clock } from '../../clock.js';
import { type DeductionJournal } from './deduction-ledger.js';

export interface ConformanceOptions {
  /** http or https, with the path in front of the four endpoints; without query, user or fragment. */
  readonly baseUrl: string;
  /** The key that the service sends in X-API-KEY. */
  readonly apiKey: string;
  readonly sharedSecret: string;
  /** The wallet of a player with some points, `0x` and 40 hex digits. Only the run may move these points meanwhile. */
  readonly address: string;
  /** The wallet of a player without points. Absent: the check of such a player is skipped. */
  readonly emptyAddress?: string;
  /** False for a partner that does not offer POST /confirm-redemption. Default: true. */
  readonly hasConfirm?: boolean;
  /**
   * Whether one point may be spent to confirm a claim: a careful partner never gives that point back. Default: true.
   */
  readonly mayClaim?: boolean;
  /**
   * Greatest balance that may be deducted as a whole; above it the checks that do so are skipped. Default: no limit.
   */
  readonly maxPoints?: number;
  /** Records deductions outside of this process. Default: none. */
  readonly journal?: DeductionJournal;
  /** Timeout in milliseconds for a whole answer. Default: the service's, 10 s for reads and 15 s for other calls. */
  readonly timeoutMs?: number;
  /** Time in milliseconds after which no new check begins. Default: 120 s. */
  readonly maxRunMs?: number;
  /** Resolves the name in the base URL. Default: the resolver of the system. */
  readonly lookup?: LookupFunction;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** Ends the run early; the deducted points are given back first. */
  readonly signal?: AbortSignal;
  /** Also ends giving back. */
  readonly abandon?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly judged: number;
  readonly checks: number;
  readonly calls: number;
  /** The current activity, in a few words. */
  readonly now: string;
}

/** The options are unusable. The message says which one and how to mend it, and holds no secret. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly code = 'INVALID_OPTIONS';
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** Printable ASCII without blanks, which an HTTP header carries unchanged. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** @throws OptionsError */
export function requireUsable(options: ConformanceOptions): URL {
  const { apiKey, sharedSecret, address, emptyAddress } = options;
  const baseUrl = readBaseUrl(options.baseUrl);
  if (!HEADER_TEXT.test(apiKey)) {
    throw new OptionsError('The API key must be printable ASCII without blanks.');
  }
  if (sharedSecret === '') throw new OptionsError('The shared secret is empty.');
  if (!ADDRESS.test(address)) {
    throw new OptionsError('The address must be 0x and 40 hex digits: the wallet of a player.');
  }
  if (emptyAddress !== undefined && !ADDRESS.test(emptyAddress)) {
    throw new OptionsError('The empty address must be 0x and 40 hex digits.');
  }
  if (emptyAddress?.toLowerCase() === address.toLowerCase()) {
    throw new OptionsError('The empty address must be another one than the address.');
  }
  return baseUrl;
}

function readBaseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new OptionsError('The base URL is not a URL.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new OptionsError('The base URL must begin with https:// (or http:// on this machine).');
  }
  if (url.username !== '' || url.password !== '') {
    throw new OptionsError('The base URL must not have a user or a password in it.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new OptionsError('The base URL must not have a query or a fragment.');
  }
  return url;
}

/** Whether plain http to this URL stays on this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
