import { type Database, type Statement } from '../connection/database.js';

export interface WalPosition {
  /** Nothing can be written: the server replays the log of another one. */
  readonly isStandby: boolean;
  /** Bytes of the log that are written, or replayed on a standby. What was committed before is below it. */
  readonly bytes: bigint;
  /** A primary and its standbys have the same identifier. */
  readonly system: string;
}

const POSITION: Statement = {
  name: 'wal_position',
  text: `SELECT pg_is_in_recovery() AS "isStandby",
      (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::text AS bytes,
      (SELECT system_identifier::text FROM pg_control_system()) AS system`,
};

/** @throws DatabaseUnavailableError, DatabaseRefusedError */
export async function readWalPosition(database: Database): Promise<WalPosition> {
  const [row] = await database.query<Omit<WalPosition, 'bytes'> & { bytes: string }>(POSITION);
  if (row === undefined) throw new TypeError('one row always comes');
  return { ...row, bytes: BigInt(row.bytes) };
}
