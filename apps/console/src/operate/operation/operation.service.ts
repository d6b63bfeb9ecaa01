import { Inject, Injectable } from '@nestjs/common';
import { Database } from '#libs/db';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import {
  type Operation,
  type OperationContext,
  type OperationType,
  outcomeOf,
  type SecondOperatorRequest,
  specOf,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { type ActionResultBody, actionResult } from '../../approvals/approval.dto.js';
import { type Actors, ApprovalService, UNBOUNDED } from '../../approvals/approval.service.js';
import { type ConsoleOperator } from '../../auth/audience.js';
import { ConsoleSettings } from '../../console.env.js';
import { OperateKeys } from '../operate-keys.js';
import { StakeSets } from '../stake-sets.js';
import { restoredOperation, storedValues } from './stored-operation.js';

/** Carries out operations for operators on the pages, some of them once a second operator has approved. */
@Injectable()
export class OperationService {
  constructor(
    private readonly database: Database,
    private readonly keys: OperateKeys,
    private readonly settings: ConsoleSettings,
    private readonly approvals: ApprovalService,
    private readonly sets: StakeSets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Called at start-up for each operation that may need a second operator. */
  register(type: OperationType): void {
    const { command: name, role = 'admin' } = type.spec;
    this.approvals.register({
      ...{ name, role },
      execute: async (stored, actors) => {
        const { partner } = stored;
        const keyRing = () => this.keyRing(name, typeof partner === 'string' ? partner : '');
        const operation = restoredOperation(type, stored, keyRing);
        const context = await this.contextOf(operation, actors);
        return outcomeOf(operation, await operation.perform(context));
      },
    });
  }

  /** @throws what the operation throws */
  async perform<Result>(
    operation: Operation<Result>,
    { actor, subject }: ConsoleOperator,
  ): Promise<Result> {
    const context = await this.contextOf(operation, { actor, subject });
    if (this.hasSecondOperator) await operation.forSecondOperator?.(context);
    return operation.perform(context);
  }

  /**
   * Carries out an operation, or asks a second operator for it.
   * @throws HttpProblem 400, 409, and what the operation throws
   */
  async ask(operation: Operation, operator: ConsoleOperator): Promise<ActionResultBody> {
    const { actor, subject } = operator;
    const context = await this.contextOf(operation, { actor, subject });
    const request = this.hasSecondOperator
      ? await operation.forSecondOperator?.(context)
      : undefined;
    if (request === undefined) {
      const outcome = outcomeOf(operation, await operation.perform(context));
      return actionResult({ done: true, outcome }, subject, this.clock.nowMs());
    }
    const { command: action } = specOf(operation);
    const values = storedValues(operation, context.keyRing);
    const { id, partner } = values;
    // Of a redemption, any action on it.
    await this.approvals.requireNoOpenRequest(({ action: open, arguments: given }) =>
      id === undefined ? open === action && given['partner'] === partner : given['id'] === id,
    );
    const { reason } = operation as { readonly reason?: string };
    const asked = await this.approvals.perform(operator, {
      ...{ action, arguments: { ...values, ...request.shown }, summary: request.summary },
      ...{ worthUsd: worthOf(request), reason },
    });
    return actionResult(asked, subject, this.clock.nowMs());
  }

  private get hasSecondOperator(): boolean {
    return this.approvals.needsSecond(UNBOUNDED);
  }

  /** @throws HttpProblem 404 if there is no such stake set */
  private async contextOf(
    operation: Operation,
    by: Actors & { readonly subject?: string },
  ): Promise<OperationContext> {
    const { command, needs } = specOf(operation);
    const { partner = '', stakeSet = DEFAULT_STAKE_SET } = operation as {
      readonly partner?: string;
      readonly stakeSet?: string;
    };
    const { clock, settings } = this;
    const isOfSet = needs === 'stakeSet';
    return {
      ...{
        ...by,
        clock,
        evidence: (typed) => this.keys.seal(typed),
        keyRing: () => this.keyRing(command, partner),
      },
      ...(isOfSet && { stakeSet }),
      database: isOfSet ? await this.sets.open(stakeSet) : this.database,
      consoleOrigin: settings.consoleOrigin,
      // The redemption service obeys the same setting, so a test call reaches what the service reaches.
      allowPrivate: settings.allowPrivatePartners,
    };
  }

  /** @throws HttpProblem 503, which names the command that does the same where the key is set */
  private keyRing(command: string, partner: string) {
    return this.keys.keyRing(`${command} ${partner}`.trim());
  }
}

/** As the approvals take it. */
function worthOf({ worthUsd = UNBOUNDED }: SecondOperatorRequest): string | undefined {
  return worthUsd ?? undefined;
}
