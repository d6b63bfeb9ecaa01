/**
 * How many replicas there are, and how many of them have Redis. The first is counted without Redis (in the database), the second
 * in Redis. Where the first is larger some replica counts apart, and those that have Redis use only their own shares: each
 * request weighs more.
 */
import { SingleFlight } from '#libs/platform';
import { type RedisConnection } from '../redis/redis-link.js';
import { scriptOf, type Scripts } from '../redis/scripts.js';

/** At least as often a replica says that it is here. */
export const BEAT_MS = 500;
/** A replica that was not heard of for so long has no Redis. A beat later all others act on it: before LEASE_MS of `own-share.ts`. */
const HERE_MS = 2500;
/** So long a new replica waits for those that know whether an empty Redis has lost something. */
const WAIT_MS = 2000;

/** The names in Redis of what the replicas of one service agree on and count by. */
export interface AgreementKeys {
  readonly agreed: string;
  readonly replicas: string;
  /** What the names of limits begin with. */
  readonly limit: string;
}

/** @param family of the service; absent: the api */
export function agreementKeys(family?: string): AgreementKeys {
  const place = family === undefined ? 'lowmark' : `lowmark:${family}`;
  return { agreed: `${place}:agreed`, replicas: `${place}:replicas`, limit: `${place}:limit:` };
}

interface AttendanceOptions {
  readonly scripts: Scripts;
  readonly keys: AgreementKeys;
  /** Of this replica alone. */
  readonly id: string;
  /** How many replicas live, this one included. Where it fails, or is none, the number before holds. */
  readonly countReplicas: () => Promise<number>;
  /** Where they are not counted: how many may live. Those that have Redis then leave nothing to those that have not. */
  readonly replicasAtMost?: number | undefined;
  /** Any clock that is never set back. */
  readonly nowMs: () => number;
}

export class Attendance {
  /** How many live, as far as is known. */
  replicas = 1;
  /** What a request weighs in Redis. */
  weight = 1;
  private agreedWith: number | undefined;
  private wasHere = false;
  private waitingSinceMs: number | undefined;
  private living: number | undefined;
  private readonly counts = new SingleFlight<void>();

  constructor(
    private readonly link: RedisConnection,
    private readonly options: AttendanceOptions,
  ) {}

  /** Redis is up, and knows that this replica is here. */
  get isHere(): boolean {
    return this.link.isUp && this.agreedWith === this.link.timesUp;
  }

  /** No other replica lives; that was counted. */
  get isAlone(): boolean {
    return this.living === 1 && this.replicas === 1;
  }

  /** Redis has forgotten what was agreed. */
  forget(): void {
    this.agreedWith = undefined;
  }

  /** Never throws. Only the first beat waits for the database. */
  async beat(): Promise<void> {
    const counting = this.count();
    if (this.living === undefined) await counting;
    // As counted at the last beat: one that has just started is about to come. Where they cannot be counted none is taken to have left.
    const { replicasAtMost } = this.options;
    const { living = replicasAtMost === undefined ? this.replicas : 1 } = this;
    const { timesUp } = this.link;
    try {
      const here = Number(await this.attend());
      if (here === 0) this.waitingSinceMs ??= this.options.nowMs();
      if (!(here >= 1)) throw new TypeError('Not counted');
      const counted = Math.max(living, here);
      this.replicas = Math.max(counted, replicasAtMost ?? 1);
      this.weight = counted / here;
      this.wasHere = true;
      this.agreedWith = timesUp;
    } catch {
      // It has to wait for others, or Redis has failed, which the link has logged.
      this.forget();
      this.replicas = Math.max(this.replicas, living, replicasAtMost ?? 1);
    }
  }

  private attend(): Promise<unknown> {
    const { id, keys, nowMs } = this.options;
    const { waitingSinceMs = Infinity } = this;
    const mayWait = !this.wasHere && !(nowMs() >= waitingSinceMs + WAIT_MS);
    return this.options.scripts.run(ATTEND, {
      keys: [keys.agreed, keys.replicas],
      args: [id, HERE_MS, mayWait ? (this.living ?? 0) : 0],
    });
  }

  private count(): Promise<void> {
    return this.counts.run(() =>
      this.options.countReplicas().then(
        (living) => {
          if (living >= 1) this.living = living;
        },
        () => undefined,
      ),
    );
  }
}

/**
 * A replica says that it is here, and the replicas agree on what this Redis knows. KEYS[1]: a hash with `run`, the run of the
 * server, and `lost`, when it is known to have forgotten something, Unix milliseconds, or 0. KEYS[2]: the replicas by when they
 * were last here. ARGV: the replica, how long it counts as here in milliseconds, and how many replicas live where this one never
 * had a Redis and waits for the others, else 0. Returns how many are here, or 0 for a replica that has to wait.
 *
 * A server that was started anew, or promoted, may have forgotten all or only the latest: both are taken for a loss. Who
 * sees `lost` takes each bucket for empty at that time, whatever is kept of it. Nothing is lost of an empty server where all who
 * live are new.
 */
const ATTEND = scriptOf(`
-- Where that may not be asked a loss of the latest alone goes unnoticed.
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
  local living = tonumber(ARGV[4])
  if not lost and here < living then return 0 end
  lost = not lost and living > 0 and 0 or now
end
-- The clock was set back: no caller must wait until it is there again.
if lost > now then lost, changed = now, true end
if changed then
  redis.call('HSET', KEYS[1], 'lost', string.format('%.17g', lost), 'run', run)
end
redis.call('PEXPIRE', KEYS[1], 86400000)
return here
`);
