/** Work that one process at a time does, by a lease in the database. */
import { randomUUID } from 'node:crypto';
import { RetryableError } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';

/** Each task is a row of redemption.task. */
export type Task = 'claim-watch' | 'reconciliation' | 'registry';

interface Lease {
  readonly task: Task;
  readonly holder: string;
}

/** Milliseconds without a renewal after which another process may take the task. */
const HELD_MS = 5000;

const TAKE = named<Lease & { heldMs: number }>(
  'task_take',
  `UPDATE redemption.task SET holder = :holder::uuid, held_until = now() + :heldMs * interval '1 ms'
    WHERE task = :task AND (held_until IS NULL OR held_until < now()) RETURNING task`,
);

const RENEW = named<Lease & { heldMs: number }>(
  'task_renew',
  `UPDATE redemption.task SET held_until = now() + :heldMs * interval '1 ms'
    WHERE task = :task AND holder = :holder::uuid RETURNING task`,
);

const RELEASE = named<Lease>(
  'task_release',
  `UPDATE redemption.task SET holder = NULL, held_until = NULL WHERE task = :task AND holder = :holder::uuid`,
);

/** The process was suspended, or had no database, for so long that another one may have taken the task. */
class LeaseLostError extends RetryableError {
  constructor(task: Task) {
    super('TASK_LEASE_LOST', `Another process may have taken the task ${task}; this one stops it`);
  }
}

/**
 * Does the work unless another process is doing it. No transaction is open meanwhile. A process that is suspended and
 * goes on later may still write once, so the writes of the work must allow for two processes.
 * @param work gets a signal that aborts when the lease is lost
 * @returns undefined where another process is doing the work
 * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
 */
export async function exclusively<T>(
  database: Database,
  task: Task,
  work: (lease: AbortSignal) => Promise<T>,
  heldMs = HELD_MS,
): Promise<{ readonly result: T } | undefined> {
  const lease = { task, holder: randomUUID() };
  if ((await database.query(TAKE({ ...lease, heldMs }))).length === 0) return undefined;
  const keeper = new LeaseKeeper(database, lease, heldMs);
  try {
    return { result: await work(keeper.signal) };
  } finally {
    await keeper.release();
  }
}

/** Renews a lease three times within the time for which it is held. */
class LeaseKeeper {
  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewedAtMs = performance.now();

  constructor(
    private readonly database: Database,
    private readonly lease: Lease,
    private readonly heldMs: number,
  ) {
    this.timer = setInterval(() => void this.renew(), heldMs / 4);
    this.timer.unref();
  }

  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** The lease ends by itself if the database cannot be reached. */
  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.database.query(RELEASE(this.lease)).catch(() => undefined);
  }

  private async renew(): Promise<void> {
    const { database, lease, heldMs } = this;
    const askedAtMs = performance.now();
    try {
      const rows = await database.query(RENEW({ ...lease, heldMs }));
      if (rows.length === 0) this.lose();
      else this.renewedAtMs = askedAtMs;
    } catch {
      if (performance.now() - this.renewedAtMs > heldMs) this.lose();
    }
  }

  private lose(): void {
    clearInterval(this.timer);
    this.lost.abort(new LeaseLostError(this.lease.task));
  }
}
