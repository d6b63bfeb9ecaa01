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

/** A refusal of an operation in the words of the page that asked for it. */
export function inPageWords(message: string): string {
  return LABELS.reduce((text, [option, label]) => text.replaceAll(option, label), message);
}
