import { Inject, Injectable } from '@nestjs/common';
import { type Approval, CallbackStore, Database, type RedemptionHistory } from '#libs/db';
import { type Redemption, type UuidV7 } from '#libs/domain';
import {
  asTitle,
  allowedActions,
  type OperatorAction,
  payoutFields,
  refusedActions,
  showRedemption,
  standingFields,
  waitsFor,
  worthUsd,
} from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { approvalBody } from '../../approvals/approval.dto.js';
import { ApprovalService } from '../../approvals/approval.service.js';
import { callBody } from '../call.bodies.js';
import { keyMissingText, OperateKeys } from '../operate-keys.js';
import {
  type ActionBody,
  type ConfirmationBody,
  listedBody,
  type RedemptionBody,
} from './redemption.bodies.js';

/** Maximum number of approvals that are searched: of the newest ones, and of the open ones. */
const MOST_APPROVALS = 100;

@Injectable()
export class RedemptionView {
  constructor(
    private readonly database: Database,
    private readonly callbacks: CallbackStore,
    private readonly approvals: ApprovalService,
    private readonly keys: OperateKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param subject of the operator who views the redemption.
   * @throws RedemptionMissingError, UnreadableRedemptionError
   */
  async show(id: UuidV7, subject: string): Promise<RedemptionBody> {
    const shown = await showRedemption(this.database, id);
    const { history, partnerName } = shown;
    const { redemption } = history;
    const nowMs = this.clock.nowMs();
    const fields = [...standingFields(shown, nowMs), ...payoutFields(history)].filter(
      // The answer has a field `waitsFor` of its own.
      ([name]) => name !== 'waits for',
    );
    const [actions, approvals] = [await this.actionsOf(history), await this.approvalsOf(id)];
    const refused = await this.refusedOf(history);
    return {
      ...listedBody(redemption, new Map([[redemption.partner, partnerName]])),
      waitsFor: waitsFor(history, nowMs, asTitle),
      facts: fields.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
      transitions: history.transitions,
      calls: history.calls.map((call) => callBody({ ...call, redemptionId: id })),
      confirmation: confirmationBody(history),
      actions: [...actions.map((one) => this.actionBody(one, redemption)), ...refused],
      approvals: approvals.map((one) => approvalBody(one, subject, nowMs)),
    };
  }

  /**
   * Actions that the state allows now. None where the partner has no callback any more, as the rules need its settings.
   */
  async actionsOf(history: RedemptionHistory): Promise<OperatorAction[]> {
    const policy = await this.callbacks.find(history.redemption.partner);
    if (policy === undefined) return [];
    return allowedActions(history, { nowMs: this.clock.nowMs(), policy });
  }

  /** The approvals that were requested for the redemption, newest first. */
  async approvalsOf(id: UuidV7): Promise<Approval[]> {
    const newest = await this.approvals.list({ limit: MOST_APPROVALS });
    const open = await this.approvals.listOpen(MOST_APPROVALS);
    const byId = new Map([...newest, ...open].map((one) => [one.id, one]));
    return [...byId.values()]
      .filter((one) => one.arguments['id'] === id)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  /** Actions that the advice for the redemption names but the rules do not allow yet. */
  private async refusedOf({ redemption }: RedemptionHistory): Promise<ActionBody[]> {
    const policy = await this.callbacks.find(redemption.partner);
    if (policy === undefined) return [];
    const refused = refusedActions(redemption, { nowMs: this.clock.nowMs(), policy });
    const nothing = {
      consequence: '',
      input: null,
      fields: {},
      isFinal: false,
      needsApproval: false,
    };
    return refused.map(({ why, ...action }) => ({ ...action, ...nothing, unavailable: why }));
  }

  private actionBody(one: OperatorAction, redemption: Redemption): ActionBody {
    const { id } = redemption;
    const { action, command, input = null } = one;
    const isPossible = action !== 'set-partner-tx' || this.keys.canSeal;
    const unavailable = isPossible
      ? null
      : keyMissingText('EVIDENCE_KEY', `${command} ${id} TRANSACTION`);
    const needsApproval = this.approvals.needsSecond(worthUsd(action, redemption) ?? undefined);
    return { ...one, input, needsApproval, unavailable };
  }
}

function confirmationBody({ confirmation }: RedemptionHistory): ConfirmationBody | null {
  if (confirmation === null) return null;
  const { state, attempts, payload, deliveredAt, nextActionAt } = confirmation;
  return { state, attempts, payload, deliveredAt, nextActionAt };
}
