/**
 * Rate limits by the generic cell rate algorithm: of each key one number is kept, the time at which its bucket will be full
 * again. The same arithmetic is in `redis-rate-limiter.ts` as a script of Redis, and a property test holds the two against each other.
 *
 * A request may weigh more than one: a replica that holds the m-th part of a limit counts each request m times, which makes rate
 * and burst the m-th part while what is owed stays in milliseconds of the whole limit. A request that stands for several, as a batch
 * does, is counted as so many, all of them or none.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { type Clock } from '#libs/platform';

/** Sums of fractions of milliseconds are off by a little; a request is not refused for that. */
const EPSILON_MS = 1e-3;

/** Times in Unix milliseconds are rounded, at each request anew: what is ahead by so little more is no sign of anything. */
const ROUNDING_MS = 1000;

/** Callers remembered at once, about 10 MB; the one that was silent longest is forgotten first. */
export const MAX_CALLERS = 50_000;

/** How fast one caller may go. */
export interface RatePolicy {
  /** Requests per second in the long run. */
  readonly rate: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

/** What the limiter says to one request; the figures are sent as `X-RateLimit-*`. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** The policy's burst. */
  readonly limit: number;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Until `remaining` equals `limit` again. */
  readonly resetSeconds: number;
  /** Until the next request is allowed; 0 where this one is. */
  readonly retryAfterSeconds: number;
}

/** Counts requests per key. In this process, or shared between replicas. */
export interface RateLimiter {
  /** @param count how many requests it stands for; default 1 */
  take(key: string, policy: RatePolicy, count?: number): RateVerdict | Promise<RateVerdict>;
  /** Undoes a `take` of one request. */
  giveBack(key: string, policy: RatePolicy): void | Promise<void>;
}

/** Counts in this process. A full bucket needs no entry, so forgetting old keys costs nothing. */
export class MemoryRateLimiter implements RateLimiter {
  private readonly fullAtMs: LRUCache<string, number>;

  constructor(
    private readonly clock: Clock,
    maxCallers = MAX_CALLERS,
  ) {
    this.fullAtMs = new LRUCache({ max: maxCallers });
  }

  take(key: string, policy: RatePolicy, count = 1): RateVerdict {
    const nowMs = this.clock.nowMs();
    const aheadMs = (this.fullAtMs.get(key) ?? 0) - nowMs;
    const taken = takeFrom(believableMs(aheadMs, policy), policy, { count });
    if (taken.allowed) this.fullAtMs.set(key, nowMs + taken.owedMs);
    return verdictOf(policy, taken, { count });
  }

  giveBack(key: string, { rate }: RatePolicy): void {
    const fullAtMs = this.fullAtMs.get(key);
    if (fullAtMs !== undefined) this.fullAtMs.set(key, fullAtMs - 1000 / rate);
  }
}

export interface Taken {
  readonly allowed: boolean;
  /** Until the bucket is full again, this request included where it is allowed. */
  readonly owedMs: number;
}

/** How long a whole burst is owed. */
export function capacityMsOf({ rate, burst }: RatePolicy): number {
  return (1000 / rate) * burst;
}

/**
 * What is owed where the bucket will be full so far ahead of now. No caller can owe more than a whole bucket: the clock was
 * set back, and that locks no caller out.
 */
function believableMs(aheadMs: number, policy: RatePolicy): number {
  const capacityMs = capacityMsOf(policy);
  if (aheadMs > capacityMs + ROUNDING_MS) return 0;
  return Math.min(capacityMs, Math.max(0, aheadMs));
}

/** What is asked of a bucket; each is 1 where it is absent. */
interface Asked {
  /** What a request weighs. */
  readonly weight?: number;
  /** How many requests it stands for. */
  readonly count?: number;
}

export function takeFrom(owedMs: number, policy: RatePolicy, asked: Asked = {}): Taken {
  const { costMs, capacityMs } = measures(policy, asked);
  const allowed = owedMs + costMs <= capacityMs + EPSILON_MS;
  return { allowed, owedMs: allowed ? owedMs + costMs : owedMs };
}

/** @param asked `waitMs`: during which what is owed does not become less */
export function verdictOf(
  policy: RatePolicy,
  { allowed, owedMs }: Taken,
  asked: Asked & { readonly waitMs?: number } = {},
): RateVerdict {
  const { waitMs = 0 } = asked;
  const { requestMs, costMs, capacityMs } = measures(policy, asked);
  return {
    allowed,
    limit: policy.burst,
    remaining: Math.max(0, Math.floor((capacityMs - owedMs + EPSILON_MS) / requestMs)),
    resetSeconds: Math.ceil((owedMs + waitMs) / 1000),
    retryAfterSeconds: allowed
      ? 0
      : Math.max(1, Math.ceil((owedMs + costMs - capacityMs + waitMs) / 1000)),
  };
}

interface Measures {
  readonly requestMs: number;
  readonly costMs: number;
  readonly capacityMs: number;
}

/** However small the part: one request can be had of it. */
function measures(policy: RatePolicy, { weight = 1, count = 1 }: Asked): Measures {
  const requestMs = (1000 / policy.rate) * weight;
  const capacityMs = Math.max(capacityMsOf(policy), requestMs);
  return { requestMs, costMs: requestMs * count, capacityMs };
}

const UNKNOWN = 'unknown';
/** Longer is no address, with a zone or a port either. */
const LONGEST = 128;

/**
 * The key under which a client address is limited. An IPv4 address counts alone, however it is written. One subscriber of IPv6 holds a
 * whole /64, and one customer of a provider up to a /48 (RFC 6177): the /64 is the key here, the /48 that of `siteKey`. What is no address
 * at all, as a proxy may pass it on, shares one key: texts that a client makes up must not each have a limit of their own.
 */
export function addressKey(address: string | undefined): string {
  const found = parse(address);
  return typeof found === 'string' ? found : prefixOf(found, 4);
}

/** Of an IPv6 address its /48; undefined for all others, which have no wider network that would be one client's. */
export function siteKey(address: string | undefined): string | undefined {
  const found = parse(address);
  return typeof found === 'string' ? undefined : prefixOf(found, 3);
}

/** An IPv4 address as it is written, the eight groups of an IPv6 one, or UNKNOWN. */
function parse(address = ''): string | readonly number[] {
  if (address.length > LONGEST) return UNKNOWN;
  const text = withoutPort(address.trim());
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return UNKNOWN;
  const groups = groupsOf(text);
  return mappedOf(groups) ?? groups;
}

/** Some proxies add the port, `192.0.2.1:443` or `[2001:db8::1]:443`; a zone names an interface of the server's own. */
function withoutPort(text: string): string {
  const bracketed = /^\[(.*)\](?::\d{1,5})?$/.exec(text)?.[1];
  const bare = bracketed ?? /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return bare.replace(/%.*$/, '');
}

function groupsOf(address: string): number[] {
  const [left = '', right] = address.split('::');
  const [head, tail] = [numbersOf(left), right === undefined ? [] : numbersOf(right)];
  return [...head, ...Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail];
}

/** A dotted tail stands for two groups. */
function numbersOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** The socket writes an IPv4 client as an IPv6 one, `::ffff:192.0.2.1` (RFC 4291, 2.5.5.2), and others may in hex. */
function mappedOf(groups: readonly number[]): string | undefined {
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) return undefined;
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}

function prefixOf(groups: readonly number[], count: number): string {
  const prefix = groups.slice(0, count).map((group) => group.toString(16));
  return `${prefix.join(':')}::/${count * 16}`;
}
