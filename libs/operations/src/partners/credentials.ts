/**
 * Credentials of partners for calls to us. Several are valid at once, so that one is replaced without an interruption.
 */
import { type CredentialId, type PartnerId } from '#libs/domain';
import {
  CredentialStore,
  type Database,
  type NewCredential,
  type PartnerIdentity,
  type Revocation,
} from '#libs/db';
import { hashApiKey, type KeyRing, mintCredential, type MintedCredential } from '#libs/signing';
import { onPartner, type Operator } from '../audit/audited.js';

const KEY_PREFIX_LENGTH = 12;

/**
 * Accepted prefixes of a key. The database stores no more of a key in the clear, and a longer input would end up in the
 * audit log.
 */
export const KEY_PREFIX = /^svck_[A-Za-z0-9_-]{1,7}$/;

/** A credential as the partner gets it once. It is not stored in the clear. */
export interface IssuedCredential extends MintedCredential {
  readonly partnerId: PartnerId;
}

/** Makes a credential: `minted` to show once, and `stored` for the database. */
export function issueCredential(keyRing: KeyRing): {
  readonly minted: MintedCredential;
  readonly stored: NewCredential;
} {
  const minted = mintCredential();
  const keyHash = hashApiKey(minted.apiKey);
  const stored = {
    keyHash,
    keyPrefix: minted.apiKey.slice(0, KEY_PREFIX_LENGTH),
    secretCiphertext: keyRing.seal(minted.sharedSecret, keyHash),
  };
  return { minted, stored };
}

interface Rotation {
  readonly partner: PartnerId;
  /** Id of the credential, for a request that may be repeated: the second request is refused. */
  readonly id?: CredentialId;
}

/**
 * Adds a credential. The old ones stay valid until they are revoked.
 * @throws PartnerUnknownError, CredentialExistsError
 */
export async function rotateCredential(
  database: Database,
  operator: Operator,
  { partner, id }: Rotation,
  keyRing: KeyRing,
): Promise<IssuedCredential> {
  const { minted, stored } = issueCredential(keyRing);
  const { keyPrefix } = stored;
  const given = { partner, arguments: { keyPrefix } };
  const { partnerId } = await onPartner(database, operator, given, (who, audit) =>
    new CredentialStore(database).add(who.partnerId, { id, ...stored }, audit),
  );
  return { partnerId, ...minted };
}

export interface CredentialReplacement {
  readonly partner: PartnerId;
  /** Prefix of the key that is replaced; see `KEY_PREFIX`. */
  readonly keyPrefix: string;
  /** How long the replaced credential stays valid beside the new one. */
  readonly overlapHours: number;
}

/** 30 days, in hours. */
export const LONGEST_OVERLAP_HOURS = 720;

/**
 * Adds a credential in place of another one, which stays valid for the overlap.
 * @throws PartnerUnknownError, CredentialMissingError, CredentialAmbiguousError, TooManyCredentialsError
 */
export async function replaceCredential(
  database: Database,
  operator: Operator,
  { partner, keyPrefix, overlapHours }: CredentialReplacement,
  keyRing: KeyRing,
): Promise<{ readonly issued: IssuedCredential; readonly replaced: string; goodUntil: Date }> {
  const { minted, stored } = issueCredential(keyRing);
  const given = { partner, arguments: { keyPrefix, overlapHours, issued: stored.keyPrefix } };
  const ended = await onPartner(database, operator, given, ({ partnerId }, audit) =>
    new CredentialStore(database).replace(
      { partner: partnerId, keyPrefix, overlapSeconds: overlapHours * 3600 },
      stored,
      audit,
    ),
  );
  const { partnerId, keyPrefix: replaced, goodUntil } = ended;
  return { issued: { partnerId, ...minted }, replaced, goodUntil };
}

/**
 * Revokes one credential, given by a prefix of its key; see `KEY_PREFIX`.
 * @returns the prefix as it is stored, and how many active credentials are left
 * @throws PartnerUnknownError, CredentialMissingError, CredentialAmbiguousError, LastCredentialError
 */
export function revokeCredential(
  database: Database,
  operator: Operator,
  { partner, keyPrefix, force }: Revocation,
): Promise<PartnerIdentity & { readonly keyPrefix: string; readonly left: number }> {
  const given = { partner, arguments: { keyPrefix, force } };
  return onPartner(database, operator, given, ({ partnerId }, audit) =>
    new CredentialStore(database).revoke({ partner: partnerId, keyPrefix, force }, audit),
  );
}
