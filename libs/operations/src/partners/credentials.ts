/** A partner's credentials for its calls to us: several are good at once, so that they are replaced without a halt. */
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

/** What is taken as the beginning of a key: no more of it is stored in the clear, and more would end up in the audit. */
export const KEY_PREFIX = /^svck_[A-Za-z0-9_-]{1,7}$/;

/** What a partner is handed once: it is stored nowhere in the clear. */
export interface IssuedCredential extends MintedCredential {
  readonly partnerId: string;
}

/** A new credential: to be shown once, and as it is stored. */
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
  /** Name or id. */
  readonly partner: string;
  /** Of the credential, where a request may be repeated: the second time is refused. */
  readonly id?: string;
}

/** One more credential; the old ones stay good until they are revoked. @throws PartnerUnknownError, CredentialExistsError */
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
  /** Name or id. */
  readonly partner: string;
  /** The beginning of the key that is replaced; see `KEY_PREFIX`. */
  readonly keyPrefix: string;
  /** How long it stays good beside the new one. */
  readonly overlapHours: number;
}

/** 30 days. */
export const LONGEST_OVERLAP_HOURS = 720;

/**
 * A new credential in the place of another, which is good for a while yet.
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
 * Ends one credential; its key begins as `KEY_PREFIX` says.
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
