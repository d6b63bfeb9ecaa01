import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  type Approval,
  ApprovalStore,
  CONSOLE_ACTOR,
  DatabaseUnavailableError,
  type OperatorRole,
} from '#libs/db';
import {
  compareDecimals,
  type Decimal,
  LowmarkError,
  parseDecimal,
  PermanentError,
  RetryableError,
} from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { type ConsoleOperator } from '../auth/audience.js';
import { mayActAs } from '../auth/operator-roles.js';
import { actorOf } from '../auth/operators.js';
import { signInProblem } from '../auth/sign-in.problem.js';
import { ConsoleSettings } from '../console.env.js';

export const APPROVAL_MS = 24 * 3_600_000;
/** The worth of an action that no figure bounds: it always needs a second operator, where there is a set value. */
export const UNBOUNDED = 'unbounded';
/** The table takes 16 KiB, as it writes JSON. */
const LONGEST_ARGUMENTS = 15_000;
/** Open requests that are looked through for one that asks for the same. */
const MOST_OPEN = 100;
/** What a refusal of it may be told at most. */
const LONGEST_OUTCOME = 1000;
const MINUTE_MS = 60_000;

type Arguments = Readonly<Record<string, unknown>>;

/** Who acts, for the audit. */
export interface Actors {
  /** `operator:NAME` of who asked for the action. */
  readonly actor: string;
  /** `operator:NAME` of the second operator; for the arguments of the audit row. */
  readonly approvedBy?: string;
}

/** An action that may need a second operator. */
export interface ApprovableAction {
  /** `redemption resolve`: the command that does the same. */
  readonly name: string;
  /** What who asks and who approves need. */
  readonly role: OperatorRole;
  /**
   * Does it, with its audit row.
   * @param given as they were asked for: plain JSON, checked by the route
   * @returns what came of it, in a sentence
   */
  execute(given: Arguments, actors: Actors): Promise<string>;
}

export interface Wanted {
  readonly action: string;
  /** Without secrets. */
  readonly arguments: Arguments;
  /** The consequence, in the words that the page showed. */
  readonly summary: string;
  /** What it is about, a decimal number; UNBOUNDED where no figure bounds it; undefined where it moves nothing. */
  readonly worthUsd?: string | undefined;
  /** Why, for the second operator: needed where one is. */
  readonly reason?: string | undefined;
}

/** Done, with what came of it; or waiting for another operator. */
export type Performed =
  | { readonly done: true; readonly outcome: string }
  | { readonly done: false; readonly approval: Approval };

/** Actions that are done at once, or above a set value when a second operator has approved them. */
@Injectable()
export class ApprovalService {
  private readonly actions = new Map<string, ApprovableAction>();
  private readonly above: Decimal | undefined;

  constructor(
    private readonly store: ApprovalStore,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { approvalAboveUsd } = settings;
    this.above = approvalAboveUsd === undefined ? undefined : parseDecimal(approvalAboveUsd);
  }

  /** At the start, by the module that has the action. */
  register(action: ApprovableAction): void {
    if (this.actions.has(action.name)) throw new Error(`${action.name} is registered twice`);
    this.actions.set(action.name, action);
  }

  /** The set value as it is set; undefined where no action needs a second operator. */
  get aboveUsd(): string | undefined {
    return this.settings.approvalAboveUsd;
  }

  /** @throws HttpProblem 400 where a reason is missing, 403, and what the action throws */
  async perform(operator: ConsoleOperator, wanted: Wanted): Promise<Performed> {
    const action = this.actionOf(wanted.action);
    requireRole(operator, action);
    if (!this.needsSecond(wanted.worthUsd)) {
      const outcome = await action.execute(wanted.arguments, { actor: operator.actor });
      return { done: true, outcome };
    }
    const { reason } = wanted;
    if (reason === undefined) {
      throw HttpProblem.badRequest(
        'reason',
        'reason must be given: the second operator decides by it.',
      );
    }
    if (Buffer.byteLength(JSON.stringify(wanted.arguments)) > LONGEST_ARGUMENTS) {
      throw new HttpProblem(400, 'This is too much for one request: ask for it in parts.');
    }
    const nowMs = this.clock.nowMs();
    const { subject, name, actor } = operator;
    const approval = await this.store.request({
      action: action.name,
      arguments: wanted.arguments,
      summary: wanted.summary,
      reason,
      requestedBy: { subject, name },
      actor,
      nowMs,
      expiresAtMs: nowMs + APPROVAL_MS,
    });
    return { done: false, approval };
  }

