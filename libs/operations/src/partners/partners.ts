/** Partners: their terms, their callbacks, and the switch that stops their redemptions. */
import { type PartnerId, PermanentError, STAKE_SET_RULE } from '#libs/domain';
import {
  CallbackStore,
  type CallbackSettings,
  type Database,
  type ListedPartner,
  type PartnerAudit,
  type PartnerCallback,
  type PartnerIdentity,
  PartnerStore,
  type PartnerTerms,
} from '#libs/db';
import { LONGEST_NAME, parseName } from '#libs/names';
import { audited } from '../audit/audited.js';
import { Field, type FieldSpec } from '../operation/field.js';
import {
  auditedFields,
  Operation,
  type OperationContext,
  operatorOf,
  type SecondOperatorRequest,
} from '../operation/operation.js';
import { OnPartner } from '../operation/on-partner.js';
import { AlreadyDoneError, createdId, REASON, REQUEST } from '../operation/page-fields.js';
import { OptionError } from '../operation.error.js';
import {
  CallbackFields,
  type CallbackValues,
  mergeCallback,
  onlyCutsBudget,
  setsCallback,
} from './callback.js';
import { type IssuedCredential, issueCredential } from './credentials.js';
import { partnerLabel } from './partner-reference.js';

const MAX_INT = 2_147_483_647;

const RATE = {
  type: 'whole',
  label: 'Requests per second',
  help: 'requests per second',
  option: '--rate <requests>',
  ...{ min: 1, max: MAX_INT },
} as const satisfies FieldSpec;

const BURST = {
  type: 'whole',
  label: 'Requests at once',
  help: 'requests at once',
  option: '--burst <requests>',
  ...{ min: 1, max: MAX_INT },
} as const satisfies FieldSpec;

const STAKE_SET = {
  type: 'text',
  label: 'Stake set',
  help: 'the stake set that its requests mean where they name no contract; default: the one without a name',
  option: '--stake-set <name>',
  expected: STAKE_SET_RULE,
  pattern: /^[a-z][a-z0-9]{0,30}$/,
  isPatternTold: true,
} as const satisfies FieldSpec;

const CALLBACK = {
  type: 'group',
  help: 'how it is called, and what may be redeemed with it',
  of: () => CallbackFields,
} as const satisfies FieldSpec;

const NAME = {
  type: 'text',
  label: 'Name',
  help: 'the partner’s name, which must not look like another partner’s: one script, no invisible characters, no leading dash',
  option: '--name <name>',
  required: true,
  ...{ least: 1, most: LONGEST_NAME },
  faultOf: (text) => parseName(text).fault,
} as const satisfies FieldSpec;

/** Creates a partner with its first credential and, if given, its callback; all or nothing. */
export class CreatePartner extends Operation<CreatedPartner> {
  static readonly spec = {
    command: 'partner create',
    description: 'create a partner and print its API key and shared secret, once',
    consequence:
      'The partner gets its first credential, which is shown once. Nothing can be redeemed with it before it has a callback and a daily token budget.',
    role: 'admin',
    isFresh: true,
    needs: 'secretsKey',
  } as const;

  @Field(REQUEST) readonly request?: string;
  @Field(NAME) readonly name!: string;
  @Field({ ...RATE, default: 20 }) readonly rate: number = 20;
  @Field({ ...BURST, default: 100 }) readonly burst: number = 100;
  @Field(STAKE_SET) readonly stakeSet?: string;
  @Field(CALLBACK) readonly callback?: CallbackValues;

