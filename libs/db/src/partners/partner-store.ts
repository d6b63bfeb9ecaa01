import { PermanentError } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { DatabaseRefusedError } from '../connection/database.error.js';

/** A credential as it is stored: nothing in it opens anything without SECRETS_KEY. */
export interface NewCredential {
  /** SHA-256 of the API key. */
  readonly keyHash: Buffer;
  /** The key's first 12 characters, to tell credentials apart in lists. */
  readonly keyPrefix: string;
  /** Sealed with the hash of the key as its context. */
  readonly secretCiphertext: Buffer;
}

export interface NewPartner {
  readonly name: string;
  /** Requests per second. */
  readonly rate: number;
  readonly burst: number;
  readonly credential: NewCredential;
}

export interface FoundCredential {
  readonly credentialId: string;
  readonly partnerId: string;
  readonly partnerName: string;
  readonly rate: number;
  readonly burst: number;
  readonly secretCiphertext: Buffer;
}

export class PartnerExistsError extends PermanentError {
  constructor() {
    super('PARTNER_EXISTS', 'There is a partner of this name already; capitals do not matter');
  }
}

const UNIQUE_VIOLATION = '23505';

const CREATE: Statement = {
  name: 'partner_create',
  text: `WITH created AS (
      INSERT INTO partners.partner (name, rate, burst) VALUES ($1, $2, $3) RETURNING id
    )
    INSERT INTO partners.credential (partner_id, key_hash, key_prefix, secret_ciphertext)
    SELECT id, $4, $5, $6 FROM created RETURNING partner_id`,
};

const FIND: Statement = {
  name: 'partner_credential',
  text: `SELECT c.id, c.partner_id, p.name, p.rate, p.burst, c.secret_ciphertext
    FROM partners.credential c JOIN partners.partner p ON p.id = c.partner_id
    WHERE c.key_hash = $1 AND c.revoked_at IS NULL`,
};

export class PartnerStore {
  constructor(private readonly database: Database) {}

  /**
   * A partner with its first credential, both or none.
   * @throws PartnerExistsError, DatabaseRefusedError
   */
  async create(partner: NewPartner): Promise<{ partnerId: string }> {
    const { name, rate, burst, credential } = partner;
    const values = [name, rate, burst];
    const { keyHash, keyPrefix, secretCiphertext } = credential;
    try {
      const rows = await this.database.query<{ partner_id: string }>(CREATE, [
        ...values,
        keyHash,
        keyPrefix,
        secretCiphertext,
      ]);
      return { partnerId: String(rows[0]?.partner_id) };
    } catch (error) {
      if (error instanceof DatabaseRefusedError && error.sqlState === UNIQUE_VIOLATION) {
        throw new PartnerExistsError();
      }
      throw error;
    }
  }

  /** The credential of an API key, by its hash; undefined where there is none or it was revoked. */
  async findCredential(keyHash: Buffer): Promise<FoundCredential | undefined> {
    const [row] = await this.database.query<{
      id: string;
      partner_id: string;
      name: string;
      rate: number;
      burst: number;
      secret_ciphertext: Buffer;
    }>(FIND, [keyHash]);
    return (
      row && {
        credentialId: row.id,
        partnerId: row.partner_id,
        partnerName: row.name,
        rate: row.rate,
        burst: row.burst,
        secretCiphertext: row.secret_ciphertext,
      }
    );
  }
}
