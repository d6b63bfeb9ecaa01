import pg, { type Pool, type PoolClient, type QueryResultRow } from 'pg';
import { type DataSource, type EntityManager } from 'typeorm';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { inChildSpan } from '#libs/platform';
import { type CheckedClient } from './checked-client.js';
import { answerTimeoutOf } from './connection-options.js';
import { databaseError, isOfTheSession } from './database.error.js';
import { type Statement } from './named.js';
import { spanOf } from './trace-statements.js';
import { type IndexPart, schemaOf } from './stake-set.js';

/** An open database: its pool of connections for statements and COPY, and TypeORM's DataSource for entities. */
export class Database {
  /** @param schema whose tables are used in place of those of the default stake set; entities are in no stake set */
  constructor(
    readonly dataSource: DataSource,
    readonly pool: Pool,
    private readonly schema = schemaOf(DEFAULT_STAKE_SET),
  ) {}

  /** @throws DatabaseUnavailableError, DatabaseRefusedError */
  query<R extends QueryResultRow>(statement: Statement, values?: Values): Promise<R[]> {
    return this.onConnection((client) => run<R>(client, statement, values));
  }

  /**
   * Passes each row to `onRow` when it arrives, while the server works on further rows.
   * @throws DatabaseUnavailableError, DatabaseRefusedError; the first error of `onRow`, after the last row
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the rows are
  async queryEach<R extends QueryResultRow>(
    statement: Statement,
    onRow: (row: R) => void,
  ): Promise<void> {
    const query = new pg.Query<R>(statement);
    let failed: { readonly error: unknown } | undefined;
    query.on('row', (row) => {
      if (failed !== undefined) return;
      try {
        onRow(row);
      } catch (error) {
        // `onRow` runs in an event listener of the connection, where an exception would end the process.
        failed = { error };
      }
    });
    await inChildSpan(spanOf(statement), () =>
      this.onConnection((client) => {
        return new Promise<void>((resolve, reject) => {
          // pg's types do not declare the callback of such a query.
          client.query(query, (error: Error | undefined) => {
            if (error) reject(error);
            else resolve();
          });
        });
      }),
    );
    if (failed !== undefined) throw failed.error;
  }

  /**
   * Runs work with TypeORM's entities, each statement on any connection; `manager.transaction` makes them one
   * transaction.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws
   */
  async entities<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    try {
      return await work(this.dataSource.manager);
    } catch (error) {
      throw databaseError(error);
    }
  }

  /** Runs work with TypeORM's entities in one transaction. @throws as `entities` */
  entityTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.entities((manager) => manager.transaction(work));
  }

  /**
   * Runs the work in one transaction on one connection.
   * @throws DatabaseUnavailableError, DatabaseRefusedError, or what the work throws. The transaction is rolled back,
   * except that after a DatabaseUnavailableError at the commit it may have been committed.
   * @param statementTimeoutMs time limit of each statement. Default: that of the session
   */
  transaction<T>(work: TransactionWork<T>, statementTimeoutMs?: number): Promise<T> {
    return inChildSpan(spanOf({ text: 'TRANSACTION' }), async () => {
      const end = await this.onConnection(
        async (client): Promise<{ result: T } | { error: unknown }> => {
          await client.query('BEGIN');
          try {
            const result = await withStatementTimeout(client, statementTimeoutMs, work);
            await client.query('COMMIT');
            return { result };
          } catch (error) {
            // A connection on which ROLLBACK fails is unusable.
            await client.query('ROLLBACK').catch(() => {
              throw error;
            });
            if (isOfTheSession(error)) throw error;
            return { error };
          }
        },
      );
      if ('error' in end) throw databaseError(end.error);
      return end.result;
    });
  }

  /**
   * The same connections for another stake set: SQL that names tables of the default set uses the tables of `set`
   * instead. Stores of the schema `staking` take it. Closing one of the two databases closes both.
   */
  inSet(set: string, part: IndexPart = 'current'): Database {
    return new Database(this.dataSource, this.pool, schemaOf(set, part));
  }

  /** Numbers of idle and busy connections and of waiting requests, for `measureConnections` of #libs/service. */
  get connections(): { idle: number; busy: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { idle: idleCount, busy: totalCount - idleCount, waiting: waitingCount };
  }

  /** Closes the connections, if they are not closed already. */
  async close(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /** Closes the connection if the work fails. */
  private async onConnection<T>(work: (client: Connection) => Promise<T>): Promise<T> {
    let client: Connection | undefined;
    let isBroken = true;
    try {
      client = (await this.pool.connect()) as Connection;
      client.schema = this.schema;
      const result = await work(client);
      isBroken = false;
      return result;
    } catch (error) {
      throw databaseError(error);
    } finally {
      if (client !== undefined) {
        client.schema = schemaOf(DEFAULT_STAKE_SET);
        client.release(isBroken);
      }
    }
  }
}

/** A connection of the pool, which has been taken out of it. */
type Connection = PoolClient & CheckedClient;

export type TransactionWork<T> = (client: PoolClient) => Promise<T>;

type Values = readonly unknown[];

/** Runs the work of an open transaction, with another time limit of its statements if there is one. */
async function withStatementTimeout<T>(
  client: Connection,
  statementTimeoutMs: number | undefined,
  work: TransactionWork<T>,
): Promise<T> {
  if (statementTimeoutMs === undefined) return work(client);
  await client.query(`SET LOCAL statement_timeout = ${statementTimeoutMs}`);
  client.answerTimeoutMs = answerTimeoutOf(statementTimeoutMs);
  try {
    return await work(client);
  } finally {
    client.answerTimeoutMs = undefined;
  }
}

/**
 * The rows of a prepared statement, run on the connection of a transaction or on a free one of the pool.
 * @throws pg's errors, not converted
 */
export async function run<R extends object>(
  on: Pool | PoolClient,
  statement: Statement,
  values: Values = statement.values ?? [],
): Promise<R[]> {
  const { rows } = await on.query<R>({ ...statement, values: [...values] });
  return rows;
}
