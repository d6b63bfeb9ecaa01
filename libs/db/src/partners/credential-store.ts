import { type EntityManager, IsNull, Raw } from 'typeorm';
import { type CredentialId, type PartnerId, PermanentError } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { CredentialEntity } from './credential.entity.js';
import {
  auditPartner,
  lockPartner,
  type PartnerAudit,
  type PartnerIdentity,
} from './partner-changes.js';

/** A credential as it is stored; see CredentialEntity. */
export type NewCredential = Readonly<
  Pick<CredentialEntity, 'keyHash' | 'keyPrefix' | 'secretCiphertext'>
>;

/** A further credential. A second one with the same id is refused, so that a repeated request adds nothing twice. */
export type AddedCredential = NewCredential & { readonly id?: CredentialId | undefined };

export class CredentialExistsError extends PermanentError {
  constructor() {
    super('CREDENTIAL_EXISTS', 'This request has added its credential already.');
  }
}

export class CredentialMissingError extends PermanentError {
  constructor() {
    super(
      'CREDENTIAL_MISSING',
      'The partner has no active credential with this prefix: compare it with the prefixes of those that it has.',
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

/** A credential with which a program that has SECRETS_KEY can verify the partner's signatures. */
export interface SealedCredential extends NewCredential {
  readonly credentialId: CredentialId;
  /** Whether the api accepts the credential. */
  readonly isActive: boolean;
}

export class TooManyCredentialsError extends PermanentError {
  constructor() {
    super(
      'TOO_MANY_CREDENTIALS',
      `A partner has at most ${MOST_ACTIVE} credentials that work at once. Revoke one that is no longer used.`,
    );
  }
}

/** Maximum number of active credentials where a partner replaces its credentials itself. */
const MOST_ACTIVE = 10;

export interface Replacement {
  readonly partner: PartnerId;
  /** Beginning of the key to replace. */
  readonly keyPrefix: string;
  /** Time for which the replaced credential stays valid; 0 revokes it at once. */
  readonly overlapSeconds: number;
}

export interface Revocation {
  readonly partner: PartnerId;
  /** Beginning of the key, long enough to distinguish it from the others. */
  readonly keyPrefix: string;
  /** Revokes even the last active credential. */
  readonly force: boolean;
}

const SEALED = named<{ partnerId: PartnerId }>(
  'credential_sealed',
  `SELECT id AS "credentialId", key_hash AS "keyHash", key_prefix AS "keyPrefix", secret_ciphertext AS "secretCiphertext",
      revoked_at IS NULL AND coalesce(ends_at > now(), true) AS "isActive"
    FROM partners.credential WHERE partner_id = :partnerId ORDER BY created_at DESC, id`,
);

/** Changes to a partner's credentials. Keys are replaced without interruption, because several are valid at once. */
export class CredentialStore {
  constructor(private readonly database: Database) {}

  /** Adds a credential; the others stay valid. @throws PartnerUnknownError, CredentialExistsError */
  add(
    partner: PartnerId,
    { id, ...credential }: AddedCredential,
    audit?: PartnerAudit,
  ): Promise<PartnerIdentity> {
    return this.database.entityTransaction(async (manager) => {
      const identity = await lockPartner(manager, partner);
      if (id !== undefined && (await manager.existsBy(CredentialEntity, { id }))) {
        throw new CredentialExistsError();
      }
      const added = { ...(id !== undefined && { id }), ...credential };
      await manager.insert(CredentialEntity, { partnerId: identity.partnerId, ...added });
      await auditPartner(manager, identity.partnerId, audit);
      return identity;
    });
  }

  /** All credentials of a partner, newest first, including those that are not valid any more. */
  sealedOf(partnerId: PartnerId): Promise<SealedCredential[]> {
    return this.database.query<SealedCredential & object>(SEALED({ partnerId }));
  }

  /**
   * Adds a credential in place of another one, which stays valid for the overlap, but never beyond its own end.
   * @returns the stored prefix of the replaced credential, and the end of its validity
   * @throws PartnerUnknownError, CredentialMissingError, CredentialAmbiguousError, TooManyCredentialsError
   */
  replace(
    { partner, keyPrefix, overlapSeconds }: Replacement,
    credential: NewCredential,
    audit?: PartnerAudit,
  ): Promise<PartnerIdentity & { readonly keyPrefix: string; readonly goodUntil: Date }> {
    return this.database.entityTransaction(async (manager) => {
      const identity = await lockPartner(manager, partner);
      const { partnerId } = identity;
      const active = await activeOf(manager, partnerId);
      const { id, keyPrefix: replaced } = onlyOne(active, keyPrefix);
      if (overlapSeconds > 0 && active.length >= MOST_ACTIVE) throw new TooManyCredentialsError();
      await manager.insert(CredentialEntity, { partnerId, ...credential });
      const goodUntil = await end(manager, id, overlapSeconds);
      await auditPartner(manager, partnerId, audit);
      return { ...identity, keyPrefix: replaced, goodUntil };
    });
  }

  /**
   * @returns the stored prefix, and the number of active credentials that are left
   * @throws PartnerUnknownError, CredentialMissingError, CredentialAmbiguousError, LastCredentialError
   */
  revoke(
    { partner, keyPrefix, force }: Revocation,
    audit?: PartnerAudit,
  ): Promise<PartnerIdentity & { readonly keyPrefix: string; readonly left: number }> {
    return this.database.entityTransaction(async (manager) => {
      const identity = await lockPartner(manager, partner);
      const { partnerId } = identity;
      const active = await activeOf(manager, partnerId);
      const found = onlyOne(active, keyPrefix);
      // A credential that ends by itself does not count as one to rely on.
      const isRelied = active.some(({ id, endsAt }) => id !== found.id && endsAt === null);
      if (!isRelied && !force) throw new LastCredentialError();
      await manager.update(CredentialEntity, found.id, { revokedAt: () => 'now()' });
      await auditPartner(manager, partnerId, audit);
      return { ...identity, keyPrefix: found.keyPrefix, left: active.length - 1 };
    });
  }
}

/** Ends a credential after an overlap, but never later than it would end anyway. @returns the end of its validity */
async function end(
  manager: EntityManager,
  id: CredentialId,
  overlapSeconds: number,
): Promise<Date> {
  const [ended] = await manager.query<{ goodUntil: Date }[][]>(
    `UPDATE partners.credential SET ends_at = least(ends_at, now() + make_interval(secs => $2)),
        revoked_at = CASE WHEN $2 = 0 THEN now() END
      WHERE id = $1 RETURNING ends_at AS "goodUntil"`,
    [id, overlapSeconds],
  );
  if (ended?.[0] === undefined) throw new CredentialMissingError();
  return ended[0].goodUntil;
}

/** The credentials that the api accepts. */
function activeOf(manager: EntityManager, partnerId: PartnerId): Promise<CredentialEntity[]> {
  const unrevoked = { partnerId, revokedAt: IsNull() };
  return manager.findBy(CredentialEntity, [
    { ...unrevoked, endsAt: IsNull() },
    { ...unrevoked, endsAt: Raw((column) => `${column} > now()`) },
  ]);
}

/** @throws CredentialMissingError, CredentialAmbiguousError */
function onlyOne(active: readonly CredentialEntity[], keyPrefix: string): CredentialEntity {
  const [found, another] = active.filter((one) => one.keyPrefix.startsWith(keyPrefix));
  if (found === undefined) throw new CredentialMissingError();
  if (another !== undefined) throw new CredentialAmbiguousError();
  return found;
}
