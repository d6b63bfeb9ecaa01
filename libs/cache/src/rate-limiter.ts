/**
 * Rate limits by the generic cell rate algorithm: each key has one number, the time at which its bucket will be full
 * again. `redis-rate-limiter.ts` has the same arithmetic as a Redis script, and a property test holds the two against
 * each other.
 *
 * A request has a weight: a process that holds the m-th part of a limit counts each request m times. That makes rate
 * and burst the m-th part. A request may also stand for several, as a batch does: it counts as that many requests, and
 * all of them are admitted or none.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { type Clock } from '#libs/platform';

/** Tolerance in milliseconds for rounded sums of fractions, so that rounding errors refuse no request. */
const EPSILON_MS = 1e-3;

/** Milliseconds by which rounding may lift a debt above a whole bucket; beyond them, the clock was set back. */
const ROUNDING_MS = 1000;

/** Callers remembered at once, about 10 MB; the least recently seen is forgotten first. */
const MAX_CALLERS = 50_000;

export interface RatePolicy {
  /** Requests per second in the long run. */
  readonly rate: number;
  /** Requests at once after a pause. */
  readonly burst: number;
}

/** Answer of the limiter to one request; the figures are sent as `X-RateLimit-*`. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** The policy's `burst`. */
  readonly limit: number;
  /** Number of requests that may follow at once. */
  readonly remaining: number;
  /** Seconds until `remaining` equals `limit` again. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed; 0 where this one is. */
  readonly retryAfterSeconds: number;
}

/** Counts requests per key, in this process or for all processes of a service. */
export interface RateLimiter {
  /** @param count number of requests that this one stands for; default 1 */
  take(key: string, policy: RatePolicy, count?: number): RateVerdict | Promise<RateVerdict>;
  giveBack(key: string, policy: RatePolicy): void | Promise<void>;
}

/**
 * Counts in this process, which holds one part of each limit, and of each at least one request. A full bucket needs no
 * entry, so forgetting keys that were idle for long changes nothing.
 */
export class MemoryRateLimiter implements RateLimiter {
  private readonly fullAtMs: LRUCache<string, number>;
  private readonly weight: number;

  /** @param options `replicas`: number of processes that divide each limit; default 1 */
  constructor(
    private readonly clock: Clock,
    { replicas = 1, maxCallers = MAX_CALLERS }: { replicas?: number; maxCallers?: number } = {},
  ) {
    this.weight = replicas;
    this.fullAtMs = new LRUCache({ max: maxCallers });
  }

  take(key: string, policy: RatePolicy, count = 1): RateVerdict {
    const asked = { weight: this.weight, count };
    const nowMs = this.clock.nowMs();
    const aheadMs = (this.fullAtMs.get(key) ?? 0) - nowMs;
    const taken = takeFrom(aheadMs, policy, asked);
    if (taken.allowed) this.fullAtMs.set(key, nowMs + taken.owedMs);
    return verdictOf(policy, taken, asked);
  }

  giveBack(key: string, { rate }: RatePolicy): void {
    const fullAtMs = this.fullAtMs.get(key);
    if (fullAtMs !== undefined) this.fullAtMs.set(key, fullAtMs - (1000 / rate) * this.weight);
  }
}

export interface Taken {
  readonly allowed: boolean;
  /** Milliseconds until the bucket is full again, including this request where it is allowed. */
  readonly owedMs: number;
}

/** The request that a bucket is to admit; each field is 1 where it is absent. */
interface Asked {
  /** Weight of each request. */
  readonly weight?: number;
  /** Number of requests that the request stands for. */
  readonly count?: number;
}

/**
 * Takes a request from a bucket that will be full `aheadMs` from now. A debt that exceeds a whole bucket by more than
 * `ROUNDING_MS` means that the clock was set back; it counts as 0, so that no caller is locked out.
 */
function takeFrom(aheadMs: number, policy: RatePolicy, asked: Asked): Taken {
  const { costMs, capacityMs } = measures(policy, asked);
  const owedMs =
    aheadMs > capacityMs + ROUNDING_MS ? 0 : Math.min(capacityMs, Math.max(0, aheadMs));
  const allowed = owedMs + costMs <= capacityMs + EPSILON_MS;
  return { allowed, owedMs: allowed ? owedMs + costMs : owedMs };
}

export function verdictOf(
  policy: RatePolicy,
  { allowed, owedMs }: Taken,
  asked: Asked,
): RateVerdict {
  const { requestMs, costMs, capacityMs } = measures(policy, asked);
  return {
    allowed,
    limit: policy.burst,
    remaining: Math.max(0, Math.floor((capacityMs - owedMs + EPSILON_MS) / requestMs)),
    resetSeconds: Math.ceil(owedMs / 1000),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((owedMs + costMs - capacityMs) / 1000)),
  };
}

interface Measures {
  readonly requestMs: number;
  readonly costMs: number;
  readonly capacityMs: number;
}

/** A part of a limit holds at least one request, however small the part is. */
function measures({ rate, burst }: RatePolicy, { weight = 1, count = 1 }: Asked): Measures {
  const requestMs = (1000 / rate) * weight;
  const capacityMs = Math.max((1000 / rate) * burst, requestMs);
  return { requestMs, costMs: requestMs * count, capacityMs };
}

const UNKNOWN = 'unknown';
/** Greatest length of an address in characters, with a zone or a port. */
const LONGEST = 128;

/**
 * The key under which a client address is limited. An IPv4 address has a key of its own in every notation. One IPv6
 * subscriber holds a whole /64, and one customer of a provider up to a /48 (RFC 6177): the /64 is the key of this
 * function, the /48 the key of `siteKey`. Texts that are no address, which a proxy may pass on, share one key, so that
 * a client cannot get new limits by inventing texts.
 */
export function addressKey(address: string | undefined): string {
  const found = parse(address);
  return typeof found === 'string' ? found : prefixOf(found, 4);
}

/** The /48 of an IPv6 address; undefined for all others, which have no wider network that belongs to one client. */
export function siteKey(address: string | undefined): string | undefined {
  const found = parse(address);
  return typeof found === 'string' ? undefined : prefixOf(found, 3);
}

/** The IPv4 address as written, the eight groups of an IPv6 address, or `UNKNOWN`. */
function parse(address = ''): string | readonly number[] {
  if (address.length > LONGEST) return UNKNOWN;
  const text = withoutPort(address.trim());
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return UNKNOWN;
  const groups = groupsOf(text);
  return mappedOf(groups) ?? groups;
}

/** Removes the port that some proxies add (`192.0.2.1:443`, `[2001:db8::1]:443`), and the zone of an interface. */
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

/** A dotted tail (`192.0.2.1`) becomes two groups. */
function numbersOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/**
 * The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), which sockets write as `::ffff:192.0.2.1` and
 * others may write in hex.
 */
function mappedOf(groups: readonly number[]): string | undefined {
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) return undefined;
  const bytes = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
  return bytes.join('.');
}

function prefixOf(groups: readonly number[], count: number): string {
  const prefix = groups.slice(0, count).map((group) => group.toString(16));
  return `${prefix.join(':')}::/${count * 16}`;
}
