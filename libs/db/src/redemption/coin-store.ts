/** Limits what an account of the service spends on gas in a day: one sum for all processes, kept over restarts. */
import { type Address } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { hexOf } from '../connection/rows.js';

export interface CoinRequest {
  readonly chainId: number;
  readonly account: Address;
  /** The maximum cost of the transaction. All amounts are in the smallest unit of the chain's coin. */
  readonly wei: bigint;
  /** Limit of a UTC day. */
  readonly dailyWei: bigint;
  readonly nowMs: number;
}

interface AccountDay {
  readonly chainId: number;
  /** Hex digits without `0x`. */
  readonly account: string;
  readonly day: string;
}

const RESERVE = named<AccountDay & { wei: bigint; dailyWei: bigint }>(
  'coin_reserve',
  `INSERT INTO redemption.coin_spent AS s (chain_id, account, day, wei, transactions)
    SELECT :chainId, decode(:account, 'hex'), :day, :wei::numeric, 1 WHERE :wei::numeric <= :dailyWei::numeric
    ON CONFLICT (chain_id, account, day) DO UPDATE
      SET wei = s.wei + EXCLUDED.wei, transactions = s.transactions + 1
      WHERE s.wei + EXCLUDED.wei <= :dailyWei::numeric
    RETURNING wei`,
);

const SPENT = named<AccountDay>(
  'coin_spent',
  `SELECT wei FROM redemption.coin_spent WHERE chain_id = :chainId AND account = decode(:account, 'hex') AND day = :day`,
);

export class CoinStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts the cost before the transaction is signed. The cost is not given back, because another party may
   * send a signed transaction.
   * @returns false where the cost would exceed the limit of the day, in which case nothing is counted
   */
  async reserve({ chainId, account, wei, dailyWei, nowMs }: CoinRequest): Promise<boolean> {
    const ofDay = { chainId, account: hexOf(account), day: dayOf(nowMs) };
    const rows = await this.database.query(RESERVE({ ...ofDay, wei, dailyWei }));
    return rows.length > 0;
  }

  async spent(chainId: number, account: Address, nowMs: number): Promise<bigint> {
    const statement = SPENT({ chainId, account: hexOf(account), day: dayOf(nowMs) });
    const [row] = await this.database.query<{ wei: string }>(statement);
    return BigInt(row?.wei ?? 0);
  }
}

/** The UTC day, for example `2026-01-31`. */
function dayOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}
