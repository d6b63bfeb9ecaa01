import { IsNull } from 'typeorm';
import { PermanentError } from '#libs/domain';
import { type Database } from '../connection/database.js';
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

/** One more; the same id again is refused, so that a request that is repeated adds nothing twice. */
export type AddedCredential = NewCredential & { readonly id?: string | undefined };

export class CredentialExistsError extends PermanentError {
  constructor() {
    super('CREDENTIAL_EXISTS', 'This request has added its credential already.');
  }
}

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

/** A partner's credentials after the first: keys are replaced without a halt, because several are good at once. */
export class CredentialStore {
  constructor(private readonly database: Database) {}

  /** One more; the others stay good. @throws PartnerUnknownError, CredentialExistsError */
  add(
    partner: string,
    { id, ...credential }: AddedCredential,
    audit?: PartnerAudit,
  ): Promise<PartnerIdentity> {
    return this.database.transaction(async (client, manager) => {
      const identity = await lockPartner(client, partner);
      if (id !== undefined && (await manager.existsBy(CredentialEntity, { id }))) {
        throw new CredentialExistsError();
      }
      const added = { ...(id !== undefined && { id }), ...credential };
      await manager.insert(CredentialEntity, { partnerId: identity.partnerId, ...added });
      await auditPartner(manager, identity.partnerId, audit);
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
    return this.database.transaction(async (client, manager) => {
      const identity = await lockPartner(client, partner);
      const { partnerId } = identity;
      const active = await manager.findBy(CredentialEntity, { partnerId, revokedAt: IsNull() });
      const [found, another] = active.filter((one) => one.keyPrefix.startsWith(keyPrefix));
      if (found === undefined) throw new CredentialMissingError();
      if (another !== undefined) throw new CredentialAmbiguousError();
      if (active.length === 1 && !force) throw new LastCredentialError();
      await manager.update(CredentialEntity, found.id, { revokedAt: () => 'now()' });
      await auditPartner(manager, partnerId, audit);
      return { ...identity, keyPrefix: found.keyPrefix, left: active.length - 1 };
    });
  }
}
