/** What an operator can do with one redemption: the domain decides, and the store writes. */
import {
  CallbackStore,
  DeliveryStore,
  type EvidenceSeal,
  type LoggedTransition,
  PartnerMissingError,
  type RedemptionHistory,
  RedemptionLog,
  RedemptionMissingError,
  type RedemptionStore,
  RedemptionViews,
  type StoredRedemption,
} from '#libs/db';
import {
  deliveryTransition,
  parseUuidV7,
  PermanentError,
  type Redemption,
  transition,
  type UuidV7,
} from '#libs/domain';
import { type AuditedCommand, auditedText, onRedemption } from '../audit/audited.js';
import { OptionError } from '../operation.error.js';
import { Field, type FieldSpec } from '../operation/field.js';
import {
  Operation,
  type OperationContext,
  operatorOf,
  type SecondOperatorRequest,
  specOf,
} from '../operation/operation.js';
import { REASON } from '../operation/page-fields.js';
import { type ActionWords, asTitle } from '../text/action-words.js';
import { printable } from '../text/text.js';
import {
  ACTION_COMMANDS,
  type ActionName,
  type Candidate,
  CANDIDATES,
  isSettlementNote,
  LONGEST_NOTE,
  type OperatorEvent,
  REPLAY_TITLE,
  worthUsd,
} from './actions.js';
import { RefusedOperationError } from './refused-operation.error.js';
import { waitsFor } from './waits-for.js';

const MOST_TOLD = 5;

/** The version of a redemption that the operator saw on a page. */
export const VERSION = {
  type: 'whole',
  help: 'of the redemption, as it was seen',
  ...{ min: 1, max: 2_147_483_647, required: true, isStored: true },
} as const satisfies FieldSpec;

export interface Operated {
  readonly before: Redemption;
  /** After the action, with the confirmation that may be owed. */
  readonly history: RedemptionHistory;
  readonly atMs: number;
}

/** What came of an action, and what happens next. */
export function operatedText({ before, history, atMs }: Operated, words: ActionWords) {
  const { id, state } = history.redemption;
  const moved = before.state === state ? `still ${state}` : `${before.state} -> ${state}`;
  return {
    moved: `Redemption ${id}: ${moved}.`,
    next: `Next: ${printable(waitsFor(history, atMs, words))}`,
  };
}

/** The redemption has changed since the operator saw it. Nothing was written. */
export class ViewOutdatedError extends PermanentError {
  constructor(id: UuidV7, since: readonly LoggedTransition[]) {
    const told = since.map(
      ({ from, to, event, actor, at }) =>
        `${from ?? 'new'} -> ${to} by ${event} of ${actor} at ${at.toISOString()}`,
    );
    const what = told.length === 0 ? '' : `: ${told.join('; ')}`;
    super(
      'VIEW_OUTDATED',
      `Redemption ${id} has moved on since you looked${what}. Nothing was changed: look at it again.`,
    );
  }
}

/** @param command with its arguments */
export function evidenceOf({ evidence }: OperationContext, command: string): EvidenceSeal {
  if (evidence === undefined) throw new TypeError(`${command} needs EVIDENCE_KEY`);
  return evidence(command);
}

interface Allowed {
  /** What it leads to, for operators to read before. */
  readonly consequence: string;
  readonly write: (command: AuditedCommand) => Promise<void>;
}

/** An action on one redemption, which has to be as a page showed it. The command takes it as it is. */
abstract class OnRedemption extends Operation<Operated> {
  @Field({
    type: 'text',
    help: 'the redemption',
    argument: '<id>',
    expected: 'the id of a redemption, a UUID of version 7',
    isRight: (text) => parseUuidV7(text) !== undefined,
    inPath: true,
  })
  readonly id!: string;

  @Field(VERSION) readonly version?: number;
  @Field({ ...REASON, isStored: true }) readonly reason?: string;

  abstract get action(): ActionName;

  /** @throws RedemptionMissingError, ViewOutdatedError, and what the rules refuse; then only an audit row is written */
  async perform(context: OperationContext): Promise<Operated> {
    const before = await this.allowed(context, async ({ redemption }, decide, command) => {
      let allowed = await decide();
      if (context.confirm !== undefined) {
        await context.confirm(allowed.consequence);
        // The operator may take a while to confirm, so the rules decide again.
        allowed = await decide();
      }
      await allowed.write(command);
      return redemption;
    });
    const history = await new RedemptionViews(context.database).show(before.id);
    if (history === undefined) throw new RedemptionMissingError(before.id);
    return { before, history, atMs: context.clock.nowMs() };
  }

