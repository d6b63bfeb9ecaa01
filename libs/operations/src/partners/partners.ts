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
import { isPlainLine } from '../text/text.js';
import {
  auditedChange,
  type CallbackChange,
  mergeCallback,
  onlyCutsBudget,
  setsCallback,
} from './callback.js';
import { type IssuedCredential, issueCredential } from './credentials.js';

export const LONGEST_PARTNER_NAME = 100;

/** A name as it is stored; undefined where it is none. */
export function parsePartnerName(text: string): string | undefined {
  const name = text.trim();
  return name.length <= LONGEST_PARTNER_NAME && isPlainLine(name) ? name : undefined;
}

export interface NewPartner extends RateLimits {
  /** Where a request may be repeated: the second time is refused. Default: a new one. */
  readonly id?: string | undefined;
  /** From `parsePartnerName`. */
  readonly name: string;
  readonly stakeSet?: string | undefined;
  readonly callback: CallbackChange;
}

export interface CreatedPartner {
  readonly issued: IssuedCredential;
  /** Absent where none was given. */
  readonly callback: CallbackSettings | undefined;
}

/**
 * With its first credential and, where it is given, its callback; all or nothing. Key and secret are stored nowhere in the clear.
 * @throws OptionError, and what the store refuses (a name that is taken, a stake set that is not there)
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

/** What is absent stays. */
export interface PartnerChange {
  /** Name or id. */
  readonly partner: string;
  readonly rate?: number | undefined;
  readonly burst?: number | undefined;
  readonly stakeSet?: string | undefined;
  readonly callback: CallbackChange;
  /** Refused where it does more than to lower the budget, by what is set when it is done. */
  readonly mustOnlyCutBudget?: boolean | undefined;
}

export interface ChangedPartner {
  readonly partnerName: string;
  /** Absent where none were given; likewise the callback. */
  readonly terms: PartnerTerms | undefined;
  readonly callback: PartnerCallback | undefined;
}

const LOWERED_MEANWHILE =
  'The budget is another one by now, and this would raise it: look at the partner again, and ask anew.';

export const NOTHING_TO_SET = 'Nothing to set: `partner set --help` lists what can be.';

/**
 * Its limits, how it is called and what may be redeemed with it: all that was given or, where it is refused, nothing.
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
  return onPartner(database, operator, given, async ({ partnerId, partnerName }, audit) => {
    if (!setsCallback(change)) {
      if (!hasTerms) throw new OptionError(NOTHING_TO_SET);
      const stored = await new PartnerStore(database).setTerms(partnerId, terms, audit);
      return { partnerName, terms: stored, callback: undefined };
    }
    const changed = await new CallbackStore(database).change(
      partnerId,
      (before) => {
        if (mustOnlyCutBudget === true && !onlyCutsBudget(before, change)) {
          throw new OptionError(LOWERED_MEANWHILE);
        }
        return mergeCallback(before, { change, keyRing, partnerName });
      },
      { terms: hasTerms ? terms : undefined, audit },
    );
    return { partnerName, terms: changed.terms, callback: changed.callback };
  });
}

/** The kill switch: no new redemptions; those under way go on. @throws PartnerUnknownError, PartnerMissingError */
export function pausePartner(
  database: Database,
  operator: Operator,
  partner: string,
  paused: boolean,
): Promise<PartnerIdentity> {
  return onPartner(database, operator, { partner }, async (who, audit) => {
    await new CallbackStore(database).pause(who.partnerId, paused, audit);
    return who;
  });
}

export interface FoundPartner {
  readonly partner: ListedPartner;
  /** Undefined where none is set: nothing can be redeemed with it. */
  readonly callback: PartnerCallback | undefined;
}

/** All about the partners but their secrets, which the callbacks have sealed. */
export async function listPartners(database: Database): Promise<FoundPartner[]> {
  const partners = await new PartnerStore(database).list();
  const callbacks = await new CallbackStore(database).list();
  return partners.map((partner) => ({
    partner,
    callback: callbacks.find(({ partnerId }) => partnerId === partner.partnerId),
  }));
}