  /**
   * The action is done by this call, once, even where another decides meanwhile. Where it is refused, that is its outcome.
   * @throws HttpProblem 403, 404; OwnApprovalError, ApprovalClosedError
   */
  async approve(id: bigint, operator: ConsoleOperator): Promise<Approval> {
    const { action: name } = await this.find(id);
    const action = this.actionOf(name);
    requireRole(operator, action);
    const decided = await this.store.decide(id, 'approved', operator, this.clock.nowMs());
    const actors = { actor: actorOf(decided.requestedBy), approvedBy: operator.actor };
    const outcome = await this.outcomeOf(action, decided, actors);
    await this.store.finish(id, outcome);
    return { ...decided, outcome };
  }

  /** @throws HttpProblem 403, 404; OwnApprovalError, ApprovalClosedError */
  async refuse(id: bigint, operator: ConsoleOperator): Promise<Approval> {
    const { action, requestedBy } = await this.find(id);
    requireRole(operator, this.actionOf(action));
    const isOwn = requestedBy.subject === operator.subject;
    const decision = isOwn ? 'withdrawn' : 'refused';
    return this.store.decide(id, decision, operator, this.clock.nowMs());
  }

  /**
   * Refuses to ask twice for the same.
   * @throws HttpProblem 409
   */
  async requireNoneOpen(isSame: (open: Approval) => boolean): Promise<void> {
    const open = (await this.listOpen(MOST_OPEN)).find(isSame);
    if (open === undefined) return;
    const message = `${open.requestedBy.name} has asked for \`${open.action}\` already: it waits for a second operator until ${open.expiresAt.toISOString()}.`;
    throw new HttpProblem(409, message, { code: 'APPROVAL_PENDING' });
  }

  /** Those that can be decided, the first to expire first. */
  listOpen(limit: number): Promise<Approval[]> {
    return this.store.listOpen(this.clock.nowMs(), limit);
  }

  /** All, newest first. */
  list(page: {
    readonly before?: bigint | undefined;
    readonly limit: number;
  }): Promise<Approval[]> {
    return this.store.list(page);
  }

  /** Writes expired requests into the log, every minute. They are refused from the moment of their end on. */
  @Interval('note-expired-approvals', MINUTE_MS)
  async noteExpired(): Promise<void> {
    try {
      await this.store.noteExpired(this.clock.nowMs(), CONSOLE_ACTOR);
    } catch (error) {
      // Next time.
      if (!(error instanceof RetryableError)) throw error;
    }
  }

  /** @param worthUsd as in `Wanted` */
  needsSecond(worthUsd: string | undefined): boolean {
    if (this.above === undefined || worthUsd === undefined) return false;
    return worthUsd === UNBOUNDED || compareDecimals(parseDecimal(worthUsd), this.above) >= 0;
  }

  /** Of an end that was never learnt there is no outcome: whether it was done is to be looked up. */
  private async outcomeOf(
    action: ApprovableAction,
    { id, arguments: given }: Approval,
    actors: Actors,
  ): Promise<string> {
    try {
      return await action.execute(given, actors);
    } catch (error) {
      const isRefusal =
        error instanceof LowmarkError && !(error instanceof DatabaseUnavailableError);
      if (!isRefusal) throw error;
      this.logger.warn(
        { approval: String(id), code: error.code },
        'An approved action was refused',
      );
      return `Refused: ${error.code}. ${error.message}`.slice(0, LONGEST_OUTCOME);
    }
  }

  private async find(id: bigint): Promise<Approval> {
    const found = await this.store.find(id);
    if (found === undefined) throw new HttpProblem(404, 'There is no such request.');
    return found;
  }

  private actionOf(name: string): ApprovableAction {
    const action = this.actions.get(name);
    if (action === undefined) {
      throw new PermanentError('ACTION_UNKNOWN', `This console knows no action ${name}.`);
    }
    return action;
  }
}

function requireRole({ role }: { readonly role: OperatorRole }, action: ApprovableAction): void {
  if (!mayActAs(role, action.role)) throw signInProblem('ROLE_TOO_LOW');
}
