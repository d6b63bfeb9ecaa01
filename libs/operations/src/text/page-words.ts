/** Rewrites advice and refusals that name commands and options, for a page that has buttons and fields instead. */
import { CANDIDATES, REPLAY_TITLE } from '../redemptions/actions.js';

/** A command with its arguments, as in advice. For `redemption resolve` the option names the action. */
export const REDEMPTION_COMMAND = /`redemption ([a-z-]+)[^`]*?(?: --([a-z-]+))?(?: NOTE)?`/g;

/** Options of the command line with their labels on the pages, as in `apps/web/src/operate/desk-texts.ts`. */
const LABELS: readonly (readonly [option: string, label: string])[] = [
  [' (both also as -file)', ''],
  ['--callback-url', '“Callback URL”'],
  ['--callback-key', '“Callback key”'],
  ['--callback-secret', '“Callback secret”'],
  ['--usd-per-point', '“USD per point”'],
  ['--bonus-from', '“Bonus from points”'],
  ['--bonus-rate', '“Bonus rate”'],
  ['--allow-private', 'the box “Development: accept http and private addresses”'],
];

/** Replaces commands by the titles of their actions, and options by their labels. Commands without a title stay. */
export function inPageWords(text: string): string {
  const titled = text.replaceAll(
    REDEMPTION_COMMAND,
    (command: string, name: string, option?: string) => {
      const title = titleOf(option ?? name);
      return title === undefined ? command : `“${title}”`;
    },
  );
  return LABELS.reduce((words, [option, label]) => words.replaceAll(option, label), titled);
}

function titleOf(action: string): string | undefined {
  if (action === 'replay-confirm') return REPLAY_TITLE;
  return CANDIDATES.find((one) => one.action === action)?.title;
}
