import { type Address } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { addressBytes } from './redemption-row.js';

/** A wallet waits so long after its first vain attempt, and twice as long after each further one, up to the longest wait. */
const FIRST_WAIT_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 3600;
/** From the end of a wait on; after that the wallet begins anew. */
const MEMORY_MS = 86_400_000;

/** Redemptions that never began are kept so long, with their idempotency keys; no shorter than the day that the database insists on. */
const FAILED_KEPT_MS = 2 * 86_400_000;
/** The log of balance reads: the newest so many, and none older than this. */
const READS_KEPT = 10_000;
const READS_KEPT_MS = 86_400_000;
const FORGOTTEN_AT_ONCE = 2_000;

/** $1 wallet, $2 now, $3 first wait, $4 longest wait, $5 from when on earlier attempts count. Those of one wait count as one. */
const NOTE: Statement = {
  name: 'attempt_note',
  text: `INSERT INTO redemption.vain_attempt AS v (wallet, attempts, wait_until)
      VALUES ($1, 1, $2::timestamptz + least($3::int, $4::int) * interval '1 second')
    ON CONFLICT (wallet) DO UPDATE SET
      attempts = CASE WHEN v.wait_until > $2 THEN v.attempts WHEN v.wait_until < $5 THEN 1 ELSE v.attempts + 1 END,
      wait_until = CASE WHEN v.wait_until > $2 THEN v.wait_until
        WHEN v.wait_until < $5 THEN excluded.wait_until
        ELSE $2::timestamptz + least($3::int * 2.0 ^ least(v.attempts, 30), $4::int) * interval '1 second' END
    RETURNING wait_until`,
};
const WAITS: Statement = {
  name: 'attempt_waits',
  text: 'SELECT wait_until FROM redemption.vain_attempt WHERE wallet = $1 AND wait_until > $2',
};
const FORGET_WAITS: Statement = {
  name: 'attempt_forget_waits',
  text: 'DELETE FROM redemption.vain_attempt WHERE wait_until < $1',
};
const FORGET: Statement = {
  name: 'attempt_forget',
  text: 'SELECT redemption.forget_attempts($1, $2, $3, $4) AS gone',
};

interface WaitRow {
  wait_until: Date;
}

/** Attempts to redeem that came to nothing: how long their wallets wait, and that they leave a bounded trace. */
export class AttemptStore {
  constructor(private readonly database: Database) {}

  /** One more vain attempt. @returns until when the wallet waits; Unix milliseconds, as is `nowMs` */
  async note(wallet: Address, nowMs: number): Promise<number> {
    const rows = await this.database.query<WaitRow>(NOTE, [
      addressBytes(wallet),
      new Date(nowMs),
      FIRST_WAIT_SECONDS,
      LONGEST_WAIT_SECONDS,
      new Date(nowMs - MEMORY_MS),
    ]);
    return rows[0]?.wait_until.getTime() ?? nowMs;
  }

  /** Until when the wallet waits; undefined where it does not. */
  async waitsUntilMs(wallet: Address, nowMs: number): Promise<number | undefined> {
    const values = [addressBytes(wallet), new Date(nowMs)];
    const [row] = await this.database.query<WaitRow>(WAITS, values);
    return row?.wait_until.getTime();
  }

  /** Clears away waits, redemptions that never began and balance reads that are old enough, or too many. */
  async forgetOld(nowMs: number): Promise<void> {
    await this.database.query(FORGET_WAITS, [new Date(nowMs - MEMORY_MS)]);
    const before = [new Date(nowMs - FAILED_KEPT_MS), new Date(nowMs - READS_KEPT_MS)];
    for (let gone = 1; gone > 0;) {
      const values = [...before, READS_KEPT, FORGOTTEN_AT_ONCE];
      const [row] = await this.database.query<{ gone: number }>(FORGET, values);
      gone = row?.gone ?? 0;
    }
  }
}
