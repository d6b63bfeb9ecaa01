import { type QueryResultRow } from 'pg';
import { type EntityManager } from 'typeorm';
import { SingleFlight } from '#libs/platform';
import { Database, type TransactionWork } from './database.js';
import { DatabaseUnavailableError } from './database.error.js';
import { type Statement } from './named.js';

/**
 * A database that a program can start without. Each use opens it where it is not open yet, and throws the error where
 * opening fails. Concurrent uses share one attempt to open it.
 */
export class LateDatabase extends Database {
  private readonly opening = new SingleFlight<Database>();
  private opened: Database | undefined;
  private isClosed = false;

  /** @param create opens the database by `createDatabase`, and makes the checks that have to pass before it is used */
  constructor(private readonly create: () => Promise<Database>) {
    // The overridden methods delegate to the opened database, so the base class gets neither data source nor pool.
    super(undefined as never, undefined as never);
  }

  /** @throws what `create` throws; DatabaseUnavailableError after `close` */
  open(): Promise<Database> {
    return this.opened === undefined
      ? this.opening.run(() => this.openNow())
      : Promise.resolve(this.opened);
  }

  override async query<R extends QueryResultRow>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<R[]> {
    return (await this.open()).query<R>(statement, values);
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the rows are
  override async queryEach<R extends QueryResultRow>(
    statement: Statement,
    onRow: (row: R) => void,
  ): Promise<void> {
    await (await this.open()).queryEach<R>(statement, onRow);
  }

  override async entities<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return (await this.open()).entities(work);
  }

  override async transaction<T>(work: TransactionWork<T>, statementTimeoutMs?: number): Promise<T> {
    return (await this.open()).transaction(work, statementTimeoutMs);
  }

  override inSet(set: string): Database {
    return new LateDatabase(async () => (await this.open()).inSet(set));
  }

  override get connections(): { idle: number; busy: number; waiting: number } {
    return this.opened?.connections ?? { idle: 0, busy: 0, waiting: 0 };
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    // `openNow` closes a database that is still being opened.
    await this.opened?.close();
  }

  private async openNow(): Promise<Database> {
    if (this.isClosed) throw new DatabaseUnavailableError(new Error('the program stops'));
    const database = await this.create();
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been closed meanwhile
    if (this.isClosed) {
      await database.close();
      throw new DatabaseUnavailableError(new Error('the program stops'));
    }
    this.opened = database;
    return database;
  }
}
