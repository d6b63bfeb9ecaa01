/** An action that was decided on a view of a redemption: done as long as the redemption is as it was seen. */
import { type Database, type EvidenceSeal, type LoggedTransition, RedemptionLog } from '#libs/db';
import { PermanentError, type UuidV7 } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type AuditedCommand, onRedemption, type Operator } from '../audit/audited.js';
import { type ActionName, eventOf } from './actions.js';
import { operate, replayConfirmation } from './operate.js';

export interface WantedAction {
  readonly id: UuidV7;
  readonly action: ActionName;
  /** Of the redemption, as it was seen. */
  readonly version: number;
  /** What the action's `input` asks for: a transaction, or a note. */
  readonly given?: string | undefined;
  /** `operator:NAME` of a second operator. */
  readonly approvedBy?: string | undefined;
  /** The rules refused it when they were asked before: says why, and does not do it where they would allow it now. */
  readonly isRefused?: true;
}

interface ActionTools {
  readonly database: Database;
  readonly clock: Clock;
  /** For `set-partner-tx`. */
  readonly seal?: EvidenceSeal | undefined;
}

const MOST_TOLD = 5;

/** The redemption has moved on since it was looked at. Nothing was changed. */
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
 * The audit row is that of the command which does the same.
 * @throws ViewOutdatedError, and what `operate` and `replayConfirmation` throw
 */
export async function performAction(
  { database, clock, seal }: ActionTools,
  operator: Operator,
  wanted: WantedAction,
): Promise<void> {
  const { id, action, version, given, approvedBy, isRefused = false } = wanted;
  const second = approvedBy === undefined ? {} : { approvedBy };
  if (action === 'replay-confirm') {
    const command = { ...operator, arguments: second };
    await requireSeen(database, command, { id, version });
    await replayConfirmation(database, command, id, clock.nowMs());
    return;
  }
  const { event, arguments: kept } = eventOf(action, given);
  const command = { ...operator, arguments: { ...kept, ...second } };
  await requireSeen(database, command, { id, version });
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

/** Before the rules are asked: why they refuse what has moved on says less than that it has. */
function requireSeen(database: Database, command: AuditedCommand, seen: Seen): Promise<void> {
  return onRedemption(database, { ...command, id: seen.id }, async ({ redemption }) => {
    if (redemption.version !== seen.version) throw await outdated(database, seen);
  });
}

async function outdated(database: Database, { id, version }: Seen): Promise<ViewOutdatedError> {
  const page = { after: version, limit: MOST_TOLD };
  const { entries } = await new RedemptionLog(database).transitions(id, page);
  return new ViewOutdatedError(id, entries);
}
