import { type Address } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { type SnapshotState, snapshotStateFrom, STATE_TEXT } from './snapshot-state.js';

/** All that one answer is made of, as it stood at one moment. */
export interface SnapshotRead {
  readonly state: SnapshotState;
  /**
   * The wallet's newest 31 days with a change before `endDay`, newest first, as text for `walletDaysFrom`: enough for the
   * longest window and the balance carried into it. Undefined where the wallet never staked.
   */
  readonly daysText: string | undefined;
}

interface SnapshotRow {
  state: string;
  days: string | null;
}

// At most 31 entries of one index are read, however many changes the wallet has.
const READ: Statement = {
  name: 'snapshot',
  text: `SELECT ${STATE_TEXT} AS state,
      CASE WHEN EXISTS (SELECT FROM staking.balance_day WHERE wallet = $1) THEN
        (SELECT '[' || coalesce(string_agg(
            '[' || day || ',' || coalesce('"' || low || '"', 'null') || ',"' || closing || '"]', ',' ORDER BY day DESC), '') || ']'
          FROM (SELECT day, low, closing FROM staking.balance_day
            WHERE wallet = $1 AND day < $2 ORDER BY day DESC LIMIT 31) AS newest)
      END AS days
    FROM staking.index_state s`,
};

const STATE: Statement = {
  name: 'snapshot_state',
  text: `SELECT ${STATE_TEXT} AS state FROM staking.index_state s`,
};

/** What snapshots are made of. Reads of the same state hand out the same object. */
export class SnapshotStore {
  private last: { readonly text: string; readonly state: SnapshotState } | undefined;

  constructor(private readonly database: Database) {}

  /** The state that was read last; whether it is still so only a read can tell. */
  get seen(): SnapshotState | undefined {
    return this.last?.state;
  }

  /**
   * One statement, one round trip, one state of the index; undefined where there is no index yet.
   * @param endDay days since 1970-01-01 UTC, exclusive
   * @throws DatabaseUnavailableError, DatabaseRefusedError
   */
  async read(wallet: Address, endDay: number): Promise<SnapshotRead | undefined> {
    const values = [Buffer.from(wallet.slice(2), 'hex'), endDay];
    const [row] = await this.database.query<SnapshotRow>(READ, values);
    return row && { state: this.stateOf(row.state), daysText: row.days ?? undefined };
  }

  /** What `read` reads whatever the wallet. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async state(): Promise<SnapshotState | undefined> {
    const [row] = await this.database.query<Pick<SnapshotRow, 'state'>>(STATE);
    return row && this.stateOf(row.state);
  }

  private stateOf(text: string): SnapshotState {
    if (this.last?.text !== text) this.last = { text, state: snapshotStateFrom(text) };
    return this.last.state;
  }
}
