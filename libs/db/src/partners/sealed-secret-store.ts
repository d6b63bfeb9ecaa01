import { type PoolClient } from 'pg';
import { type Database } from '../connection/database.js';
import { named, type Statement } from '../connection/named.js';
import { noteCommand } from '../redemption/audit-log.js';
import { type RowOf } from '../connection/rows.js';
import { type PartnerAudit } from './partner-changes.js';

/** Where secrets of partners are stored. */
export const SECRET_PLACES = ['credential', 'callback', 'webhook'] as const;
export type SecretPlace = (typeof SECRET_PLACES)[number];

export interface SealedSecret {
  readonly place: SecretPlace;
  readonly id: string;
  readonly partnerName: string;
  readonly sealed: Buffer;
  /** Only of a credential: the context of its seal. */
  readonly keyHash: Buffer | undefined;
  /** Only of a callback: X-API-KEY of our calls, whose hash is the context of its seal. */
  readonly callbackKey: string | undefined;
  /** Only of a webhook: the context of its seal. */
  readonly subscription: string | undefined;
  /**
   * The credential is not valid any more, or the secret of the webhook was replaced, so that the secret is of no use.
   */
  readonly isRevoked: boolean;
}

/** Number of secrets whose seals have the same header. */
export interface SealCount {
  readonly place: SecretPlace;
  readonly isRevoked: boolean;
  /** First bytes of the seal: its version and the id of its key. */
  readonly header: Buffer;
  readonly count: number;
}

interface SecretBatch {
  readonly place: SecretPlace;
  /** Last id of the previous batch. */
  readonly after?: string | undefined;
  readonly limit: number;
}

const HEADER_BYTES = 5;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const COUNTS: Statement = {
  name: 'sealed_counts',
  text: `SELECT place, "isRevoked", header, count(*)::int AS count FROM (
      SELECT 'credential' AS place, (revoked_at IS NOT NULL OR coalesce(ends_at <= now(), false)) AS "isRevoked", substring(secret_ciphertext, 1, ${HEADER_BYTES}) AS header
        FROM partners.credential
      UNION ALL SELECT 'callback', false, substring(secret_ciphertext, 1, ${HEADER_BYTES}) FROM partners.callback
      UNION ALL SELECT 'webhook', coalesce(ends_at <= now(), false), substring(ciphertext, 1, ${HEADER_BYTES}) FROM webhooks.secret) AS sealed
    GROUP BY place, "isRevoked", header ORDER BY place DESC, "isRevoked", count DESC, header`,
};

interface BatchBounds {
  readonly after: string;
  readonly limit: number;
}

const BATCH = {
  credential: named<BatchBounds>(
    'sealed_credentials',
    `SELECT c.id, p.name AS "partnerName", c.secret_ciphertext AS sealed, c.key_hash AS "keyHash", NULL AS "callbackKey", NULL AS subscription,
        (c.revoked_at IS NOT NULL OR coalesce(c.ends_at <= now(), false)) AS "isRevoked"
      FROM partners.credential c JOIN partners.partner p ON p.id = c.partner_id
      WHERE c.id > :after ORDER BY c.id LIMIT :limit FOR UPDATE OF c`,
  ),
  callback: named<BatchBounds>(
    'sealed_callbacks',
    `SELECT c.partner_id AS id, p.name AS "partnerName", c.secret_ciphertext AS sealed, NULL AS "keyHash", c.key AS "callbackKey", NULL AS subscription,
        false AS "isRevoked"
      FROM partners.callback c JOIN partners.partner p ON p.id = c.partner_id
      WHERE c.partner_id > :after ORDER BY c.partner_id LIMIT :limit FOR UPDATE OF c`,
  ),
  webhook: named<BatchBounds>(
    'sealed_webhooks',
    `SELECT k.id, p.name AS "partnerName", k.ciphertext AS sealed, NULL AS "keyHash", NULL AS "callbackKey", k.subscription,
        coalesce(k.ends_at <= now(), false) AS "isRevoked"
      FROM webhooks.secret k JOIN webhooks.subscription s ON s.id = k.subscription JOIN partners.partner p ON p.id = s.partner
      WHERE k.id > :after ORDER BY k.id LIMIT :limit FOR UPDATE OF k`,
  ),
};

const RESEAL = {
  credential: named<{ id: string; sealed: Buffer }>(
    'reseal_credential',
    'UPDATE partners.credential SET secret_ciphertext = :sealed WHERE id = :id::uuid',
  ),
  callback: named<{ id: string; sealed: Buffer }>(
    'reseal_callback',
    'UPDATE partners.callback SET secret_ciphertext = :sealed, updated_at = now() WHERE partner_id = :id::uuid',
  ),
  webhook: named<{ id: string; sealed: Buffer }>(
    'reseal_webhook',
    'UPDATE webhooks.secret SET ciphertext = :sealed WHERE id = :id::uuid',
  ),
};

/** All stored secrets, to seal them under another key. This store itself neither opens nor seals them. */
export class SealedSecretStore {
  constructor(private readonly database: Database) {}

  async counts(): Promise<SealCount[]> {
    return this.database.query<SealCount & object>(COUNTS);
  }

  /**
   * Reseals one batch in one transaction that locks its rows. A concurrent change to a credential waits, so that no
   * newer secret is overwritten.
   * @param reseal returns the secret sealed again, or undefined to leave it as it is
   * @param audit makes the audit row from the number of changes; called only where there are changes
   * @returns the last id; undefined where the batch is empty
   */
  async resealBatch(
    { place, after = FIRST_ID, limit }: SecretBatch,
    reseal: (secret: SealedSecret) => Buffer | undefined,
    audit: (changed: number) => PartnerAudit,
  ): Promise<string | undefined> {
    return this.database.transaction(async (client) => {
      const secrets = await lockBatch(client, place, { after, limit });
      let changed = 0;
      for (const secret of secrets) {
        const sealed = reseal(secret);
        if (sealed === undefined) continue;
        await client.query(RESEAL[place]({ id: secret.id, sealed }));
        changed += 1;
      }
      if (changed > 0) {
        const { actor, note } = audit(changed);
        await noteCommand(client, actor, note);
      }
      return secrets.at(-1)?.id;
    });
  }
}

async function lockBatch(
  client: PoolClient,
  place: SecretPlace,
  bounds: BatchBounds,
): Promise<SealedSecret[]> {
  const { rows } = await client.query<RowOf<Omit<SealedSecret, 'place'>>>(BATCH[place](bounds));
  return rows.map(({ keyHash, callbackKey, subscription, ...row }) => ({
    ...row,
    place,
    keyHash: keyHash ?? undefined,
    callbackKey: callbackKey ?? undefined,
    subscription: subscription ?? undefined,
  }));
}
