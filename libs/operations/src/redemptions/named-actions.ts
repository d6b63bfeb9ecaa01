/** Actions that the advice for a redemption names, and that are not possible yet. */
import {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  type Redemption,
  type Refusal,
  transition,
} from '#libs/domain';
import { moment } from '../text/text.js';
import { ACTION_COMMANDS, type ActionContext, type ActionName, CANDIDATES } from './actions.js';
import { advisedActions } from './waits-for.js';

export interface RefusedAction {
  readonly action: ActionName;
  readonly command: string;
  readonly title: string;
  readonly why: string;
}

/**
 * For a redemption in `attention`: the actions that its advice names and the rules refuse, each with the reason. Where
 * only time is missing, the reason says when the action becomes possible.
 */
export function refusedActions(redemption: Redemption, context: ActionContext): RefusedAction[] {
  if (redemption.state !== 'attention') return [];
  const named = advisedActions(redemption);
  return CANDIDATES.flatMap(({ action, title, event }): RefusedAction[] => {
    if (!named.has(action)) return [];
    const decision = transition(redemption, event, { ...context, jitter: 0 });
    if (decision.kind !== 'refused') return [];
    const command = ACTION_COMMANDS[action];
    return [{ action, command, title, why: whyNot(decision, redemption) }];
  });
}

const TOO_FRESH = 'A call to deduct could still reach the partner.';

function whyNot({ code, message }: Refusal, redemption: Redemption): string {
  const fromMs = possibleFromMs(code, redemption);
  if (fromMs === undefined) return `Not now: ${message}`;
  // The exact time takes the place of the rule's own estimate.
  const reason = code === 'too-fresh' ? TOO_FRESH : message;
  return `Not now: ${reason} Possible from ${moment(fromMs) ?? ''} on.`;
}

function possibleFromMs(code: Refusal['code'], redemption: Redemption): number | undefined {
  if (code === 'too-fresh') return freshUntilMs(redemption) + 1;
  const { openCall } = redemption;
  if (code !== 'call-open' || openCall === null) return undefined;
  return openCall.startedAtMs + FRESHNESS_WINDOW_MS + 1;
}
