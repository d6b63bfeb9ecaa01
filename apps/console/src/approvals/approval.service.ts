import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import {
  type Approval,
  ApprovalStore,
  CONSOLE_ACTOR,
  DatabaseUnavailableError,
  type GrantedRole,
  type OperatorRole,
  type Person,
} from '#libs/db';
import {
  compareDecimals,
  type Decimal,
  LowmarkError,
  parseDecimal,
  PermanentError,
  RetryableError,
} from '#libs/domain';
import { REASON } from '#libs/operations';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { type ConsoleOperator } from '../auth/audience.js';
import { mayActAs } from '../auth/operator-roles.js';
import { OperatorRights } from '../auth/operator-rights.js';
import { actorOf, distinctName } from '../auth/operators.js';
import { SESSION_HOURS } from '../auth/session-hours.js';
import { signInProblem } from '../auth/sign-in.problem.js';
import { ConsoleSettings } from '../console.env.js';

export const APPROVAL_MS = 24 * 3_600_000;
/** Worth of an action without an upper bound: always needs a second operator where APPROVAL_ABOVE_USD is set. */
export const UNBOUNDED = 'unbounded';
/** In bytes of JSON. The table accepts 16 KiB of JSON in PostgreSQL's own format, which is longer. */
const LONGEST_ARGUMENTS = 15_000;
/** Maximum number of open requests that `requireNoOpenRequest` searches. */
const MOST_OPEN = 100;
/** Maximum length of the outcome of a refused action, in characters. */
const LONGEST_OUTCOME = 1000;
const MINUTE_MS = 60_000;

type Arguments = Readonly<Record<string, unknown>>;

/** The operators of an action, for the audit log. */
export interface Actors {
  /** `operator:NAME` of the operator who asked for the action. */
  readonly actor: string;
  /** `operator:NAME` of the second operator, for the arguments of the audit row. */
  readonly approvedBy?: string;
}

export interface ApprovableAction {
  /** The command that does the same, such as `redemption resolve`. */
  readonly name: string;
  /** The role that both operators need. */
  readonly role: OperatorRole;
  /**
   * Carries out the action, and writes its audit row.
   * @param given arguments of the request: plain JSON, validated by the route
   * @returns the outcome, in a sentence
   */
  execute(given: Arguments, actors: Actors): Promise<string>;
}

export interface RequestedAction {
  readonly action: string;
  /** Plain JSON without secrets, unless they are sealed. */
  readonly arguments: Arguments;
  /** The consequence of the action, as the page showed it. */
  readonly summary: string;
  /** A decimal number in USD; UNBOUNDED for an action without an upper bound; undefined for one that moves no value. */
  readonly worthUsd?: string | undefined;
  /** For the second operator; required where the action needs one. */
  readonly reason?: string | undefined;
}

/** The outcome of an action that is done, or the request that waits for a second operator. */
export type ActionOutcome =
  | { readonly done: true; readonly outcome: string }
  | { readonly done: false; readonly approval: Approval };

/**
 * Two-person approval. Carries an action out at once, or, where its worth is APPROVAL_ABOVE_USD or more, after a second
 * operator has approved it.
 */
@Injectable()
export class ApprovalService {
  private readonly actions = new Map<string, ApprovableAction>();
  private readonly above: Decimal | undefined;

  constructor(
    private readonly store: ApprovalStore,
    private readonly rights: OperatorRights,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const { approvalAboveUsd } = settings;
    this.above = approvalAboveUsd === undefined ? undefined : parseDecimal(approvalAboveUsd);
  }

  /** Called at start-up by the module that has the action. */
  register(action: ApprovableAction): void {
    if (this.actions.has(action.name)) throw new Error(`${action.name} is registered twice`);
    this.actions.set(action.name, action);
  }

  /** APPROVAL_ABOVE_USD as set; undefined where no action needs a second operator. */
  get aboveUsd(): string | undefined {
    return this.settings.approvalAboveUsd;
  }

