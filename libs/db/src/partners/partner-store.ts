import { PermanentError } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { DatabaseRefusedError } from '../connection/database.error.js';
import { type CallbackSettings, callbackValues, SET_CALLBACK } from './callback-settings.js';
import { insertCredential, type NewCredential } from './new-credential.js';
import { auditPartner, type PartnerAudit } from './partner-audit.js';
import { IDENTIFY, type PartnerIdentity, PartnerUnknownError } from './partner-identity.js';
import { type RateLimits, setRateLimits } from './rate-limits.js';

export interface NewPartner {
  readonly name: string;
  /** Requests per second. */
  readonly rate: number;
  readonly burst: number;
  readonly credential: NewCredential;
  /** Where points can be redeemed with it. */
  readonly callback?: CallbackSettings;
}

export interface ListedCredential {
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** To the minute; null where it was not used since that is noted. */
  readonly lastUsedAt: Date | null;
}

export interface ListedPartner extends PartnerIdentity {
  readonly createdAt: Date;
  /** Requests per second. */
  readonly rate: number;
  readonly burst: number;
  /** Oldest first, the revoked ones too. */
  readonly credentials: readonly ListedCredential[];
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
  text: 'INSERT INTO partners.partner (name, rate, burst) VALUES ($1, $2, $3) RETURNING id',
};

const LIST: Statement = {
  text: `SELECT id AS "partnerId", name AS "partnerName", created_at AS "createdAt", rate, burst
    FROM partners.partner ORDER BY lower(name)`,
};

const CREDENTIALS: Statement = {
  text: `SELECT partner_id AS "partnerId", key_prefix AS "keyPrefix", created_at AS "createdAt", revoked_at AS "revokedAt",
      last_used_at AS "lastUsedAt"
    FROM partners.credential ORDER BY created_at, id`,
};

const FIND: Statement = {
  name: 'partner_credential',
  text: `SELECT c.id, c.partner_id, p.name, p.rate, p.burst, c.secret_ciphertext
    FROM partners.credential c JOIN partners.partner p ON p.id = c.partner_id
    WHERE c.key_hash = $1 AND c.revoked_at IS NULL`,
};

const NOTE_USE: Statement = {
  name: 'credential_note_use',
  text: 'SELECT partners.note_use($1)',
};

export class PartnerStore {
  constructor(private readonly database: Database) {}

  /**
   * A partner with its first credential and its callback, all or none.
   * @throws PartnerExistsError, DatabaseRefusedError
   */
  async create(partner: NewPartner, audit?: PartnerAudit): Promise<{ partnerId: string }> {
    const { name, rate, burst, credential, callback } = partner;
    try {
      return await this.database.transaction(async (client) => {
        const created = { ...CREATE, values: [name, rate, burst] };
        const { rows } = await client.query<{ id: string }>(created);
        const partnerId = String(rows[0]?.id);
        await insertCredential(client, partnerId, credential);
        if (callback !== undefined) {
          await client.query({ ...SET_CALLBACK, values: callbackValues(partnerId, callback) });
        }
        await auditPartner(client, partnerId, audit);
        return { partnerId };
      });
    } catch (error) {
      if (error instanceof DatabaseRefusedError && error.sqlState === UNIQUE_VIOLATION) {
        throw new PartnerExistsError();
      }
      throw error;
    }
  }

  /** What is absent stays. @throws PartnerUnknownError */
  async setRateLimits(
    partnerId: string,
    limits: Partial<RateLimits>,
    audit?: PartnerAudit,
  ): Promise<RateLimits> {
    return this.database.transaction(async (client) => {
      const set = await setRateLimits(client, partnerId, limits);
      if (set === undefined) throw new PartnerUnknownError();
      await auditPartner(client, partnerId, audit);
      return set;
    });
  }

  /** By name in whatever capitals, or by id. */
  async identify(nameOrId: string): Promise<PartnerIdentity | undefined> {
    return (await this.database.query<PartnerIdentity & object>(IDENTIFY, [nameOrId]))[0];
  }

  /** All, by name. */
  async list(): Promise<ListedPartner[]> {
    const partners = await this.database.query<Omit<ListedPartner, 'credentials'> & object>(LIST);
    const credentials = await this.database.query<ListedCredential & { partnerId: string }>(
      CREDENTIALS,
    );
    return partners.map((partner) => ({
      ...partner,
      credentials: credentials
        .filter(({ partnerId }) => partnerId === partner.partnerId)
        .map(({ keyPrefix, createdAt, revokedAt, lastUsedAt }) => ({
          keyPrefix,
          createdAt,
          revokedAt,
          lastUsedAt,
        })),
    }));
  }

  /**
   * Notes that a credential is used now; does nothing within a minute of the last time. Works with the reading role too, on a
   * server that is no standby.
   */
  async noteUse(credentialId: string): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query('SET TRANSACTION READ WRITE');
      await client.query({ ...NOTE_USE, values: [credentialId] });
    });
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
