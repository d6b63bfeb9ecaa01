import { type PoolClient } from 'pg';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type RequestBatch } from './request-batch.js';

/** Number of requests that are kept of each partner, the newest ones. */
const KEPT_REQUESTS = 20_000;
/** Maximum number of rows that one statement deletes for each of two reasons: too old, and too many of a partner. */
const FORGOTTEN_AT_ONCE = 5000;

const NOTE = named<RequestBatch['content']>(
  'request_note',
  // Bytes of JSON, which the driver sends as they are.
  'SELECT partners.note_requests(:requests, :bodies) AS added',
);

const FORGET = named<{ before: Date; kept: number; atMost: number }>(
  'request_forget',
  'SELECT partners.forget_requests(:before, :kept, :atMost) AS gone',
);

/**
 * The log of requests, as the api may use it: to add and delete rows, but not to read them. Works
 * with the reading role.
 */
export class RequestLogStore {
  constructor(private readonly database: Database) {}

  /** Adds a batch by one statement. @returns number of rows; requests whose credential does not exist are left out */
  async note(batch: RequestBatch): Promise<number> {
    const rows = await this.write(async (client) => {
      // The last requests may be lost in a crash of the server.
      await client.query('SET LOCAL synchronous_commit = off');
      return run<{ added: number }>(client, NOTE(batch.content));
    });
    return rows[0]?.added ?? 0;
  }

  /**
   * Deletes requests before `beforeMs`, and requests beyond a partner's newest 20,000. One program deletes at a time, a
   * few thousand rows per call.
   * @returns whether there may be more to delete
   */
  async forget(beforeMs: number): Promise<boolean> {
    const sweep = FORGET({
      before: new Date(beforeMs),
      kept: KEPT_REQUESTS,
      atMost: FORGOTTEN_AT_ONCE,
    });
    const rows = await this.write((client) => run<{ gone: number }>(client, sweep));
    return (rows[0]?.gone ?? 0) >= FORGOTTEN_AT_ONCE;
  }

  private write<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.database.transaction(async (client) => {
      await client.query('SET TRANSACTION READ WRITE');
      return work(client);
    });
  }
}
