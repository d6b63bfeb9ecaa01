import { Redis, type RedisOptions } from 'ioredis';
import { RetryableError } from '#libs/domain';
import { sleep } from '#libs/platform';
import { useRedis } from './redis-uses.js';

export interface RedisLinkOptions {
  /** `redis://` or `rediss://`; may hold a password and is never shown. */
  readonly url: string;
  /** Told at each change, with a reason for people that holds no secret. */
  readonly onChange?: (isUp: boolean, reason: string) => void;
  /** How long a command may take. Default 50. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 50;
const CONNECT_TIMEOUT_MS = 1000;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2000;
/** Up for less than this it is not taken to be well: the pauses go on growing. */
const WELL_MS = 10_000;

interface Waiter {
  readonly sentMs: number;
  readonly fail: (error: RedisUnavailableError) => void;
}

/** What limits use of a connection to Redis. */
export interface RedisConnection {
  readonly isUp: boolean;
  /** How often it came up: what was agreed with the server before it was down is to be agreed anew. */
  readonly timesUp: number;
  /** Aborted when it is closed. */
  readonly closed: AbortSignal;
  /** @throws RedisUnavailableError at once where it is down, else at the deadline at the latest */
  run<T>(send: (redis: Redis) => Promise<T>): Promise<T>;
}

/**
 * A connection to Redis that is either up or down. It goes down at the first command that is late or refused, or with its
 * socket; from then on no request waits for it. In the background it connects again, and is up once all that is used was tried and
 * answered in time.
 */
export class RedisLink implements RedisConnection {
  private readonly redis: Redis;
  private readonly deadlineMs: number;
  /** In the order in which they were sent, which is that of the answers. */
  private readonly waiting = new Set<Waiter>();
  private deadlineTimer: NodeJS.Timeout | undefined;
  private probeTimer: NodeJS.Timeout | undefined;
  private up = false;
  private upSinceMs = 0;
  /** Since it was last well. */
  private failures = 0;
  private told: boolean | undefined;
  private ups = 0;
  private readonly closing = new AbortController();

  constructor(private readonly options: RedisLinkOptions) {
    this.deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    this.redis = new Redis(options.url, {
      ...CONNECTION,
      retryStrategy: () => this.nextPauseMs(),
    });
    this.redis.on('ready', () => {
      this.probe();
    });
    this.redis.on('error', (error: Error) => {
      this.fall(reasonOf(error));
    });
    this.redis.on('close', () => {
      this.fall('the connection was lost');
    });
    // What goes wrong comes as an event.
    this.redis.connect().catch(() => undefined);
  }

  get isUp(): boolean {
    return this.up;
  }

  get timesUp(): number {
    return this.ups;
  }

  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Resolves where it is up, or to whether it came up in time. For starting and for tests. */
  async whenUp(timeoutMs: number): Promise<boolean> {
    const untilMs = performance.now() + timeoutMs;
    while (!this.up && performance.now() < untilMs) {
      await sleep(5);
    }
    return this.up;
  }

  run<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    return this.up ? this.send(send) : Promise.reject(new RedisUnavailableError('it is down'));
  }

  close(): void {
    this.closing.abort();
    clearTimeout(this.deadlineTimer);
    clearTimeout(this.probeTimer);
    this.up = false;
    this.failAll('closed');
    this.redis.disconnect();
  }

  private send<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiter = { sentMs: performance.now(), fail: reject };
      this.waiting.add(waiter);
      this.deadlineTimer ??= this.watch(this.deadlineMs);
      send(this.redis).then(
        (value) => {
          this.waiting.delete(waiter);
          resolve(value);
        },
        (error: unknown) => {
          // Told already where it was late.
          if (!this.waiting.delete(waiter)) return;
          const reason = reasonOf(error as Error);
          this.fall(reason);
          reject(new RedisUnavailableError(reason));
        },
      );
    });
  }

  private watch(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      // This process may have been busy itself: what has arrived meanwhile is read before a command is given up.
      setImmediate(() => {
        this.deadlineTimer = undefined;
        const [oldest] = this.waiting;
        if (oldest === undefined || this.closed.aborted) return;
        const leftMs = oldest.sentMs + this.deadlineMs - performance.now();
        if (leftMs > 0) this.deadlineTimer = this.watch(Math.ceil(leftMs));
        else this.abandon();
      });
    }, afterMs);
  }

  /** Its socket may be stuck: a new one is opened. */
  private abandon(): void {
    this.fall(`no answer within ${this.deadlineMs} ms`);
    this.redis.disconnect(true);
  }

  private fall(reason: string): void {
    const wasUp = this.up;
    this.up = false;
    if (wasUp && performance.now() >= this.upSinceMs + WELL_MS) this.failures = 0;
    this.failAll(reason);
    if (this.closed.aborted) return;
    this.tell(false, reason);
    // While the socket stands, this is the only retry.
    if (wasUp && this.redis.status === 'ready') this.probeLater();
  }

  private failAll(reason: string): void {
    if (this.waiting.size === 0) return;
    const error = new RedisUnavailableError(reason);
    for (const { fail } of this.waiting) fail(error);
    this.waiting.clear();
  }

  private probeLater(): void {
    clearTimeout(this.probeTimer);
    this.probeTimer = setTimeout(() => {
      if (this.redis.status === 'ready') this.probe();
    }, this.nextPauseMs());
  }

  /** Before it connects or tries again: longer each time, also where it came up for a moment in between. */
  private nextPauseMs(): number {
    return Math.min(MIN_PAUSE_MS * 2 ** Math.min(this.failures++, 10), MAX_PAUSE_MS);
  }

  private probe(): void {
    if (this.closed.aborted || this.up) return;
    this.send(useRedis).then(
      () => {
        if (this.closed.aborted || this.up || this.redis.status !== 'ready') return;
        this.up = true;
        this.upSinceMs = performance.now();
        this.ups += 1;
        this.tell(true, 'answers');
      },
      () => {
        if (!this.closed.aborted) this.probeLater();
      },
    );
  }

  private tell(isUp: boolean, reason: string): void {
    if (this.told === isUp) return;
    this.told = isUp;
    this.options.onChange?.(isUp, reason);
  }
}

const CONNECTION: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // A socket that was never open is waited for at its end; no program need end later for it.
  disconnectTimeout: 100,
  keepAlive: 10_000,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/**
 * Why Redis cannot be used, for people. An error of the driver carries the command it belongs to, at worst AUTH with the password: only
 * its code goes on, and a right that is missing, as `ACL SETUSER` calls it (`NOPERM +hget`).
 */
export function reasonOf(error: Error & { code?: unknown }): string {
  if (typeof error.code === 'string') return error.code;
  const code = /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? 'the connection failed';
  return code === 'NOPERM' ? `NOPERM ${rightOf(error.message)}` : code;
}

function rightOf(message: string): string {
  const command = /run the '([a-z|]{1,30})' command/.exec(message)?.[1];
  return command === undefined ? '~lowmark:*' : `+${command}`;
}

/** Redis is down, late or refuses: what is asked of it must be had in another way. */
export class RedisUnavailableError extends RetryableError {
  /** @param reason for people, without secrets */
  constructor(reason: string) {
    super('REDIS_UNAVAILABLE', `Redis cannot be used: ${reason}`);
  }
}
