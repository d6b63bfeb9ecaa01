import { Redis, type RedisOptions } from 'ioredis';
import { RetryableError } from '#libs/domain';
import { sleep } from '#libs/platform';
import { probeCommands } from './redis-uses.js';

export interface RedisLinkOptions {
  /** `redis://` or `rediss://`; may hold a password and is never logged. */
  readonly url: string;
  /**
   * Called at each change, with a readable reason that holds no secret. During an outage it is called again for each
   * refusal of Redis that it was not called for: after a lost connection this says why Redis stays out.
   */
  readonly onChange?: (isUp: boolean, reason: string) => void;
  /** Timeout of a command in milliseconds; default 50. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 50;
const CONNECT_TIMEOUT_MS = 1000;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2000;
/** A connection that was up for less than this, in milliseconds, does not reset the backoff. */
const STABLE_MS = 10_000;

interface Waiter {
  readonly sentMs: number;
  readonly fail: (error: RedisUnavailableError) => void;
}

/**
 * A connection to Redis that is either up or down. It goes down at the first command that is late or refused, or with
 * its socket; from that moment no request waits for Redis. It reconnects in the background, and is up again once Redis
 * has answered one probe of all commands in use in time.
 *
 * Each attempt is a new connection, also after a refusal: a server that refuses (READONLY, LOADING, MASTERDOWN, NOAUTH,
 * …) keeps the socket open, while the address may lead to another server by now.
 */
export class RedisLink {
  private readonly redis: Redis;
  private readonly deadlineMs: number;
  /** Commands without an answer, oldest first; Redis answers in the same order. */
  private readonly waiting = new Set<Waiter>();
  private deadlineTimer: NodeJS.Timeout | undefined;
  private up = false;
  private upSinceMs = 0;
  /** Number of backoff steps since the connection last stayed up for `STABLE_MS`. */
  private failures = 0;
  /** Reasons that `onChange` was called with in the current outage. */
  private readonly told = new Set<string>();
  private closed = false;

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
      this.failed(error);
    });
    this.redis.on('close', () => {
      this.goDown('the connection was lost');
    });
    // Failures arrive as `error` events.
    this.redis.connect().catch(() => undefined);
  }

  get isUp(): boolean {
    return this.up;
  }

  /**
   * Waits until the connection is up, at most `timeoutMs`; for starts and tests.
   * @returns whether the connection is up
   */
  async whenUp(timeoutMs: number): Promise<boolean> {
    const untilMs = performance.now() + timeoutMs;
    while (!this.up && performance.now() < untilMs) {
      await sleep(5);
    }
    return this.up;
  }

  /** @throws RedisUnavailableError at once while the connection is down, else at the deadline at the latest */
  run<T>(send: (redis: Redis) => Promise<T>): Promise<T> {
    return this.up ? this.send(send) : Promise.reject(new RedisUnavailableError('it is down'));
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.deadlineTimer);
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
          // A command that is no longer waiting has failed already, at its deadline or with the connection.
          if (!this.waiting.delete(waiter)) return;
          this.failed(error as Error);
          reject(new RedisUnavailableError(reasonOf(error as Error)));
        },
      );
    });
  }

  private watch(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      // The event loop may have been blocked: answers that arrived meanwhile are read before a command is given up.
      setImmediate(() => {
        this.deadlineTimer = undefined;
        const [oldest] = this.waiting;
        if (oldest === undefined || this.closed) return;
        const leftMs = oldest.sentMs + this.deadlineMs - performance.now();
        if (leftMs > 0) this.deadlineTimer = this.watch(Math.ceil(leftMs));
        else this.goDown(`no answer within ${this.deadlineMs} ms`);
      });
    }, afterMs);
  }

  private failed(error: Error): void {
    this.goDown(reasonOf(error), { isRefusal: error.name === 'ReplyError' });
  }

  private goDown(reason: string, { isRefusal } = { isRefusal: false }): void {
    const wasUp = this.up;
    this.up = false;
    if (wasUp && performance.now() >= this.upSinceMs + STABLE_MS) this.failures = 0;
    this.failAll(reason);
    if (this.closed) return;
    if (this.told.size === 0 || (isRefusal && !this.told.has(reason))) {
      this.told.add(reason);
      this.options.onChange?.(false, reason);
    }
    if (this.redis.status === 'ready') this.redis.disconnect(true);
  }

  private failAll(reason: string): void {
    if (this.waiting.size === 0) return;
    const error = new RedisUnavailableError(reason);
    for (const { fail } of this.waiting) fail(error);
    this.waiting.clear();
  }

  /**
   * The pause before the next connection attempt, in milliseconds, with exponential backoff. A connection that
   * was up for a moment only does not reset it.
   */
  private nextPauseMs(): number {
    return Math.min(MIN_PAUSE_MS * 2 ** Math.min(this.failures++, 10), MAX_PAUSE_MS);
  }

  private probe(): void {
    if (this.closed || this.up) return;
    this.send(probeCommands).then(
      () => {
        if (this.closed || this.up || this.redis.status !== 'ready') return;
        this.up = true;
        this.upSinceMs = performance.now();
        this.told.clear();
        this.options.onChange?.(true, 'answers');
      },
      () => undefined,
    );
  }
}

const CONNECTION: RedisOptions = {
  lazyConnect: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // The time that ioredis waits for a socket that never opened: a longer one would delay the end of a program.
  disconnectTimeout: 100,
  keepAlive: 10_000,
  // Without either, nothing but the probe waits for a server, and the probe has a deadline.
  enableReadyCheck: false,
  disableClientInfo: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

/**
 * Why Redis cannot be used, in readable form. An error of the driver carries its command, at worst AUTH with the
 * password. So only the error's code is used, for NOPERM with the missing right as `ACL SETUSER` writes it
 * (`NOPERM +hget`), and for ERR, which stands for many errors, with its words or else the name of the command. Proxies
 * refuse without a code.
 */
export function reasonOf(
  error: Error & { readonly code?: unknown; readonly command?: { readonly name: string } },
): string {
  if (typeof error.code === 'string') return error.code;
  const isRefusal = error.name === 'ReplyError';
  const other = isRefusal ? 'refused' : 'the connection failed';
  const code = /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? other;
  if (code === 'ERR' || code === 'refused') return [code, ...whatOf(error)].join(' ');
  return code === 'NOPERM' ? `NOPERM ${rightOf(error.message)}` : code;
}

/** Nothing but plain words is shown: what a server repeats of a command stands in quotes or behind a colon. */
function whatOf({
  message,
  command,
}: {
  readonly message: string;
  readonly command?: { readonly name: string };
}): string[] {
  const words = /^(?:ERR )?([A-Za-z]+(?: [A-Za-z]+){1,14})\.?$/.exec(message)?.[1];
  if (words !== undefined && command?.name !== 'auth') return [words];
  return command === undefined ? [] : [`(${command.name})`];
}

function rightOf(message: string): string {
  const command = /run the '([a-z|]{1,30})' command/.exec(message)?.[1];
  return command === undefined ? '~lowmark:*' : `+${command}`;
}

/** Redis is down, late or refuses: the caller has to go on without Redis. */
export class RedisUnavailableError extends RetryableError {
  /** @param reason readable, without secrets */
  constructor(reason: string) {
    super('REDIS_UNAVAILABLE', `Redis cannot be used: ${reason}`);
  }
}