  /**
   * Key and secret are not stored in the clear.
   * @throws OptionError, AlreadyDoneError, and what the store refuses (a name that looks like that of another partner, a
   * stake set that does not exist)
   */
  async perform(context: OperationContext): Promise<CreatedPartner> {
    const { database } = context;
    const { name = this.name } = parseName(this.name);
    const { rate, burst, stakeSet, callback: change } = this;
    const keyRing = context.keyRing();
    const callback = setsCallback(change)
      ? mergeCallback(undefined, { change: change ?? {}, keyRing, partnerName: name })
      : undefined;
    const id = createdId(context.subject, this.request) as PartnerId | undefined;
    await this.requireNew(database, id);
    const { minted, stored } = issueCredential(keyRing);
    const terms = { name, rate, burst, ...(stakeSet !== undefined && { stakeSet }) };
    const operator = operatorOf(this, context);
    const note = { command: operator.command, arguments: { ...auditedFields(this), name } };
    try {
      const { partnerId } = await audited(database, { ...operator, ...note }, {}, () =>
        new PartnerStore(database).create(
          { id, ...terms, credential: stored, ...(callback && { callback }) },
          { actor: operator.actor, note: { ...note, outcome: 'done' } },
        ),
      );
      return { issued: { partnerId, ...minted }, name, callback };
    } catch (error) {
      // The same request was sent twice at once, and the other one has created the partner.
      await this.requireNew(database, id);
      throw error;
    }
  }

  /** The partner is created at once, and its callback is set afterwards. */
  override forSecondOperator(): Promise<undefined> {
    if (!setsCallback(this.callback)) return Promise.resolve(undefined);
    throw new PermanentError(
      'APPROVAL_NEEDED',
      'A callback needs a second operator: create the partner without one, then set it.',
    );
  }

  private async requireNew(database: Database, id: PartnerId | undefined): Promise<void> {
    if (id === undefined || (await new PartnerStore(database).find(id)) === undefined) return;
    throw new AlreadyDoneError(
      'This request has created the partner already, and its secret was shown then. If it is lost: add a credential and revoke the first.',
    );
  }
}

export interface CreatedPartner {
  readonly issued: IssuedCredential;
  readonly name: string;
  /** Undefined if the request has no callback. */
  readonly callback: CallbackSettings | undefined;
}

const BUDGET_CHANGED_MEANWHILE =
  'The budget is another one by now, and this would raise it: look at the partner again, and ask again.';

/**
 * Changes limits, stake set and callback: everything that was given or, if the change is refused, nothing. A callback
 * lets tokens out, without an upper bound; a lower budget lets fewer out, and must take effect at once.
 */
export class SetPartner extends OnPartner<ChangedPartner> {
  static readonly spec = {
    command: 'partner set',
    description:
      'set how much a partner may ask, how it is called and what may be redeemed with it',
    consequence:
      'What is given takes the place of what is set, and all else stays. Redemptions under way keep their points and tokens; calls to the partner go by what is set now.',
    role: 'admin',
    isFresh: true,
    mayNeedSecond: true,
    needs: 'secretsKey',
  } as const;

  @Field(RATE) readonly rate?: number;
  @Field(BURST) readonly burst?: number;
  @Field(STAKE_SET) readonly stakeSet?: string;
  @Field(CALLBACK) readonly callback?: CallbackValues;

  @Field(REASON) readonly reason?: string;

  /** Refuses the change if it does more than lower the budget that is set when the change is carried out. */
  mustOnlyCutBudget = false;

  override async forSecondOperator(
    context: OperationContext,
  ): Promise<SecondOperatorRequest | undefined> {
    const { callback: change = {} } = this;
    if (!setsCallback(change)) return undefined;
    const who = await this.identity(context);
    const before = await new CallbackStore(context.database).find(who.partnerId);
    if (onlyCutsBudget(before, change)) {
      this.mustOnlyCutBudget = true;
      return undefined;
    }
    mergeCallback(before, { change, keyRing: context.keyRing(), partnerName: who.partnerName });
    return this.requestFor(who, JSON.stringify(auditedFields(this)));
  }

