import { type Database, type Statement } from '../connection/database.js';

const ISSUE: Statement = {
  name: 'nonce_issue',
  text: 'INSERT INTO redemption.nonce (nonce, expires_at) VALUES ($1, $2)',
};
const USE: Statement = {
  name: 'nonce_use',
  text: 'DELETE FROM redemption.nonce WHERE nonce = $1 RETURNING expires_at > $2 AS good',
};
const FORGET: Statement = {
  name: 'nonce_forget',
  text: 'DELETE FROM redemption.nonce WHERE expires_at <= $1',
};

/** The nonces of Sign-In with Ethereum: each is good once, and not for long. */
export class NonceStore {
  constructor(private readonly database: Database) {}

  async issue(nonce: string, expiresAtMs: number): Promise<void> {
    await this.database.query(ISSUE, [nonce, new Date(expiresAtMs)]);
  }

  /** True for exactly one caller, before it expires; whoever asks, it is gone after that. */
  async use(nonce: string, nowMs: number): Promise<boolean> {
    const [row] = await this.database.query<{ good: boolean }>(USE, [nonce, new Date(nowMs)]);
    return row?.good === true;
  }

  async forgetExpired(nowMs: number): Promise<void> {
    await this.database.query(FORGET, [new Date(nowMs)]);
  }
}
