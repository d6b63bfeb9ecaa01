/** What advice and refusals say of the command line, for a page that has buttons and fields instead. */
import { CANDIDATES, REPLAY_TITLE } from '../redemptions/actions.js';

/** A command with its arguments, as advice has it; of `redemption resolve` the option says which action is meant. */
export const REDEMPTION_COMMAND = /`redemption ([a-z-]+)[^`]*?(?: --([a-z-]+))?(?: NOTE)?`/g;

/** The options of the command line, as the pages call them: the labels of `apps/web/src/operate/desk-texts.ts`. */
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

/** The text with the titles of actions in place of commands, and labels in place of options; what has neither stays. */
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
