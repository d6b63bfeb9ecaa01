import { type PartnerId } from '#libs/domain';
import {
  CallbackStore,
  type CallbackSettings,
  type Database,
  type ListedPartner,
  type PartnerCallback,
  type PartnerIdentity,
  PartnerStore,
  type PartnerTerms,
  type RateLimits,
} from '#libs/db';
import { type KeyRing } from '#libs/signing';
import { audited, onPartner, type Operator } from '../audit/audited.js';
import { OptionError } from '../operation.error.js';
import {
  auditedChange,
  type CallbackChange,
  mergeCallback,
  onlyCutsBudget,
  setsCallback,
} from './callback.js';
import { type IssuedCredential, issueCredential } from './credentials.js';

export interface NewPartner extends RateLimits {
  /** For a request that may be repeated: the second request with the same id is refused. Default: a new id. */
  readonly id?: PartnerId | undefined;
  /** From `parseName`. */
  readonly name: string;
  readonly stakeSet?: string | undefined;
  readonly callback: CallbackChange;
}

export interface CreatedPartner {
  readonly issued: IssuedCredential;
  /** Undefined where the request has no callback. */
  readonly callback: CallbackSettings | undefined;
}

/**
 * Creates a partner with its first credential and, where given, its callback; all or nothing. Key and secret are not
 * stored in the clear.
 * @throws OptionError, and what the store refuses (a name that looks like that of another partner, a stake set that does
 * not exist)
 */
export async function createPartner(
  database: Database,
  { actor, command }: Operator,
  partner: NewPartner,
  keyRing: KeyRing,
): Promise<CreatedPartner> {
  const { id, name, rate, burst, stakeSet, callback: change } = partner;
  const callback = setsCallback(change)
    ? mergeCallback(undefined, { change, keyRing, partnerName: name })
    : undefined;
  const { minted, stored } = issueCredential(keyRing);
  const terms = { name, rate, burst, ...(stakeSet !== undefined && { stakeSet }) };
  const note = { command, arguments: { ...terms, ...auditedChange(change) } };
  const { partnerId } = await audited(database, { actor, ...note }, {}, () =>
    new PartnerStore(database).create(
      { id, ...terms, credential: stored, ...(callback && { callback }) },
      { actor, note: { ...note, outcome: 'done' } },
    ),
  );
  return { issued: { partnerId, ...minted }, callback };
}

/** An absent field stays as it is. */
export interface PartnerChange {
  readonly partner: PartnerId;
  readonly rate?: number | undefined;
  readonly burst?: number | undefined;
  readonly stakeSet?: string | undefined;
  readonly callback: CallbackChange;
  /** Refuses the change if it does more than lower the budget that is set when the change is carried out. */
  readonly mustOnlyCutBudget?: boolean | undefined;
}

export interface ChangedPartner extends PartnerIdentity {
  /** Undefined where the change has no terms; `callback` likewise. */
  readonly terms: PartnerTerms | undefined;
  readonly callback: PartnerCallback | undefined;
}

const BUDGET_CHANGED_MEANWHILE =
  'The budget is another one by now, and this would raise it: look at the partner again, and ask again.';

export const NOTHING_TO_SET = 'Nothing to set: `partner set --help` lists what can be.';

/**
 * Changes limits, stake set and callback: everything that was given or, where the change is refused, nothing.
 * @throws PartnerUnknownError, OptionError, UnknownStakeSetError
 */
export async function setPartner(
  database: Database,
  operator: Operator,
  { partner, rate, burst, stakeSet, callback: change, mustOnlyCutBudget }: PartnerChange,
  keyRing: KeyRing,
): Promise<ChangedPartner> {
  const bound = stakeSet === undefined ? {} : { stakeSet };
  const terms = { ...(rate && { rate }), ...(burst && { burst }), ...bound };
  const given = { partner, arguments: { rate, burst, ...bound, ...auditedChange(change) } };
  const hasTerms = Object.keys(terms).length > 0;
  return onPartner(database, operator, given, async (who, audit) => {
    const { partnerId, partnerName } = who;
    if (!setsCallback(change)) {
      if (!hasTerms) throw new OptionError(NOTHING_TO_SET);
      const stored = await new PartnerStore(database).setTerms(partnerId, terms, audit);
      return { ...who, terms: stored, callback: undefined };
    }
    const changed = await new CallbackStore(database).change(
      partnerId,
      (before) => {
        if (mustOnlyCutBudget === true && !onlyCutsBudget(before, change)) {
          throw new OptionError(BUDGET_CHANGED_MEANWHILE);
        }
        return mergeCallback(before, { change, keyRing, partnerName });
      },
      { terms: hasTerms ? terms : undefined, audit },
    );
    return { ...who, terms: changed.terms, callback: changed.callback };
  });
}

/**
 * Gives a partner another name. Its id stays, and so does all that refers to it.
 * @param name from `parseName`
 * @throws PartnerUnknownError, PartnerExistsError
 */
export function renamePartner(
  database: Database,
  operator: Operator,
  { partner, name }: { readonly partner: PartnerId; readonly name: string },
): Promise<PartnerIdentity> {
  const given = { partner, arguments: { name } };
  return onPartner(database, operator, given, async (who, audit) => {
    await new PartnerStore(database).rename(who.partnerId, name, audit);
    return who;
  });
}

/**
 * The kill switch. While a partner is paused, no new redemptions are taken; those under way go on.
 * @throws PartnerUnknownError, PartnerMissingError
 */
export function pausePartner(
  database: Database,
  operator: Operator,
  partner: PartnerId,
  paused: boolean,
): Promise<PartnerIdentity> {
  return onPartner(database, operator, { partner }, async (who, audit) => {
    await new CallbackStore(database).pause(who.partnerId, paused, audit);
    return who;
  });
}

export interface FoundPartner {
  readonly partner: ListedPartner;
  /** Undefined where none is set; then nothing can be redeemed with the partner. */
  readonly callback: PartnerCallback | undefined;
}

/** All partners without their secrets, which the callbacks contain only sealed. */
export async function listPartners(database: Database): Promise<FoundPartner[]> {
  const partners = await new PartnerStore(database).list();
  const callbacks = await new CallbackStore(database).list();
  return partners.map((partner) => ({
    partner,
    callback: callbacks.find(({ partnerId }) => partnerId === partner.partnerId),
  }));
}