  /** @throws PartnerUnknownError, OptionError, UnknownStakeSetError */
  protected async change(
    context: OperationContext,
    who: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<ChangedPartner> {
    const { database } = context;
    const { partnerId, partnerName } = who;
    const { callback: change = {} } = this;
    const terms = this.terms();
    const hasTerms = Object.keys(terms).length > 0;
    if (!setsCallback(change)) {
      if (!hasTerms) throw new OptionError(NOTHING_TO_SET);
      const stored = await new PartnerStore(database).setTerms(partnerId, terms, audit);
      return { ...who, terms: stored, callback: undefined };
    }
    const keyRing = context.keyRing();
    const changed = await new CallbackStore(database).change(
      partnerId,
      (before) => {
        if (this.mustOnlyCutBudget && !onlyCutsBudget(before, change)) {
          throw new OptionError(BUDGET_CHANGED_MEANWHILE);
        }
        return mergeCallback(before, { change, keyRing, partnerName });
      },
      { terms: hasTerms ? terms : undefined, audit },
    );
    return { ...who, terms: changed.terms, callback: changed.callback };
  }

  override outcomeOf(changed: ChangedPartner): string {
    return `${partnerLabel(changed)}, is set.`;
  }

  private terms(): Partial<PartnerTerms> {
    const { rate, burst, stakeSet } = this;
    return {
      ...(rate !== undefined && { rate }),
      ...(burst !== undefined && { burst }),
      ...(stakeSet !== undefined && { stakeSet }),
    };
  }
}

const NOTHING_TO_SET = 'Nothing to set: `partner set --help` lists what can be.';

export interface ChangedPartner extends PartnerIdentity {
  /** Undefined if the change has no terms; `callback` likewise. */
  readonly terms: PartnerTerms | undefined;
  readonly callback: PartnerCallback | undefined;
}

/** Gives a partner another name. Its id stays, and so does all that refers to it. */
export class RenamePartner extends OnPartner<PartnerIdentity> {
  static readonly spec = {
    command: 'partner rename',
    description: 'give a partner another name; its id, keys and redemptions stay',
  } as const;

  @Field({
    ...NAME,
    help: 'the new name, by the rules of `partner create`',
    option: '--to <name>',
  })
  readonly name!: string;

  protected override auditedArguments(): object {
    return { name: parseName(this.name).name };
  }

  /** @throws PartnerExistsError */
  protected async change(
    { database }: OperationContext,
    who: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<PartnerIdentity> {
    const { name = this.name } = parseName(this.name);
    await new PartnerStore(database).rename(who.partnerId, name, audit);
    return who;
  }

  override outcomeOf(before: PartnerIdentity): string {
    const { name = this.name } = parseName(this.name);
    return `${partnerLabel(before)} is now called ${name}.`;
  }
}

/** The kill switch. While a partner is paused, no new redemptions are taken; those under way go on. */
export class PausePartner extends OnPartner<PartnerIdentity> {
  static readonly spec = {
    command: 'partner pause',
    description: 'take no new redemptions with a partner; those under way go on',
    consequence: 'No new redemptions are taken with this partner; those under way go on.',
    role: 'operator',
  } as const;

  /** @throws PartnerMissingError */
  protected async change(
    { database }: OperationContext,
    who: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<PartnerIdentity> {
    await new CallbackStore(database).pause(who.partnerId, true, audit);
    return who;
  }

  override outcomeOf(who: PartnerIdentity): string {
    return `${partnerLabel(who)}, takes no new redemptions; those under way go on.`;
  }
}

/** Ends a pause, which can let tokens out without an upper bound. */
export class ResumePartner extends OnPartner<PartnerIdentity> {
  static readonly spec = {
    command: 'partner resume',
    description: 'take redemptions with a partner again',
    consequence: 'Redemptions are taken with this partner again.',
    role: 'operator',
    isFresh: true,
    mayNeedSecond: true,
  } as const;

  @Field(REASON) readonly reason?: string;

  override async forSecondOperator(context: OperationContext): Promise<SecondOperatorRequest> {
    return this.requestFor(await this.identity(context));
  }

  /** @throws PartnerMissingError */
  protected async change(
    { database }: OperationContext,
    who: PartnerIdentity,
    audit: PartnerAudit,
  ): Promise<PartnerIdentity> {
    await new CallbackStore(database).pause(who.partnerId, false, audit);
    return who;
  }

  override outcomeOf(who: PartnerIdentity): string {
    return `${partnerLabel(who)}, takes redemptions again.`;
  }
}

export interface FoundPartner {
  readonly partner: ListedPartner;
  /** Undefined if none is set; then nothing can be redeemed with the partner. */
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
