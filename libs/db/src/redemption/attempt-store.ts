import { type Address } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
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

/** Attempts of before `since` are forgotten; those of one wait count as one. */
const NOTE = named<{ wallet: Buffer; now: Date; since: Date }>(
  'attempt_note',
  `INSERT INTO redemption.vain_attempt AS v (wallet, attempts, wait_until)
      VALUES (:wallet, 1, :now::timestamptz + least(${FIRST_WAIT_SECONDS}, ${LONGEST_WAIT_SECONDS}) * interval '1 second')
    ON CONFLICT (wallet) DO UPDATE SET
      attempts = CASE WHEN v.wait_until > :now THEN v.attempts WHEN v.wait_until < :since THEN 1 ELSE v.attempts + 1 END,
      wait_until = CASE WHEN v.wait_until > :now THEN v.wait_until
        WHEN v.wait_until < :since THEN excluded.wait_until
        ELSE :now::timestamptz + least(${FIRST_WAIT_SECONDS} * 2.0 ^ least(v.attempts, 30), ${LONGEST_WAIT_SECONDS}) * interval '1 second' END
    RETURNING wait_until`,
);
const WAITS = named<{ wallet: Buffer; now: Date }>(
  'attempt_waits',
  'SELECT wait_until FROM redemption.vain_attempt WHERE wallet = :wallet AND wait_until > :now',
);
const FORGET_WAITS = named<{ before: Date }>(
  'attempt_forget_waits',
  'DELETE FROM redemption.vain_attempt WHERE wait_until < :before',
);
const FORGET = named<{ failedBefore: Date; readsBefore: Date }>(
  'attempt_forget',
  `SELECT redemption.forget_attempts(:failedBefore, :readsBefore, ${READS_KEPT}, ${FORGOTTEN_AT_ONCE}) AS gone`,
);

interface WaitRow {
  wait_until: Date;
}

/** Attempts to redeem that came to nothing: how long their wallets wait, and that they leave a bounded trace. */
export class AttemptStore {
  constructor(private readonly database: Database) {}

  /** One more vain attempt. @returns until when the wallet waits; Unix milliseconds, as is `nowMs` */
  async note(wallet: Address, nowMs: number): Promise<number> {
    const now = new Date(nowMs);
    const since = new Date(nowMs - MEMORY_MS);
    const rows = await this.database.query<WaitRow>(
      NOTE({ wallet: addressBytes(wallet), now, since }),
    );
    return rows[0]?.wait_until.getTime() ?? nowMs;
  }

  /** Until when the wallet waits; undefined where it does not. */
  async waitsUntilMs(wallet: Address, nowMs: number): Promise<number | undefined> {
    const statement = WAITS({ wallet: addressBytes(wallet), now: new Date(nowMs) });
    const [row] = await this.database.query<WaitRow>(statement);
    return row?.wait_until.getTime();
  }

  /** Clears away waits, redemptions that never began and balance reads that are old enough, or too many. */
  async forgetOld(nowMs: number): Promise<void> {
    await this.database.query(FORGET_WAITS({ before: new Date(nowMs - MEMORY_MS) }));
    const failedBefore = new Date(nowMs - FAILED_KEPT_MS);
    const readsBefore = new Date(nowMs - READS_KEPT_MS);
    for (let gone = 1; gone > 0;) {
      const statement = FORGET({ failedBefore, readsBefore });
      const [row] = await this.database.query<{ gone: number }>(statement);
      gone = row?.gone ?? 0;
    }
  }
}
