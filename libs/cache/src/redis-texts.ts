import { type RedisLink } from './redis-link.js';
import { TurnBatch } from './scripts.js';

const PREFIX = 'lowmark:';
/** Greatest random extension of a TTL, as a fraction, so that texts kept at the same time do not expire together. */
const JITTER = 0.1;

/** Short texts that all replicas share. Without Redis a read finds nothing, which is never an error. */
export class RedisTexts {
  private readonly gets = new TurnBatch((keys: readonly string[]) =>
    this.link.run((redis) => redis.mget(...keys)),
  );

  constructor(
    private readonly link: RedisLink,
    private readonly random: () => number = Math.random,
  ) {}

  /** Undefined where the key is absent or Redis does not answer in time. */
  get(key: string): Promise<string | undefined> {
    if (!this.link.isUp) return NOTHING;
    return this.gets.ask(PREFIX + key).then(
      (text) => text ?? undefined,
      () => undefined,
    );
  }

  /** Returns at once. The text is kept for `ttlSeconds` and up to a tenth more, or not at all. */
  set(key: string, text: string, ttlSeconds: number): void {
    if (!this.link.isUp) return;
    const ttl = Math.round(ttlSeconds * (1 + JITTER * this.random()));
    this.link.run((redis) => redis.set(PREFIX + key, text, 'EX', ttl)).catch(() => undefined);
  }
}

const NOTHING = Promise.resolve(undefined);
