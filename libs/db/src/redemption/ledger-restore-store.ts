import { type RedemptionState } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';

export interface LedgerRestore {
  /** What happened from this moment on is not in the ledger. */
  readonly lostSinceMs: number;
  /** When it was noted; the services were stopped, so no voucher was issued later. */
  readonly atMs: number;
  /** Unix seconds: until then a voucher that was lost can be claimed. */
  readonly vouchersUntilSeconds: number;
}

export interface RestoreNote extends LedgerRestore {
  readonly actor: string;
  readonly command: string;
  /** For the audit. */
  readonly arguments: object;
}

/** Redemptions without a plan that are not finished, by state. */
export type Unplanned = Readonly<Partial<Record<RedemptionState, number>>>;

const RECORD: Statement = {
  name: 'ledger_restore_record',
  text: `WITH noted AS (
      INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor) VALUES ($1, $2, $3, $4)
      RETURNING actor)
    INSERT INTO redemption.audit (actor, command, arguments, outcome) SELECT actor, $5, $6, 'noted' FROM noted`,
};

const LIST: Statement = {
  name: 'ledger_restore_list',
  text: `SELECT at, lost_since, vouchers_until_seconds FROM redemption.ledger_restore ORDER BY id DESC`,
};

const UNPLANNED: Statement = {
  name: 'ledger_restore_unplanned',
  text: `SELECT state, count(*)::int AS count FROM redemption.redemption
    WHERE state IN ('created', 'deducting', 'deducted', 'reverting', 'attention') AND plan_amount IS NULL AND initial_at < $1
    GROUP BY state`,
};

/** What every row read says of a redemption, of the table alias `r`: the latest end of the vouchers that a restore may have lost. */
export const LOST_VOUCHER_UNTIL = `(SELECT max(l.vouchers_until_seconds) FROM redemption.ledger_restore l
  WHERE r.initial_at < l.at) AS lost_voucher_until_seconds`;

/** The restores of this ledger. From the moment that one is recorded, every redemption that is read knows of it. */
export class LedgerRestoreStore {
  constructor(private readonly database: Database) {}

  /** With its audit row. Two for the same loss do no harm. */
  async record(note: RestoreNote): Promise<void> {
    const { atMs, lostSinceMs, vouchersUntilSeconds, actor, command } = note;
    await this.database.query(RECORD, [
      new Date(atMs),
      new Date(lostSinceMs),
      vouchersUntilSeconds,
      actor,
      command,
      JSON.stringify(note.arguments),
    ]);
  }

  /** The newest first. */
  async list(): Promise<LedgerRestore[]> {
    const rows = await this.database.query<{
      at: Date;
      lost_since: Date;
      vouchers_until_seconds: string;
    }>(LIST);
    return rows.map(({ at, lost_since: since, vouchers_until_seconds: until }) => ({
      atMs: at.getTime(),
      lostSinceMs: since.getTime(),
      vouchersUntilSeconds: Number(until),
    }));
  }

  async unplanned(beforeMs: number): Promise<Unplanned> {
    const values = [new Date(beforeMs)];
    const rows = await this.database.query<{ state: RedemptionState; count: number }>(
      UNPLANNED,
      values,
    );
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  }
}
