import { type LookupFunction } from 'node:net';
import { type Clock } from '../../clock.js';
import { type DeductionJournal } from './books.js';

export interface ConformanceOptions {
  /** http or https, with the path in front of the four endpoints; no query, user or fragment. */
  readonly baseUrl: string;
  /** What the service sends in X-API-KEY. */
  readonly apiKey: string;
  readonly sharedSecret: string;
  /** A player with some points, of whom nothing else is moved meanwhile. `0x` and 40 hex digits. */
  readonly address: string;
  /** A player with none: tried if it is given. */
  readonly emptyAddress?: string;
  /** Default: true. False for a partner that does not offer POST /confirm-redemption. */
  readonly hasConfirm?: boolean;
  /** Whether one point may be spent to confirm a claim, which a careful partner never gives back. Default: true. */
  readonly mayClaim?: boolean;
  /** Where the player has more, the checks that deduct the whole balance are left undone. Default: any. */
  readonly maxPoints?: number;
  /** Where deductions are written down outside of this process. Default: nowhere. */
  readonly journal?: DeductionJournal;
  /** For whole answers. Default: the service's own, 10 s for reads and 15 s for the rest. */
  readonly timeoutMs?: number;
  /** After this no new check is begun. Default: 120 s. */
  readonly maxRunMs?: number;
  /** Finds the addresses of the base URL's name. Default: the system's. */
  readonly lookup?: LookupFunction;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Ends the run early; what was deducted is given back first. */
  readonly signal?: AbortSignal;
  /** Abandons giving back too. */
  readonly abandon?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly judged: number;
  readonly checks: number;
  readonly calls: number;
  /** What is being done, in a few words. */
  readonly now: string;
}

/** The options cannot be meant: says which and how to mend it, and shows no secret. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
  readonly code = 'INVALID_OPTIONS';
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** What a header carries unchanged. */
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

/** Whether plain http to it stays on this machine. */
export function isThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
