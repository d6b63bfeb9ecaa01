import { Redis, type RedisOptions } from 'ioredis';
import { RedisUnavailableError } from './redis-unavailable.error.js';

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
const PROBE_PAUSE_MS = 250;
const MAX_RECONNECT_PAUSE_MS = 1000;
const PROBE_KEY = 'lowmark:probe';

interface Waiter {
  readonly sentMs: number;
  readonly fail: (error: RedisUnavailableError) => void;
}

/**
 * A connection to Redis that is either up or down. It goes down at the first command that is late or refused, or with its
 * socket; from then on nobody waits for it. In the background it connects again, and is up once a write was answered in time.
 */
export class RedisLink {
  private readonly redis: Redis;
  private readonly deadlineMs: number;
  /** In the order in which they were sent, which is that of the answers. */
  private readonly waiting = new Set<Waiter>();
  private deadlineTimer: NodeJS.Timeout | undefined;
  private probeTimer: NodeJS.Timeout | undefined;
  private up = false;
  private failures = 0;
  private told: boolean | undefined;
  private ups = 0;
  private readonly closing = new AbortController();

  constructor(private readonly options: RedisLinkOptions) {
    this.deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    this.redis = new Redis(options.url, {
      ...CONNECTION,
      // Whatever failed since it was last up counts, also where connecting itself went well.
      retryStrategy: () =>
        Math.min(50 * 2 ** Math.min(this.failures++, 10), MAX_RECONNECT_PAUSE_MS),
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

  /** How often it came up: what was agreed with the server before it was down is to be agreed anew. */
  get timesUp(): number {
    return this.ups;
  }

  /** Aborted when it is closed. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Resolves where it is up, or to whether it came up in time. For starting and for tests. */
  async whenUp(timeoutMs: number): Promise<boolean> {
    const untilMs = performance.now() + timeoutMs;
    while (!this.up && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.up;
  }

  /** @throws RedisUnavailableError at once where it is down, else at the deadline at the latest */
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
      // This process may have been busy itself: what has arrived meanwhile is read before anybody is given up.
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
    this.failAll(reason);
    if (this.closed.aborted) return;
    this.tell(false, reason);
    // While the socket stands nobody else tries again.
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
    }, PROBE_PAUSE_MS);
  }

  /** A write: a replica, a full or a loading server answers reads or pings all the same. */
  private probe(): void {
    if (this.closed.aborted || this.up) return;
    this.send((redis) => redis.set(PROBE_KEY, '1', 'PX', 1000)).then(
      () => {
        if (this.closed.aborted || this.redis.status !== 'ready') return;
        this.up = true;
        this.ups += 1;
        this.failures = 0;
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

/** An error of the driver carries the command it belongs to, at worst AUTH with the password: only its code goes on. */
function reasonOf(error: Error & { code?: unknown }): string {
  if (typeof error.code === 'string') return error.code;
  return /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? 'the connection failed';
}
