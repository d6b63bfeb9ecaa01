import { type PoolClient } from 'pg';
import { type Database, type Statement } from '../connection/database.js';
import { AUDIT, auditValues } from '../redemption/redemption-views.js';
import { type PartnerAudit } from './partner-audit.js';

/** Where partner secrets are stored. */
export const SECRET_PLACES = ['credential', 'callback'] as const;
export type SecretPlace = (typeof SECRET_PLACES)[number];

/** One stored secret, sealed. */
export interface SealedSecret {
  readonly place: SecretPlace;
  readonly id: string;
  readonly partnerName: string;
  readonly sealed: Buffer;
  /** Of a credential; it is the context of the seal. */
  readonly keyHash: Buffer | undefined;
  /** Of a callback: X-API-KEY of our calls, whose hash is the context of the seal. */
  readonly callbackKey: string | undefined;
  /** The credential was revoked: nothing opens it any more. */
  readonly isRevoked: boolean;
}

/** How many secrets are sealed alike. */
export interface SealCount {
  readonly place: SecretPlace;
  readonly isRevoked: boolean;
  /** The first bytes of the seal: its version and the id of its key. */
  readonly header: Buffer;
  readonly count: number;
}

export interface SecretBatch {
  readonly place: SecretPlace;
  /** The last id of the batch before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

const HEADER_BYTES = 5;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const COUNTS: Statement = {
  name: 'sealed_counts',
  text: `SELECT place, "isRevoked", header, count(*)::int AS count FROM (
      SELECT 'credential' AS place, revoked_at IS NOT NULL AS "isRevoked", substring(secret_ciphertext, 1, ${HEADER_BYTES}) AS header
        FROM partners.credential
      UNION ALL SELECT 'callback', false, substring(secret_ciphertext, 1, ${HEADER_BYTES}) FROM partners.callback) AS sealed
    GROUP BY place, "isRevoked", header ORDER BY place DESC, "isRevoked", count DESC, header`,
};

const BATCH: Record<SecretPlace, Statement> = {
  credential: {
    name: 'sealed_credentials',
    text: `SELECT c.id, p.name AS "partnerName", c.secret_ciphertext AS sealed, c.key_hash AS "keyHash", NULL AS "callbackKey",
        c.revoked_at IS NOT NULL AS "isRevoked"
      FROM partners.credential c JOIN partners.partner p ON p.id = c.partner_id
      WHERE c.id > $1 ORDER BY c.id LIMIT $2 FOR UPDATE OF c`,
  },
  callback: {
    name: 'sealed_callbacks',
    text: `SELECT c.partner_id AS id, p.name AS "partnerName", c.secret_ciphertext AS sealed, NULL AS "keyHash", c.key AS "callbackKey",
        false AS "isRevoked"
      FROM partners.callback c JOIN partners.partner p ON p.id = c.partner_id
      WHERE c.partner_id > $1 ORDER BY c.partner_id LIMIT $2 FOR UPDATE OF c`,
  },
};

const STORE: Record<SecretPlace, Statement> = {
  credential: {
    name: 'sealed_credential_store',
    text: 'UPDATE partners.credential SET secret_ciphertext = $2 WHERE id = $1',
  },
  callback: {
    name: 'sealed_callback_store',
    text: 'UPDATE partners.callback SET secret_ciphertext = $2, updated_at = now() WHERE partner_id = $1',
  },
};

/** The stored secrets as a whole, for putting them under another key. It opens and seals none itself. */
export class SealedSecretStore {
  constructor(private readonly database: Database) {}

  async counts(): Promise<SealCount[]> {
    return this.database.query<SealCount & object>(COUNTS);
  }

  /**
   * One batch in one transaction, its rows locked: a credential that is changed meanwhile waits, so that no newer secret is overwritten.
   * @param reseal the secret sealed anew, or undefined to leave it as it is
   * @param audit written with the changes, where there are any; given how many
   * @returns the last id, undefined where the batch is empty
   */
  async rewrap(
    { place, after = FIRST_ID, limit }: SecretBatch,
    reseal: (secret: SealedSecret) => Buffer | undefined,
    audit: (changed: number) => PartnerAudit,
  ): Promise<string | undefined> {
    return this.database.transaction(async (client) => {
      const secrets = await lockBatch(client, place, [after, limit]);
      let changed = 0;
      for (const secret of secrets) {
        const sealed = reseal(secret);
        if (sealed === undefined) continue;
        await client.query({ ...STORE[place], values: [secret.id, sealed] });
        changed += 1;
      }
      if (changed > 0) {
        const { actor, note } = audit(changed);
        await client.query({ ...AUDIT, values: auditValues(actor, note, {}) });
      }
      return secrets.at(-1)?.id;
    });
  }
}

type SecretRow = Omit<SealedSecret, 'place' | 'keyHash' | 'callbackKey'> & {
  readonly keyHash: Buffer | null;
  readonly callbackKey: string | null;
};

async function lockBatch(
  client: PoolClient,
  place: SecretPlace,
  values: unknown[],
): Promise<SealedSecret[]> {
  const { rows } = await client.query<SecretRow>({ ...BATCH[place], values });
  return rows.map(({ keyHash, callbackKey, ...row }) => ({
    ...row,
    place,
    keyHash: keyHash ?? undefined,
    callbackKey: callbackKey ?? undefined,
  }));
}
