import { type EntityManager, In, type SelectQueryBuilder } from 'typeorm';
import {
  type CredentialId,
  DEFAULT_STAKE_SET,
  parsePartnerId,
  type PartnerId,
  PermanentError,
} from '#libs/domain';
import { lookAlikeKey } from '#libs/names';
import { type Database } from '../connection/database.js';
import { isRefusal } from '../connection/database.error.js';
import { named } from '../connection/named.js';
import { type LogPage, nextKey, type PageRequest } from '../connection/page.js';
import { type CallbackSettings, setCallback } from './callback-store.js';
import { type NewCredential } from './credential-store.js';
import { CredentialEntity } from './credential.entity.js';
import {
  auditPartner,
  bindToStakeSet,
  type PartnerAudit,
  type PartnerIdentity,
  type PartnerTerms,
  PartnerUnknownError,
  type RateLimits,
  lockPartner,
  replacedTerms,
  setTerms,
  termsOf,
} from './partner-changes.js';
import { PartnerEntity } from './partner.entity.js';

/** Absent terms have their defaults. */
export interface NewPartner extends RateLimits, Partial<Omit<PartnerTerms, keyof RateLimits>> {
  /**
   * Default: a new id. A second partner with the same id is refused, so that a repeated request creates nothing twice.
   */
  readonly id?: PartnerId | undefined;
  readonly name: string;
  readonly credential: NewCredential;
  /** Given where points of the partner can be redeemed. */
  readonly callback?: CallbackSettings;
}

export interface ListedCredential {
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** End of validity of a replaced credential. */
  readonly endsAt: Date | null;
  /** Exact to the minute; null where the credential was not used since uses are recorded. */
  readonly lastUsedAt: Date | null;
}

export interface ListedPartner extends PartnerIdentity, PartnerTerms {
  readonly createdAt: Date;
  /** Oldest first, revoked ones included. */
  readonly credentials: readonly ListedCredential[];
}

interface FoundCredential extends PartnerIdentity, RateLimits, Pick<PartnerTerms, 'stakeSet'> {
  readonly credentialId: CredentialId;
  readonly secretCiphertext: Buffer;
}

export class PartnerExistsError extends PermanentError {
  /** @param other whose name is the same, or looks like it */
  constructor(other?: PartnerIdentity) {
    const who = other && `: ${other.partnerName} (${other.partnerId})`;
    super(
      'PARTNER_EXISTS',
      `Another partner has this name, or one that looks like it${who ?? ''}. Capitals do not matter.`,
    );
  }
}

/** Runs for requests with a key that is not cached. */
const FIND = named<{ keyHash: Buffer }>(
  'partner_credential',
  `SELECT c.id AS "credentialId", c.partner_id AS "partnerId", p.name AS "partnerName", p.rate, p.burst,
      coalesce(p.stake_set, '${DEFAULT_STAKE_SET}') AS "stakeSet", c.secret_ciphertext AS "secretCiphertext"
    FROM partners.credential c JOIN partners.partner p ON p.id = c.partner_id
    WHERE c.key_hash = :keyHash AND c.revoked_at IS NULL AND (c.ends_at IS NULL OR c.ends_at > now())`,
);

/** A text may be the name of one partner and the id of another. */
const NAMED = named<{ reference: string; partnerId: PartnerId | null }>(
  'partner_named',
  `SELECT id AS "partnerId", name AS "partnerName" FROM partners.partner
    WHERE lower(name) = lower(:reference) OR id = :partnerId::uuid ORDER BY lower(name)`,
);

const NAMES = named<{ ids: readonly PartnerId[] }>(
  'partner_names',
  'SELECT id AS "partnerId", name AS "partnerName" FROM partners.partner WHERE id = ANY(:ids::uuid[])',
);

/**
 * Reads the whole table, which is small, because partners are companies under contract. `%` and `_`
 * have no special meaning.
 */
const BY_PART = named<{ part: string; limit: number }>(
  'partner_by_part',
  `SELECT id AS "partnerId", name AS "partnerName" FROM partners.partner WHERE position(lower(:part::text) IN lower(name)) > 0
    ORDER BY lower(name) LIMIT :limit`,
);

const NOTE_USE = named<{ credentialId: CredentialId }>(
  'credential_note_use',
  'SELECT partners.note_use(:credentialId)',
);

export class PartnerStore {
  constructor(private readonly database: Database) {}

  /**
   * Creates a partner with its first credential and its callback, all or nothing.
   * @throws PartnerExistsError, DatabaseRefusedError
   */
  async create(
    { id, credential, callback, stakeSet, ...partner }: NewPartner,
    audit?: PartnerAudit,
  ): Promise<{ partnerId: PartnerId }> {
    try {
      return await this.database.entityTransaction(async (manager) => {
        await requireOwnLook(manager, partner.name);
        const given = id === undefined ? partner : { id, ...partner };
        const { identifiers } = await manager.insert(PartnerEntity, given);
        const partnerId = identifiers[0]?.['id'] as PartnerId;
        if (stakeSet !== undefined) await bindToStakeSet(manager, partnerId, stakeSet);
        await manager.insert(CredentialEntity, { partnerId, ...credential });
        if (callback !== undefined) await setCallback(manager, partnerId, callback);
        await auditPartner(manager, partnerId, audit);
        return { partnerId };
      });
    } catch (error) {
      throw isRefusal(error, 'unique_violation') ? new PartnerExistsError() : error;
    }
  }

