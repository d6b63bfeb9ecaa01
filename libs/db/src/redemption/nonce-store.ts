import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';

/** Schemas of the services that sign wallets in: the redemption service and the console. */
type NonceSchema = 'redemption' | 'console';

/** The nonces of Sign-In with Ethereum. Each can be used once, before it expires. */
export class NonceStore {
  private readonly statements;

  constructor(
    private readonly database: Database,
    schema: NonceSchema = 'redemption',
  ) {
    this.statements = statementsOf(schema);
  }

  async issue(nonce: string, expiresAtMs: number): Promise<void> {
    await this.database.query(this.statements.issue({ nonce, expiresAt: new Date(expiresAtMs) }));
  }

  /** Whether the nonce was issued, and is neither used nor expired. */
  async isOpen(nonce: string, nowMs: number): Promise<boolean> {
    const found = await this.database.query(this.statements.find({ nonce, now: new Date(nowMs) }));
    return found.length > 0;
  }

  /** Deletes the nonce. Returns true to exactly one caller, and only before the nonce expires. */
  async use(nonce: string, nowMs: number): Promise<boolean> {
    const now = new Date(nowMs);
    const use = this.statements.use({ nonce, now });
    const [row] = await this.database.query<{ good: boolean }>(use);
    return row?.good === true;
  }

  async forgetExpired(nowMs: number): Promise<void> {
    await this.database.query(this.statements.forget({ now: new Date(nowMs) }));
  }
}

function statementsOf(schema: NonceSchema) {
  const table = `${schema}.nonce`;
  return {
    issue: named<{ nonce: string; expiresAt: Date }>(
      `${schema}_nonce_issue`,
      `INSERT INTO ${table} (nonce, expires_at) VALUES (:nonce, :expiresAt)`,
    ),
    find: named<{ nonce: string; now: Date }>(
      `${schema}_nonce_find`,
      `SELECT 1 FROM ${table} WHERE nonce = :nonce AND expires_at > :now`,
    ),
    // One statement, so that of two concurrent uses only one succeeds.
    use: named<{ nonce: string; now: Date }>(
      `${schema}_nonce_use`,
      `DELETE FROM ${table} WHERE nonce = :nonce RETURNING expires_at > :now AS good`,
    ),
    forget: named<{ now: Date }>(
      `${schema}_nonce_forget`,
      `DELETE FROM ${table} WHERE expires_at <= :now`,
    ),
  };
}
