/** Carries out an action that an operator chose on a view of a redemption, unless the redemption has changed since. */
import { type Database, type EvidenceSeal, type LoggedTransition, RedemptionLog } from '#libs/db';
import { PermanentError, type UuidV7 } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type AuditedCommand, auditedText, onRedemption, type Operator } from '../audit/audited.js';
import { type ActionName, eventOf } from './actions.js';
import { operate, replayConfirmation } from './operate.js';

export interface WantedAction {
  readonly id: UuidV7;
  readonly action: ActionName;
  /** The version of the redemption that the operator saw. */
  readonly version: number;
  /** The value that the action's `input` asks for: a transaction id, or a note. */
  readonly given?: string | undefined;
  /** Why, in the operator's words, for the audit row. */
  readonly reason?: string | undefined;
  /** `operator:NAME` of the second operator, where one approved the action. */
  readonly approvedBy?: string | undefined;
  /** The rules refused the action before. Asks them again for the reason, and does not act if they now allow it. */
  readonly isRefused?: true;
}

interface ActionTools {
  readonly database: Database;
  readonly clock: Clock;
  /** For `set-partner-tx`: makes the MAC that vouches for the transaction. */
  readonly seal?: EvidenceSeal | undefined;
}

const MOST_TOLD = 5;

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

/**
 * Carries out an action. Its audit row is that of the command which does the same.
 * @throws ViewOutdatedError, and what `operate` and `replayConfirmation` throw
 */
export async function performAction(
  { database, clock, seal }: ActionTools,
  operator: Operator,
  wanted: WantedAction,
): Promise<void> {
  const { id, action, version, given, reason, approvedBy, isRefused = false } = wanted;
  const noted = {
    ...(reason !== undefined && { reason: auditedText(reason) }),
    ...(approvedBy !== undefined && { approvedBy }),
  };
  if (action === 'replay-confirm') {
    const command = { ...operator, arguments: noted };
    await requireUnchanged(database, command, { id, version });
    await replayConfirmation(database, command, id, clock.nowMs());
    return;
  }
  const { event, arguments: kept } = eventOf(action, given);
  const command = { ...operator, arguments: { ...kept, ...noted } };
  await requireUnchanged(database, command, { id, version });
  await operate(database, clock, {
    ...command,
    ...{ id, event },
    ...(action === 'set-partner-tx' && seal && { seal }),
    confirm: async (before) => {
      if (isRefused || before.version !== version) throw await outdated(database, { id, version });
    },
  });
}

interface Seen {
  readonly id: UuidV7;
  readonly version: number;
}

/** Runs before the rules, whose refusal would say less than that the redemption has changed. */
function requireUnchanged(database: Database, command: AuditedCommand, seen: Seen): Promise<void> {
  return onRedemption(database, { ...command, id: seen.id }, async ({ redemption }) => {
    if (redemption.version !== seen.version) throw await outdated(database, seen);
  });
}

async function outdated(database: Database, { id, version }: Seen): Promise<ViewOutdatedError> {
  const page = { after: version, limit: MOST_TOLD };
  const { entries } = await new RedemptionLog(database).transitions(id, page);
  return new ViewOutdatedError(id, entries);
}