  /** @throws PartnerUnknownError, PartnerExistsError */
  async rename(partnerId: PartnerId, name: string, audit?: PartnerAudit): Promise<void> {
    await this.database.entityTransaction(async (manager) => {
      await requireOwnLook(manager, name, partnerId);
      const { affected } = await manager.update(PartnerEntity, { id: partnerId }, { name });
      if (affected !== 1) throw new PartnerUnknownError();
      await auditPartner(manager, partnerId, audit);
    });
  }

  /** Absent terms stay as they are. @throws PartnerUnknownError, UnknownStakeSetError */
  async setTerms(
    partnerId: PartnerId,
    terms: Partial<PartnerTerms>,
    audit?: PartnerAudit,
  ): Promise<PartnerTerms> {
    return this.database.entityTransaction(async (manager) => {
      const before = await lockPartner(manager, partnerId);
      const set = await setTerms(manager, partnerId, terms);
      await auditPartner(manager, partnerId, audit, replacedTerms(before, set));
      return set;
    });
  }

  async identify(partnerId: PartnerId): Promise<PartnerIdentity | undefined> {
    const statement = NAMES({ ids: [partnerId] });
    return (await this.database.query<PartnerIdentity & object>(statement))[0];
  }

  /** The partners that have this name, ignoring upper and lower case, or this id: none, one or two. */
  findNamed(reference: string): Promise<PartnerIdentity[]> {
    const partnerId = parsePartnerId(reference) ?? null;
    return this.database.query<PartnerIdentity & object>(NAMED({ reference, partnerId }));
  }

  /** Partners whose name contains `part`, ignoring upper and lower case, ordered by name. */
  findByPart(part: string, limit: number): Promise<PartnerIdentity[]> {
    return this.database.query<PartnerIdentity & object>(BY_PART({ part, limit }));
  }

  /** All partners, ordered by name. */
  list(): Promise<ListedPartner[]> {
    return this.database.entities(async (manager) =>
      listed(manager, await byName(manager).getMany()),
    );
  }

  /**
   * Partners, ordered by name.
   * @param after name of the last partner on the previous page
   * @param part of the names, ignoring upper and lower case
   */
  page(
    { limit, after }: PageRequest<string>,
    part?: string,
  ): Promise<LogPage<ListedPartner, string>> {
    return this.database.entities(async (manager) => {
      const query = byName(manager).limit(limit);
      if (after !== undefined) query.andWhere('lower(partner.name) > lower(:after)', { after });
      if (part !== undefined) {
        query.andWhere('position(lower(:part) IN lower(partner.name)) > 0', { part });
      }
      const partners = await query.getMany();
      const entries = await listed(manager, partners);
      return { entries, next: nextKey(partners, limit, ({ name }) => name) };
    });
  }

  find(partnerId: PartnerId): Promise<ListedPartner | undefined> {
    return this.database.entities(async (manager) => {
      const partners = await manager.findBy(PartnerEntity, { id: partnerId });
      return (await listed(manager, partners))[0];
    });
  }

  /** Names of these partners, by id. */
  async names(partnerIds: readonly PartnerId[]): Promise<Map<PartnerId, string>> {
    const statement = NAMES({ ids: [...new Set(partnerIds)] });
    const rows = await this.database.query<PartnerIdentity & object>(statement);
    return new Map(rows.map(({ partnerId, partnerName }) => [partnerId, partnerName]));
  }

  /**
   * Records that a credential is used now, at most once a minute. Also works with the reading role, on a server
   * that is not a standby.
   */
  async noteUse(credentialId: CredentialId): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query('SET TRANSACTION READ WRITE');
      await client.query(NOTE_USE({ credentialId }));
    });
  }

  /**
   * The valid credential of an API key, by the hash of the key; undefined where it does not exist,
   * was revoked or has ended.
   */
  async findCredential(keyHash: Buffer): Promise<FoundCredential | undefined> {
    return (await this.database.query<FoundCredential & object>(FIND({ keyHash })))[0];
  }
}

/**
 * Makes sure that no other partner has a name that looks like this one, until the end of the transaction.
 * @param partnerId the partner that gets the name, where it exists
 * @throws PartnerExistsError
 */
async function requireOwnLook(
  manager: EntityManager,
  name: string,
  partnerId?: string,
): Promise<void> {
  // One transaction after the other reads all names and adds one. Reading the table goes on.
  await manager.query('LOCK TABLE partners.partner IN SHARE ROW EXCLUSIVE MODE');
  const key = lookAlikeKey(name);
  const others = await byName(manager).getMany();
  const other = others.find((one) => one.id !== partnerId && lookAlikeKey(one.name) === key);
  if (other !== undefined) {
    throw new PartnerExistsError({ partnerId: other.id, partnerName: other.name });
  }
}

function byName(manager: EntityManager): SelectQueryBuilder<PartnerEntity> {
  return manager.createQueryBuilder(PartnerEntity, 'partner').orderBy('lower(partner.name)');
}

async function listed(
  manager: EntityManager,
  partners: readonly PartnerEntity[],
): Promise<ListedPartner[]> {
  const credentials = await manager.find(CredentialEntity, {
    where: { partnerId: In(partners.map(({ id }) => id)) },
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return partners.map((partner) => ({
    partnerId: partner.id,
    partnerName: partner.name,
    createdAt: partner.createdAt,
    ...termsOf(partner),
    credentials: credentials.filter((one) => one.partnerId === partner.id).map(listedCredential),
  }));
}

function listedCredential(credential: CredentialEntity): ListedCredential {
  const { keyPrefix, createdAt, revokedAt, endsAt, lastUsedAt } = credential;
  return { keyPrefix, createdAt, revokedAt, endsAt, lastUsedAt };
}
