import { type Address } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { addressOf } from '../rows.js';
import { addressBytes } from './redemption-row.js';

const OPEN: Statement = {
  name: 'session_open',
  text: 'INSERT INTO redemption.session (token_hash, wallet, expires_at) VALUES ($1, $2, $3)',
};
const FIND: Statement = {
  name: 'session_find',
  text: `SELECT encode(wallet, 'hex') AS wallet FROM redemption.session WHERE token_hash = $1 AND expires_at > $2`,
};
const CLOSE: Statement = {
  name: 'session_close',
  text: 'DELETE FROM redemption.session WHERE token_hash = $1',
};
const FORGET: Statement = {
  name: 'session_forget',
  text: 'DELETE FROM redemption.session WHERE expires_at <= $1',
};

/** Who is signed in. Of a session's token only the SHA-256 is here: whoever reads the table cannot sign in with it. */
export class SessionStore {
  constructor(private readonly database: Database) {}

  /** @param tokenHash 32 bytes, here and below */
  async open(tokenHash: Buffer, wallet: Address, expiresAtMs: number): Promise<void> {
    await this.database.query(OPEN, [tokenHash, addressBytes(wallet), new Date(expiresAtMs)]);
  }

  /** Undefined where there is no such session, or it has expired. */
  async find(tokenHash: Buffer, nowMs: number): Promise<Address | undefined> {
    const values = [tokenHash, new Date(nowMs)];
    const [row] = await this.database.query<{ wallet: string }>(FIND, values);
    return row && addressOf(row.wallet);
  }

  async close(tokenHash: Buffer): Promise<void> {
    await this.database.query(CLOSE, [tokenHash]);
  }

  async forgetExpired(nowMs: number): Promise<void> {
    await this.database.query(FORGET, [new Date(nowMs)]);
  }
}
