import { type PoolClient } from 'pg';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';

/** Bytes that are kept of an answer's body, and characters of a path. */
export const MOST_LOGGED_BODY = 8192;
const MOST_LOGGED_PATH = 2048;
/** Of each partner, the newest. */
const KEPT_REQUESTS = 20_000;
/** Rows that one statement removes at most, for each of its two reasons. */
const FORGOTTEN_AT_ONCE = 5000;

/** What a partner asked, and the answer. */
export interface LoggedRequest {
  readonly credentialId: string;
  readonly atMs: number;
  readonly method: string;
  /** As sent, with the query: a character for each byte. */
  readonly path: string;
  readonly status: number;
  /** Of an error. */
  readonly code?: string | undefined;
  /** Of the answer; of a string its UTF-8. */
  readonly body: string | Buffer;
  /** Hex digits. */
  readonly signature: string;
  readonly durationUs: number;
}

const NOTE = named<{ requests: string; bodies: Buffer }>(
  'request_note',
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
  async note(requests: readonly LoggedRequest[]): Promise<number> {
    const batch = batchOf(requests);
    const rows = await this.write(async (client) => {
      // A crash may take the last ones.
      await client.query('SET LOCAL synchronous_commit = off');
      return run<{ added: number }>(client, NOTE(batch));
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

/** The bodies travel as bytes, one after the other, so that nothing in them has to be escaped. */
function batchOf(requests: readonly LoggedRequest[]): { requests: string; bodies: Buffer } {
  const bodies: Buffer[] = [];
  let bodyStart = 0;
  const rows = requests.map(({ path, body, atMs, durationUs, ...request }) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const kept = bytes.subarray(0, MOST_LOGGED_BODY);
    bodies.push(kept);
    const row = {
      ...request,
      atMs,
      path: path.slice(0, MOST_LOGGED_PATH),
      pathLength: path.length,
      durationUs: Math.round(durationUs),
      bodyStart,
      bodyKept: kept.length,
      bodyBytes: bytes.length,
    };
    bodyStart += kept.length;
    return row;
  });
  return { requests: JSON.stringify(rows), bodies: Buffer.concat(bodies) };
}
