/** The expected rows of the index, computed from the generator of the chain itself and compared in SQL. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  changesOf,
  FOLLOWED_POOL,
  ReplayChain,
  type ReplayShape,
  replayWallet,
} from '../replay/index.js';

const ROWS_OF_PART = 10_000;

export class Oracle {
  readonly chain: ReplayChain;
  private parts: readonly Buffer[] | undefined;

  constructor(shape: ReplayShape) {
    this.chain = new ReplayChain(shape);
  }

  /** Writes the expected rows to `oracle.balance_change`. */
  async load(client: pg.Client): Promise<void> {
    this.parts ??= [...this.rows()];
    await client.query(`CREATE SCHEMA oracle; CREATE TABLE oracle.balance_change (
      wallet bytea NOT NULL, block bigint NOT NULL, seconds bigint NOT NULL, balance numeric(78, 0) NOT NULL)`);
    const copy = client.query(copyFrom('COPY oracle.balance_change FROM STDIN'));
    await pipeline(Readable.from(this.parts), copy);
    await client.query('ANALYZE oracle.balance_change');
  }

  private *rows(): Generator<Buffer> {
    const { chain } = this;
    let [text, count] = ['', 0];
    for (const { wallet, block, balance } of changesOf(chain.history, FOLLOWED_POOL)) {
      const address = replayWallet(chain.shape, wallet).slice(2);
      text += `\\\\x${address}\t${block}\t${chain.secondsOf(block)}\t${balance}\n`;
      if (++count % ROWS_OF_PART > 0) continue;
      yield Buffer.from(text, 'latin1');
      text = '';
    }
    yield Buffer.from(text, 'latin1');
  }
}

/** @returns the number of rows up to the block that only one of the two tables has */
export async function wrongRows(
  client: pg.Client,
  schema: 'staking' | 'bench',
  upToBlock: number,
): Promise<number> {
  return countOf(
    client,
    `SELECT count(*)::int AS wrong
     FROM (SELECT * FROM ${schema}.balance_change WHERE block <= $1) a
     FULL JOIN (SELECT * FROM oracle.balance_change WHERE block <= $1) b USING (wallet, block, seconds, balance)
     WHERE a.wallet IS NULL OR b.wallet IS NULL`,
    upToBlock,
  );
}

/**
 * Computes the days of every wallet from the oracle's intervals: the lowest balance that lasted for any time in the
 * day, and the closing one.
 * @returns the number of days up to the block that are wrong, missing or superfluous
 */
export async function wrongDays(client: pg.Client, upToBlock: number): Promise<number> {
  return countOf(
    client,
    `WITH opened AS (
       SELECT wallet, block, seconds, seconds / 86400 AS day, balance,
              lag(balance, 1, 0) OVER of_wallet AS before, lag(seconds / 86400) OVER of_wallet AS day_before
       FROM oracle.balance_change WHERE block <= $1 WINDOW of_wallet AS (PARTITION BY wallet ORDER BY block)
     ), days AS (
       SELECT wallet, day, (array_agg(balance ORDER BY block DESC))[1] AS closing,
              least(min(balance), min(before) FILTER (WHERE day_before IS DISTINCT FROM day AND seconds % 86400 > 0)) AS lowest
       FROM opened GROUP BY wallet, day
     )
     SELECT count(*)::int AS wrong
     FROM (SELECT wallet, day, closing, least(low, closing) AS lowest FROM staking.balance_day) a
     FULL JOIN days b USING (wallet, day, closing, lowest)
     WHERE a.wallet IS NULL OR b.wallet IS NULL`,
    upToBlock,
  );
}

async function countOf(client: pg.Client, statement: string, upToBlock: number): Promise<number> {
  const { rows } = await client.query<{ wrong: number }>(statement, [upToBlock]);
  return rows[0]?.wrong ?? Number.NaN;
}
