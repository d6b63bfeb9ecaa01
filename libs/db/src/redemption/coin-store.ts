/** What accounts of the service may spend on gas in a day: one sum for all processes, kept over restarts. */
import { type Address } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { hexOf } from '../rows.js';

export interface CoinRequest {
  readonly chainId: number;
  readonly account: Address;
  /** The most that the transaction can cost, in the smallest unit of the chain's coin, as the rest. */
  readonly wei: bigint;
  /** Of a UTC day. */
  readonly dailyWei: bigint;
  readonly nowMs: number;
}

/** $3 the day, $4 the cost, $5 what a day allows. */
const RESERVE: Statement = {
  name: 'coin_reserve',
  text: `INSERT INTO redemption.coin_spent AS s (chain_id, account, day, wei, transactions)
    SELECT $1, decode($2, 'hex'), $3, $4::numeric, 1 WHERE $4::numeric <= $5::numeric
    ON CONFLICT (chain_id, account, day) DO UPDATE
      SET wei = s.wei + EXCLUDED.wei, transactions = s.transactions + 1
      WHERE s.wei + EXCLUDED.wei <= $5::numeric
    RETURNING wei`,
};

const SPENT: Statement = {
  name: 'coin_spent',
  text: `SELECT wei FROM redemption.coin_spent WHERE chain_id = $1 AND account = decode($2, 'hex') AND day = $3`,
};

export class CoinStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts the cost before the transaction is signed; it is not given back, as what is signed may be sent by another.
   * @returns false where the day does not allow it: nothing is counted then
   */
  async reserve({ chainId, account, wei, dailyWei, nowMs }: CoinRequest): Promise<boolean> {
    const rows = await this.database.query(RESERVE, [
      chainId,
      hexOf(account),
      dayOf(nowMs),
      wei.toString(),
      dailyWei.toString(),
    ]);
    return rows.length > 0;
  }

  /** What was counted on this day. */
  async spent(chainId: number, account: Address, nowMs: number): Promise<bigint> {
    const values = [chainId, hexOf(account), dayOf(nowMs)];
    const [row] = await this.database.query<{ wei: string }>(SPENT, values);
    return BigInt(row?.wei ?? 0);
  }
}

/** The UTC day, as `2026-01-31`. */
function dayOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}
