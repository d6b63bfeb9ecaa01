import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Database, type RedemptionHistory, RedemptionStore } from '#libs/db';
import { parseUuidV7, type Redemption, type UuidV7 } from '#libs/domain';
import {
  ACTION_COMMANDS,
  ACTION_NAMES,
  asTitle,
  isSettlementNote,
  performAction,
  showRedemption,
  ViewOutdatedError,
  waitsFor,
  type WantedAction,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import {
  type Actors,
  ApprovalService,
  type ActionOutcome,
} from '../../approvals/approval.service.js';
import { type ConsoleOperator } from '../../auth/audience.js';
import { OperateKeys } from '../operate-keys.js';
import { RedemptionView, worthUsd } from './redemption-view.js';
import { type ActionDto } from './redemption.requests.js';

/** Actions on one redemption. The state must allow the action, and the redemption must be as the operator saw it. */
@Injectable()
export class RedemptionActions implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly store: RedemptionStore,
    private readonly view: RedemptionView,
    private readonly approvals: ApprovalService,
    private readonly keys: OperateKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    for (const name of new Set(Object.values(ACTION_COMMANDS))) {
      this.approvals.register({
        ...{ name, role: 'operator' },
        execute: (given, actors) => this.execute(wantedOf(given), actors),
      });
    }
  }

  /**
   * Carries the action out at once, or asks a second operator where its worth is APPROVAL_ABOVE_USD or more.
   * @throws HttpProblem 400, 409, 503; what `performAction` throws
   */
  async perform(operator: ConsoleOperator, id: UuidV7, dto: ActionDto): Promise<ActionOutcome> {
    const { action, version } = dto;
    const command = ACTION_COMMANDS[action];
    if (action === 'set-partner-tx') this.keys.seal(`${command} ${id} TRANSACTION`);
    const wanted = { id, action, version, given: givenOf(dto), reason: dto.reason };
    const { history } = await showRedemption(this.database, id);
    const { redemption } = history;
    const actions = await this.view.actionsOf(history);
    const allowed = actions.find((one) => one.action === action);
    if (allowed === undefined || redemption.version !== version) {
      await this.act({ ...wanted, isRefused: true }, operator.actor);
      throw new ViewOutdatedError(id, []);
    }
    await this.approvals.requireNoOpenRequest((open) => open.arguments['id'] === id);
    return this.approvals.perform(operator, {
      action: command,
      arguments: { ...wanted },
      summary: allowed.consequence,
      worthUsd: worthUsd(allowed, redemption),
      reason: dto.reason,
    });
  }

  private async execute(wanted: WantedAction, { actor, approvedBy }: Actors): Promise<string> {
    const before = await this.store.get(wanted.id);
    await this.act({ ...wanted, approvedBy }, actor);
    const { history } = await showRedemption(this.database, wanted.id);
    return outcomeText(before?.redemption, history, this.clock.nowMs());
  }

  private act(wanted: WantedAction, actor: string): Promise<void> {
    const { database, clock } = this;
    const command = ACTION_COMMANDS[wanted.action];
    const seal = wanted.action === 'set-partner-tx' ? this.keys.seal(command) : undefined;
    return performAction({ database, clock, seal }, { actor, command }, wanted);
  }
}

/** The transaction id or note that the action requires. @throws HttpProblem 400 */
function givenOf({ action, given }: ActionDto): string | undefined {
  switch (action) {
    case 'set-partner-tx':
      if (given === undefined || given === '') {
        throw HttpProblem.badRequest('given', 'given must be the transaction id of the partner.');
      }
      return given;
    case 'settled-by-hand':
      if (given === undefined || !isSettlementNote(given)) {
        throw HttpProblem.badRequest('given', 'given must be a note of 1 to 255 characters.');
      }
      return given;
    case 'retry':
    case 'cancel':
    case 'restored-out-of-band':
    case 'not-deducted':
    case 'replay-confirm':
      return undefined;
  }
}

/** Parses the arguments that `perform` stored in the database. @throws HttpProblem 409 */
function wantedOf(stored: Readonly<Record<string, unknown>>): WantedAction {
  const { id, action, version, given, reason } = stored;
  const known = ACTION_NAMES.find((one) => one === action);
  const redemption = typeof id === 'string' ? parseUuidV7(id) : undefined;
  if (known === undefined || redemption === undefined || typeof version !== 'number') {
    throw new HttpProblem(409, 'The stored request is not of the form that this console writes.');
  }
  return {
    ...{ id: redemption, action: known, version },
    given: typeof given === 'string' ? given : undefined,
    reason: typeof reason === 'string' ? reason : undefined,
  };
}

/** @param history after the action, with the confirmation that may be owed */
function outcomeText(
  before: Redemption | undefined,
  history: RedemptionHistory,
  nowMs: number,
): string {
  const after = history.redemption;
  const moved =
    before === undefined || before.state === after.state
      ? `still ${after.state}`
      : `${before.state} -> ${after.state}`;
  return `Redemption ${after.id}: ${moved}. Next: ${waitsFor(history, nowMs, asTitle)}`;
}
