import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';

/** A bucket of `burst` actions that fills again by one action each `everyMs`. */
export interface MemberLimit {
  readonly key: string;
  readonly everyMs: number;
  readonly burst: number;
}

interface Taking {
  readonly key: string;
  readonly now: Date;
  /** Milliseconds that one action takes to come back, and all of them. */
  readonly one: number;
  readonly all: number;
}

/** The generic cell rate algorithm. A full bucket needs no row. */
const TAKE = named<Taking>(
  'member_limit_take',
  `INSERT INTO console.member_limit AS known (key, full_at) VALUES (:key, :now::timestamptz + :one * interval '1 ms')
    ON CONFLICT (key) DO UPDATE SET full_at = greatest(known.full_at, :now) + :one * interval '1 ms'
      WHERE greatest(known.full_at, :now) + :one * interval '1 ms' <= :now::timestamptz + :all * interval '1 ms'
    RETURNING key`,
);

const WAIT = named<Taking>(
  'member_limit_wait',
  `SELECT extract(epoch FROM full_at + (:one::float8 - :all) * interval '1 ms' - :now::timestamptz)::float8 AS seconds
    FROM console.member_limit WHERE key = :key`,
);

class LimitReached extends Error {
  constructor(readonly retryAfterSeconds: number) {
    super('a limit is reached');
  }
}

/** Limits on what members of partners do on the pages, over all consoles together. */
export class MemberLimitStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts an action against all limits, or against none where one is reached.
   * @param limits in the same order for all actions, since each waits for concurrent ones
   * @returns 0 where the action is allowed, otherwise the seconds until it is
   */
  async take(limits: readonly MemberLimit[], nowMs: number): Promise<number> {
    try {
      await this.database.transaction(async (client) => {
        for (const { key, everyMs: one, burst } of limits) {
          const taking = { key, one, all: one * burst, now: new Date(nowMs) };
          if ((await run(client, TAKE(taking))).length > 0) continue;
          const [wait] = await run<{ seconds: number }>(client, WAIT(taking));
          throw new LimitReached(Math.max(1, Math.ceil(wait?.seconds ?? 0)));
        }
      });
      return 0;
    } catch (error) {
      if (error instanceof LimitReached) return error.retryAfterSeconds;
      throw error;
    }
  }
}