  override forSecondOperator(context: OperationContext): Promise<SecondOperatorRequest> {
    return this.allowed(context, async ({ redemption }, decide) => {
      const { consequence: summary } = await decide();
      return { summary, worthUsd: worthUsd(this.action, redemption) };
    });
  }

  override outcomeOf(operated: Operated): string {
    return Object.values(operatedText(operated, asTitle)).join(' ');
  }

  /** @throws what the rules refuse */
  protected abstract decide(
    context: OperationContext,
    stored: StoredRedemption,
    store: RedemptionStore,
  ): Promise<Allowed>;

  /** Makes the MAC that vouches for what the operator names. */
  protected seal?(context: OperationContext): EvidenceSeal;

  /** The arguments of the audit row besides the redemption. */
  protected auditedArguments(): object {
    return {};
  }

  private allowed<T>(
    context: OperationContext,
    work: (
      stored: StoredRedemption,
      decide: () => Promise<Allowed>,
      command: AuditedCommand,
    ) => Promise<T>,
  ): Promise<T> {
    const { database } = context;
    const { reason, version } = this;
    const { approvedBy, ...operator } = operatorOf(this, context);
    const command = {
      ...operator,
      arguments: {
        ...this.auditedArguments(),
        ...(reason !== undefined && { reason: auditedText(reason) }),
        ...(approvedBy !== undefined && { approvedBy }),
      },
    };
    const id = parseUuidV7(this.id);
    if (id === undefined) throw new OptionError('The id of a redemption is a UUID of version 7.');
    const seal = this.seal?.(context);
    return onRedemption(database, { ...command, id, seal }, async (stored, store) => {
      if (version !== undefined && stored.redemption.version !== version) {
        const page = { after: version, limit: MOST_TOLD };
        const { entries } = await new RedemptionLog(database).transitions(id, page);
        throw new ViewOutdatedError(id, entries);
      }
      return work(stored, () => this.decide(context, stored, store), command);
    });
  }
}

/** Reports an event to a redemption. The redemption service then does what follows: calls, payouts, confirmations. */
abstract class OperatorAction extends OnRedemption {
  abstract override get action(): Candidate['action'];

  /** @throws RefusedOperationError, PartnerMissingError */
  protected async decide(
    { database, clock }: OperationContext,
    stored: StoredRedemption,
    store: RedemptionStore,
  ): Promise<Allowed> {
    const before = stored.redemption;
    const policy = await new CallbackStore(database).find(before.partner);
    if (policy === undefined) throw new PartnerMissingError();
    const { event } = this;
    const context = { nowMs: clock.nowMs(), jitter: Math.random(), policy };
    const decision = transition(before, event, context);
    if (decision.kind === 'refused') throw new RefusedOperationError(decision);
    const vouched = event.type === 'operator-set-transaction' && {
      ...{ stored, vouchesForNames: true as const },
    };
    return {
      consequence: this.candidate.consequence(before, decision.next, policy),
      write: async ({ actor, command, arguments: given = {} }) => {
        const audit = { command, arguments: given, outcome: `now ${decision.next.state}` };
        await store.apply({ before, decision, event: event.type, actor, audit, ...vouched });
      },
    };
  }

  protected get event(): OperatorEvent {
    return this.candidate.event;
  }

  private get candidate(): Candidate {
    const found = CANDIDATES.find(({ action }) => action === this.action);
    if (found === undefined) throw new TypeError(`there is no action ${this.action}`);
    return found;
  }
}

const ON_PAGES = { role: 'operator', isFresh: true, mayNeedSecond: true } as const;

export class RetryRedemption extends OperatorAction {
  static readonly spec = {
    command: ACTION_COMMANDS.retry,
    description: 'let the automation go on with a redemption now, from attention too',
    ...ON_PAGES,
  } as const;

  get action() {
    return 'retry' as const;
  }
}

export class CancelRedemption extends OperatorAction {
  static readonly spec = {
    command: ACTION_COMMANDS.cancel,
    description: 'cancel a redemption; once a voucher exists, the vault decides who was first',
    ...ON_PAGES,
  } as const;