  /**
   * @throws HttpProblem 400 where the reason is missing or the arguments are too long, 403, and what the action throws
   */
  async perform(operator: ConsoleOperator, wanted: RequestedAction): Promise<ActionOutcome> {
    const action = this.actionOf(wanted.action);
    requireRole(operator, action);
    if (!this.needsSecond(wanted.worthUsd)) {
      const outcome = await action.execute(wanted.arguments, { actor: operator.actor });
      return { done: true, outcome };
    }
    const { reason } = wanted;
    if (reason === undefined) {
      const message = `“${REASON.label}” must be given: the second operator decides by it.`;
      throw HttpProblem.badRequest('reason', message);
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
   * Approves a request and carries out its action. Of concurrent decisions the store accepts one, so the action runs at
   * most once. Where the action is refused, the refusal is its outcome. Both operators must have the role at the time of
   * the decision.
   * @throws HttpProblem 403, 404, 409 APPROVAL_REQUESTER; OwnApprovalError, ApprovalClosedError
   */
  async approve(id: bigint, operator: ConsoleOperator): Promise<Approval> {
    const { action: name, requestedBy } = await this.find(id);
    const action = this.actionOf(name);
    requireRole(operator, action);
    const decider = {
      ...operator,
      requireRights: (known: readonly GrantedRole[]) => {
        this.requireBoth(action, { known, requestedBy, operator });
      },
    };
    const decided = await this.store.decide(id, 'approved', decider, this.clock.nowMs());
    const actors = { actor: actorOf(decided.requestedBy), approvedBy: operator.actor };
    const outcome = await this.outcomeOf(action, decided, actors);
    await this.store.finish(id, outcome);
    return { ...decided, outcome };
  }

  /** Refuses a request, or withdraws the operator's own one. @throws HttpProblem 403, 404; ApprovalClosedError */
  async refuse(id: bigint, operator: ConsoleOperator): Promise<Approval> {
    const { action, requestedBy } = await this.find(id);
    requireRole(operator, this.actionOf(action));
    const isOwn = requestedBy.subject === operator.subject;
    const decision = isOwn ? 'withdrawn' : 'refused';
    return this.store.decide(id, decision, operator, this.clock.nowMs());
  }

  /**
   * Prevents a second open request for the same action.
   * @throws HttpProblem 409 APPROVAL_PENDING
   */
  async requireNoOpenRequest(isSame: (open: Approval) => boolean): Promise<void> {
    const open = (await this.listOpen(MOST_OPEN)).find(isSame);
    if (open === undefined) return;
    const message = `${distinctName(open.requestedBy)} has asked for \`${open.action}\` already: it waits for a second operator until ${open.expiresAt.toISOString()}.`;
    throw new HttpProblem(409, message, { code: 'APPROVAL_PENDING' });
  }

  /** Requests that are neither decided nor expired, the first to expire first. */
  listOpen(limit: number): Promise<Approval[]> {
    return this.store.listOpen(this.clock.nowMs(), limit);
  }

  /** All requests, newest first. */
  list(page: {
    readonly before?: bigint | undefined;
    readonly limit: number;
  }): Promise<Approval[]> {
    return this.store.list(page);
  }

  /** Writes expired requests to the audit log, every minute. A request is refused from its expiry on, noted or not. */
  @Interval('note-expired-approvals', MINUTE_MS)
  async noteExpired(): Promise<void> {
    try {
      await this.store.noteExpired(this.clock.nowMs(), CONSOLE_ACTOR);
    } catch (error) {
      // The next run tries again.
      if (!(error instanceof RetryableError)) throw error;
    }
  }

  /** @param worthUsd as in `Wanted` */
  needsSecond(worthUsd: string | undefined): boolean {
    if (this.above === undefined || worthUsd === undefined) return false;
    return worthUsd === UNBOUNDED || compareDecimals(parseDecimal(worthUsd), this.above) >= 0;
  }

  /**
   * Returns a refusal as the outcome. Any other error is thrown and leaves the request without an outcome: whether the
   * action was done is unknown, and an operator has to look it up.
   */
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

  /** @param known of both operators by their newest sign-ins. @throws HttpProblem 403, 409 */
  private requireBoth(
    action: ApprovableAction,
    { known, requestedBy, operator }: BothOperators,
  ): void {
    const own = known.find(({ subject }) => subject === operator.subject);
    const ownRole = own === undefined ? operator.role : this.rights.roleNow(own.subject, own);
    requireRole({ role: ownRole }, action);
    const { subject } = requestedBy;
    const asked = known.find((one) => one.subject === subject);
    const role = this.rights.roleOfRecentSignIn(subject, asked);
    if (role !== undefined && mayActAs(role, action.role)) return;
    const message = `${distinctName(requestedBy)}, who asked for this, no longer has the role ${action.role}, or has not signed in for ${SESSION_HOURS} hours. Refuse the request, and ask for the action yourself if it is right.`;
    throw new HttpProblem(409, message, { code: 'APPROVAL_REQUESTER' });
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

interface BothOperators {
  readonly known: readonly GrantedRole[];
  readonly requestedBy: Person;
  readonly operator: ConsoleOperator;
}

function requireRole(
  { role }: { readonly role: OperatorRole | undefined },
  action: ApprovableAction,
): void {
  if (role === undefined || !mayActAs(role, action.role)) throw signInProblem('ROLE_TOO_LOW');
}
