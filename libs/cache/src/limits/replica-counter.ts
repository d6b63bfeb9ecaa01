/**
 * Counts the live replicas (in the database, without Redis) and the replicas that use Redis (by their heartbeats in
 * Redis). Where the first number is larger, some replica counts without Redis. The replicas with Redis then use only
 * their own shares of each limit: a request weighs more in Redis.
 */
import { SingleFlight } from '#libs/platform';
import { type RedisConnection } from '../redis/redis-link.js';
import { scriptOf, type Scripts } from '../redis/scripts.js';

/** Longest time between two heartbeats of a replica, in milliseconds. */
export const HEARTBEAT_MS = 500;
/**
 * A replica whose last heartbeat is older than this, in milliseconds, counts as one without Redis. All others act on it
 * one beat later, before `LEASE_MS` of `local-share.ts` is over.
 */
const HEARTBEAT_VALID_MS = 2500;
/** How long a new replica waits, in milliseconds, for older ones, which know whether an empty Redis has lost data. */
const WAIT_MS = 2000;

/** Names of the Redis keys that the replicas of one service share. */
export interface AgreementKeys {
  /** Redis hash with the facts about this Redis that the replicas agree on; see `ATTEND`. */
  readonly agreed: string;
  /** Redis sorted set of the replicas, by the time of their last heartbeat. */
  readonly replicas: string;
  /** Prefix of the keys of buckets. */
  readonly limit: string;
}

/** @param family name of the service; absent: the api */
export function agreementKeys(family?: string): AgreementKeys {
  const place = family === undefined ? 'lowmark' : `lowmark:${family}`;
  return { agreed: `${place}:agreed`, replicas: `${place}:replicas`, limit: `${place}:limit:` };
}

interface ReplicaCounterOptions {
  readonly scripts: Scripts;
  readonly keys: AgreementKeys;
  /** Unique to this replica. */
  readonly id: string;
  /** Number of live replicas, this one included. Where counting fails or yields 0, the previous number holds. */
  readonly countReplicas: () => Promise<number>;
  /**
   * Greatest possible number of live replicas, where they are not counted. The replicas with Redis then use the whole
   * limits and leave no share to the replicas without Redis.
   */
  readonly replicasAtMost?: number | undefined;
  /** Milliseconds of any clock that is never set back. */
  readonly nowMs: () => number;
}

export class ReplicaCounter {
  /** Number of live replicas, as far as is known. */
  replicas = 1;
  /** Weight of a request in Redis: the live replicas divided by those that use Redis. */
  weight = 1;
  /** `connectionCount` of the connection on which Redis last counted this replica. */
  private agreedWith: number | undefined;
  private wasHere = false;
  private waitingSinceMs: number | undefined;
  /** The last successful count of live replicas. */
  private liveCount: number | undefined;
  private readonly counts = new SingleFlight<void>();

  constructor(
    private readonly link: RedisConnection,
    private readonly options: ReplicaCounterOptions,
  ) {}

  /** Whether Redis is up and has counted this replica since the connection last came up. */
  get isRegistered(): boolean {
    return this.link.isUp && this.agreedWith === this.link.connectionCount;
  }

  /** Whether a count has shown that no other replica is live. */
  get isAlone(): boolean {
    return this.liveCount === 1 && this.replicas === 1;
  }

  /** Redis has lost the key `agreed`: this replica does not use Redis before its next beat. */
  forget(): void {
    this.agreedWith = undefined;
  }

  /** Sends one heartbeat. Never throws. Waits for the count of live replicas only until one count has succeeded. */
  async beat(): Promise<void> {
    const counting = this.count();
    if (this.liveCount === undefined) await counting;
    // The count of the previous beat: a replica that has just started still has to send its first heartbeat.
    // Without any count, no replica is assumed to have left.
    const { replicasAtMost } = this.options;
    const { liveCount = replicasAtMost === undefined ? this.replicas : 1 } = this;
    const { connectionCount } = this.link;
    try {
      const here = Number(await this.attend());
      if (here === 0) this.waitingSinceMs ??= this.options.nowMs();
      if (!(here >= 1)) throw new TypeError('Not counted');
      const counted = Math.max(liveCount, here);
      this.replicas = Math.max(counted, replicasAtMost ?? 1);
      this.weight = counted / here;
      this.wasHere = true;
      this.agreedWith = connectionCount;
    } catch {
      // This replica has to wait for others, or Redis has failed, which the link has logged.
      this.forget();
      this.replicas = Math.max(this.replicas, liveCount, replicasAtMost ?? 1);
    }
  }

  private attend(): Promise<unknown> {
    const { id, keys, nowMs } = this.options;
    const { waitingSinceMs = Infinity } = this;
    const mayWait = !this.wasHere && !(nowMs() >= waitingSinceMs + WAIT_MS);
    return this.options.scripts.run(ATTEND, {
      keys: [keys.agreed, keys.replicas],
      args: [id, HEARTBEAT_VALID_MS, mayWait ? (this.liveCount ?? 0) : 0],
    });
  }

  private count(): Promise<void> {
    return this.counts.run(() =>
      this.options.countReplicas().then(
        (liveCount) => {
          if (liveCount >= 1) this.liveCount = liveCount;
        },
        () => undefined,
      ),
    );
  }
}

/**
 * The heartbeat of a replica. It also detects that Redis has lost data. KEYS[1]: a hash with `run`, the run id of the
 * server, and `lost`, the time in Unix milliseconds at which the server was found to have lost data, or 0. KEYS[2]: a
 * sorted set of the replicas by their last heartbeat. ARGV: the id of the replica; how long its heartbeat is valid, in
 * milliseconds; the number of live replicas where this replica never had Redis and waits for the others, else 0.
 * Returns the number of replicas with a valid heartbeat, or 0 for a replica that has to wait.
 *
 * A server that was restarted or promoted may have lost all data or only the latest writes: both count as a loss. After
 * a loss every key counts as owing a whole burst at the time `lost`, whatever its bucket says. An empty server has lost
 * nothing where all live replicas are new.
 */
const ATTEND = scriptOf(`
-- Without the right to run INFO, a loss of only the latest writes is not detected.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local lost = tonumber(redis.call('HGET', KEYS[1], 'lost'))
local before = redis.call('HGET', KEYS[1], 'run')
local changed = not lost or before ~= run
redis.call('ZADD', KEYS[2], now, ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('(%.17g', now - tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[2], 86400000)
local here = redis.call('ZCARD', KEYS[2])
if changed then
  local liveCount = tonumber(ARGV[4])
  if not lost and here < liveCount then return 0 end
  lost = not lost and liveCount > 0 and 0 or now
end
-- After the clock was set back, no caller must wait until it reaches the old time again.
if lost > now then lost, changed = now, true end
if changed then
  redis.call('HSET', KEYS[1], 'lost', string.format('%.17g', lost), 'run', run)
end
redis.call('PEXPIRE', KEYS[1], 86400000)
return here
`);
