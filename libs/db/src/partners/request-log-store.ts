import { type PoolClient } from 'pg';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type RequestBatch } from './request-batch.js';

/** Of each partner, the newest. */
const KEPT_REQUESTS = 20_000;
/** Rows that one statement removes at most, for each of its two reasons. */
const FORGOTTEN_AT_ONCE = 5000;

const NOTE = named<RequestBatch['content']>(
  'request_note',
  // Bytes of JSON, as the driver sends them.
  'SELECT partners.note_requests(:requests, :bodies) AS added',
);

const FORGET = named<{ before: Date; kept: number; atMost: number }>(
  'request_forget',
  'SELECT partners.forget_requests(:before, :kept, :atMost) AS gone',
);

/** The api's hand on the log of requests: it adds and forgets, and can read nothing. Works with the reading role. */
export class RequestLogStore {
  constructor(private readonly database: Database) {}

  /** In one statement. @returns how many were added: all but those of credentials that there are not */
  async note(batch: RequestBatch): Promise<number> {
    const rows = await this.write(async (client) => {
      // A crash may take the last ones.
      await client.query('SET LOCAL synchronous_commit = off');
      return run<{ added: number }>(client, NOTE(batch.content));
    });
    return rows[0]?.added ?? 0;
  }

  /**
   * Removes what is older, and of each partner what is beyond its newest 20,000; one program at a time, some thousand at once.
   * @returns whether there may be more to remove
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
