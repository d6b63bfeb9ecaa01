import { LessThanOrEqual } from 'typeorm';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { NonceEntity } from './nonce.entity.js';

/** One statement, so that of two who use a nonce at once one is too late. */
const USE = named<{ nonce: string; now: Date }>(
  'nonce_use',
  'DELETE FROM redemption.nonce WHERE nonce = :nonce RETURNING expires_at > :now AS good',
);

/** The nonces of Sign-In with Ethereum: each is good once, and not for long. */
export class NonceStore {
  constructor(private readonly database: Database) {}

  async issue(nonce: string, expiresAtMs: number): Promise<void> {
    const issued = { nonce, expiresAt: new Date(expiresAtMs) };
    await this.database.entities((manager) => manager.insert(NonceEntity, issued));
  }

  /** True for exactly one caller, before it expires; in any case it is gone after that. */
  async use(nonce: string, nowMs: number): Promise<boolean> {
    const now = new Date(nowMs);
    const [row] = await this.database.query<{ good: boolean }>(USE({ nonce, now }));
    return row?.good === true;
  }

  async forgetExpired(nowMs: number): Promise<void> {
    const expired = { expiresAt: LessThanOrEqual(new Date(nowMs)) };
    await this.database.entities((manager) => manager.delete(NonceEntity, expired));
  }
}
