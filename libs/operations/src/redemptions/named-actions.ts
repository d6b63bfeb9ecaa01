/** Advice that names commands, for a page that has buttons instead. */
import {
  FRESHNESS_WINDOW_MS,
  freshUntilMs,
  type Redemption,
  type Refusal,
  transition,
} from '#libs/domain';
import { moment } from '../text/text.js';
import { type ActionContext, type ActionName, CANDIDATES, REPLAY_TITLE } from './actions.js';
import { attentionAdvice } from './waits-for.js';

/** A command with its arguments, as advice has it; of `redemption resolve` the option says which action is meant. */
const COMMAND = /`redemption ([a-z-]+)[^`]*?(?: --([a-z-]+))?(?: NOTE)?`/g;

/** An action that the advice names and the rules do not allow yet. */
export interface RefusedAction {
  readonly action: ActionName;
  readonly command: string;
  readonly title: string;
  readonly why: string;
}

/** The text with the titles of actions in place of the commands; what is no action stays. */
export function inButtons(text: string): string {
  return text.replaceAll(COMMAND, (command: string, name: string, option?: string) => {
    const title = titleOf(option ?? name);
    return title === undefined ? command : `“${title}”`;
  });
}

/** Of a redemption in `attention`: those that its advice names, each with why it cannot be done and, where time helps, from when. */
export function refusedActions(redemption: Redemption, context: ActionContext): RefusedAction[] {
  if (redemption.state !== 'attention') return [];
  const named = new Set(
    [...attentionAdvice(redemption).matchAll(COMMAND)].map(([, name, option]) => option ?? name),
  );
  return CANDIDATES.flatMap(({ action, command, title, event }): RefusedAction[] => {
    if (!named.has(action)) return [];
    const decision = transition(redemption, event, { ...context, jitter: 0 });
    if (decision.kind !== 'refused') return [];
    return [{ action, command, title, why: whyNot(decision, redemption) }];
  });
}

function titleOf(action: string): string | undefined {
  if (action === 'replay-confirm') return REPLAY_TITLE;
  return CANDIDATES.find((one) => one.action === action)?.title;
}

function whyNot({ code, message }: Refusal, redemption: Redemption): string {
  const fromMs = possibleFromMs(code, redemption);
  if (fromMs === undefined) return `Not now: ${message}`;
  // The time is said here, exactly: not also as the rule estimates it.
  const [reason = message] = message.split(/(?<=\.) /);
  return `Not now: ${reason} Possible from ${moment(fromMs) ?? ''} on.`;
}

function possibleFromMs(code: Refusal['code'], redemption: Redemption): number | undefined {
  if (code === 'too-fresh') return freshUntilMs(redemption) + 1;
  const { openCall } = redemption;
  if (code !== 'call-open' || openCall === null) return undefined;
  return openCall.startedAtMs + FRESHNESS_WINDOW_MS + 1;
}