  get action() {
    return 'cancel' as const;
  }
}

export class SetPartnerTransaction extends OperatorAction {
  static readonly spec = {
    command: ACTION_COMMANDS['set-partner-tx'],
    description: "give the partner's transaction id of the deduction; it is reverted then",
    ...ON_PAGES,
    needs: 'evidenceKey',
  } as const;

  /** The domain says which texts can be one. */
  @Field({
    type: 'text',
    label: 'The partner’s transaction id',
    help: 'exactly as the partner has it, in partnerTransactionId',
    argument: '<transaction>',
    required: true,
  })
  readonly transaction!: string;

  get action() {
    return 'set-partner-tx' as const;
  }

  protected override get event(): OperatorEvent {
    return { type: 'operator-set-transaction', partnerTransactionId: this.transaction };
  }

  protected override seal(context: OperationContext): EvidenceSeal {
    return evidenceOf(context, `${specOf(this).command} ${this.id} TRANSACTION`);
  }

  protected override auditedArguments(): object {
    return { transaction: auditedText(this.transaction) };
  }
}

/** Ends a redemption by what the partner has told the operator, and no call can verify. */
export class ResolveRedemption extends OperatorAction {
  static readonly spec = {
    command: 'redemption resolve',
    description: 'end a redemption by what the partner has told you; final',
    ...ON_PAGES,
    isConfirmed: true,
  } as const;

  @Field({
    type: 'flag',
    help: 'the partner has given the points back by hand',
    option: '--restored-out-of-band',
  })
  readonly restoredOutOfBand?: boolean;

  @Field({
    type: 'flag',
    help: 'the partner has searched its books: no points were taken',
    option: '--not-deducted',
  })
  readonly notDeducted?: boolean;

  @Field({
    type: 'text',
    label: 'What was agreed, in one line',
    help: 'paid-after-dead only: settled with the partner; the note stays in the audit',
    option: '--settled-by-hand <note>',
    expected: `1 to ${LONGEST_NOTE} characters in one line`,
    isRight: isSettlementNote,
    ...{ least: 1, most: LONGEST_NOTE },
  })
  readonly settledByHand?: string;

  /** @throws OptionError */
  get action(): Candidate['action'] {
    const given: Candidate['action'][] = [];
    if (this.restoredOutOfBand === true) given.push('restored-out-of-band');
    if (this.notDeducted === true) given.push('not-deducted');
    if (this.settledByHand !== undefined) given.push('settled-by-hand');
    const [action, ...more] = given;
    if (action !== undefined && more.length === 0) return action;
    throw new OptionError(
      'Give exactly one of --restored-out-of-band, --not-deducted and --settled-by-hand.',
    );
  }

  protected override auditedArguments(): object {
    const { settledByHand: note } = this;
    return { as: this.action, ...(note !== undefined && { note }) };
  }
}

/** Sends the same confirmation again, in a new round of attempts. The redemption does not change. */
export class ReplayConfirmation extends OnRedemption {
  static readonly spec = {
    command: ACTION_COMMANDS['replay-confirm'],
    description: 'send the confirmation of a finished redemption again',
    ...ON_PAGES,
  } as const;

  get action() {
    return 'replay-confirm' as const;
  }

  /** @throws PermanentError if no confirmation is owed or it is still being sent */
  protected async decide(
    { database, clock }: OperationContext,
    { redemption: { id: redemptionId } }: StoredRedemption,
  ): Promise<Allowed> {
    const deliveries = new DeliveryStore(database);
    const found = await deliveries.get(redemptionId);
    if (found === undefined) {
      throw new PermanentError(
        'NO_CONFIRMATION',
        'No confirmation is owed: the redemption is not claimed or reverted, or its partner took none when it ended.',
      );
    }
    const { delivery: before } = found;
    const context = { nowMs: clock.nowMs(), jitter: Math.random() };
    const decision = deliveryTransition(before, { type: 'replay' }, context);
    if (decision.kind === 'refused') {
      throw new PermanentError(
        'STILL_TRYING',
        'The confirmation is still being sent: `redemption show` says how often so far.',
      );
    }
    const { next } = decision;
    return {
      consequence: REPLAY_TITLE,
      write: async (audit) => {
        await deliveries.apply({ redemptionId, before, next, audit });
      },
    };
  }
}
