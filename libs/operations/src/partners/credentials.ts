/**
 * Credentials of partners for calls to us. Several are valid at once, so that one is replaced without an interruption.
 */
import { type CredentialId, type PartnerId } from '#libs/domain';
import {
  CredentialExistsError,
  CredentialStore,
  type Database,
  type NewCredential,
  type PartnerAudit,
  type PartnerIdentity,
} from '#libs/db';
import { hashApiKey, type KeyRing, mintCredential, type MintedCredential } from '#libs/signing';
import { onPartner, type Operator } from '../audit/audited.js';
import { Field } from '../operation/field.js';
import { Operation, type OperationContext, operatorOf } from '../operation/operation.js';
import { OnPartner, PARTNER, knownPartnerId } from '../operation/on-partner.js';
import { partnerLabel } from './partner-reference.js';
import { AlreadyDoneError, createdId, REQUEST } from '../operation/page-fields.js';

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

/** Adds a credential. The old ones stay valid until they are revoked. */
export class AddCredential extends Operation<IssuedCredential> {
  static readonly spec = {
    command: 'partner rotate',
    description: 'issue one more credential, printed once; the old ones work until revoked',
    consequence:
      'One more credential is issued and shown once; the old ones work until they are revoked.',
    role: 'admin',
    isFresh: true,
    needs: 'secretsKey',
  } as const;

  @Field(PARTNER) partner!: string;
  @Field(REQUEST) readonly request?: string;

  /** @throws PartnerUnknownError, AlreadyDoneError */
  async perform(context: OperationContext): Promise<IssuedCredential> {
    const { database, subject } = context;
    const partner = knownPartnerId(this.partner);
    const { minted, stored } = issueCredential(context.keyRing());
    const given = { partner, arguments: { keyPrefix: stored.keyPrefix } };
    const id = createdId(subject, this.request, `${partner} `) as CredentialId | undefined;
    try {
      const { partnerId } = await onPartner(
        database,
        operatorOf(this, context),
        given,
        (who, audit) =>
          new CredentialStore(database).add(
            who.partnerId,
            { ...(id !== undefined && { id }), ...stored },
            audit,
          ),
      );
      return { partnerId, ...minted };
    } catch (error) {
      if (!(error instanceof CredentialExistsError)) throw error;
      throw new AlreadyDoneError(
        'This request has added its credential already, and its secret was shown then. If it is lost: add another one and revoke that.',
      );
    }
  }
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

/** Revokes one credential, given by a prefix of its key. */
export class RevokeCredential extends OnPartner<RevokedCredential> {
  static readonly spec = {
    command: 'partner revoke',
    description: 'end a credential; refuses the last active one',
    consequence:
      'Within seconds every call that the partner signs with this credential is refused. This cannot be taken back.',
    role: 'admin',
    isFresh: true,
  } as const;

  @Field({
    type: 'text',
    help: 'the first characters of the key, 12 at most, as `partner list` shows them',
    option: '--key-prefix <svck_…>',
    expected: 'svck_ and 1 to 7 characters more, not the whole key',
    pattern: KEY_PREFIX,
    isPatternTold: true,
    required: true,
  })
  readonly keyPrefix!: string;

  @Field({
    type: 'flag',
    help: 'also the last active one: every call of the partner is refused then',
    option: '--force',
    required: true,
  })
  readonly force!: boolean;

  /** @throws CredentialMissingError, CredentialAmbiguousError, LastCredentialError */
  protected change(
    { database }: OperationContext,
    { partnerId: partner }: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<RevokedCredential> {
    const { keyPrefix, force } = this;
    return new CredentialStore(database).revoke({ partner, keyPrefix, force }, audit);
  }

  override outcomeOf(revoked: RevokedCredential): string {
    const { keyPrefix, left } = revoked;
    return `${keyPrefix}… of ${partnerLabel(revoked)}, is revoked; ${left} active left. The api may know the key for some seconds more.`;
  }
}

export interface RevokedCredential extends PartnerIdentity {
  /** As it is stored. */
  readonly keyPrefix: string;
  /** How many active credentials are left. */
  readonly left: number;
}
