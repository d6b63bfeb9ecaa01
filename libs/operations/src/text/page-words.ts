/** Rewrites advice and refusals that name commands, for a page that has buttons instead. */
import { CANDIDATES, REPLAY_TITLE } from '../redemptions/actions.js';

/** A command with its arguments, as in advice. For `redemption resolve` the option names the action. */
export const REDEMPTION_COMMAND = /`redemption ([a-z-]+)[^`]*?(?: --([a-z-]+))?(?: NOTE)?`/g;

/** Replaces commands by the titles of their actions. Commands without a title stay. */
export function inPageWords(text: string): string {
  return text.replaceAll(REDEMPTION_COMMAND, (command: string, name: string, option?: string) => {
    const title = titleOf(option ?? name);
    return title === undefined ? command : `“${title}”`;
  });
}

function titleOf(action: string): string | undefined {
  if (action === 'replay-confirm') return REPLAY_TITLE;
  return CANDIDATES.find((one) => one.action === action)?.title;
}
