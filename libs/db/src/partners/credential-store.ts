import { PermanentError } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { insertCredential, type NewCredential } from './new-credential.js';
import { auditPartner, type PartnerAudit } from './partner-audit.js';
import { lockPartner, type PartnerIdentity } from './partner-identity.js';

export class CredentialMissingError extends PermanentError {
  constructor() {
    super(
      'CREDENTIAL_MISSING',
      'The partner has no active credential whose key begins so; `partner list` shows the beginnings.',
    );
  }
}

export class CredentialAmbiguousError extends PermanentError {
  constructor() {
    super('CREDENTIAL_AMBIGUOUS', 'Several active keys begin so. Give more of the beginning.');
  }
}

export class LastCredentialError extends PermanentError {
  constructor() {
    super(
      'LAST_CREDENTIAL',
      "This is the partner's last active credential: without it every call of the partner is refused. Rotate first, or force it.",
    );
  }
}

export interface Revocation {
  /** Name or id. */
  readonly partner: string;
  /** The beginning of the key, as much of it as tells it from the others. */
  readonly keyPrefix: string;
  /** Also the last active one. */
  readonly force: boolean;
}

const ACTIVE = named<{ partnerId: string }>(
  'credential_active',
  `SELECT id, key_prefix AS "keyPrefix" FROM partners.credential
    WHERE partner_id = :partnerId AND revoked_at IS NULL ORDER BY created_at, id`,
);

const REVOKE = named<{ id: string }>(
  'credential_revoke',
  'UPDATE partners.credential SET revoked_at = now() WHERE id = :id',
);

/** A partner's credentials after the first: keys are replaced without a halt, because several are good at once. */
export class CredentialStore {
  constructor(private readonly database: Database) {}

  /** One more; the others stay good. @throws PartnerUnknownError */
  add(partner: string, credential: NewCredential, audit?: PartnerAudit): Promise<PartnerIdentity> {
    return this.database.transaction(async (client) => {
      const identity = await lockPartner(client, partner);
      await insertCredential(client, identity.partnerId, credential);
      await auditPartner(client, identity.partnerId, audit);
      return identity;
    });
  }

  /**
   * @returns the prefix as it is stored, and how many active credentials are left
   * @throws PartnerUnknownError, CredentialMissingError, CredentialAmbiguousError, LastCredentialError
   */
  revoke(
    { partner, keyPrefix, force }: Revocation,
    audit?: PartnerAudit,
  ): Promise<PartnerIdentity & { readonly keyPrefix: string; readonly left: number }> {
    return this.database.transaction(async (client) => {
      const identity = await lockPartner(client, partner);
      const { rows: active } = await client.query<{ id: string; keyPrefix: string }>(
        ACTIVE(identity),
      );
      const [found, another] = active.filter((one) => one.keyPrefix.startsWith(keyPrefix));
      if (found === undefined) throw new CredentialMissingError();
      if (another !== undefined) throw new CredentialAmbiguousError();
      if (active.length === 1 && !force) throw new LastCredentialError();
      await client.query(REVOKE(found));
      await auditPartner(client, identity.partnerId, audit);
      return { ...identity, keyPrefix: found.keyPrefix, left: active.length - 1 };
    });
  }
}
