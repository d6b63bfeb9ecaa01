/** Options of several commands, and strict parsers of their values. */
import { Argument, InvalidArgumentError, Option } from 'commander';
import {
  type Address,
  isStakeSetName,
  parseAddress,
  parseDecimal,
  STAKE_SET_RULE,
} from '#libs/domain';
import { OPERATOR_NAME } from '#libs/operations';

type Parse = (text: string, before: never) => unknown;

export function option(flags: string, description: string, parse?: Parse, value?: unknown): Option {
  const made = new Option(flags, description).default(value);
  // Commander passes the previous value, or the default, as the second argument.
  return parse === undefined ? made : made.argParser(parse as (text: string) => unknown);
}

export function required(flags: string, description: string, parse?: Parse): Option {
  return option(flags, description, parse).makeOptionMandatory();
}

export function argument(name: string, description: string, parse?: Parse): Argument {
  const made = new Argument(name, description);
  return parse === undefined ? made : made.argParser(parse as (text: string) => unknown);
}

/** Name of the operator in the audit and the timeline. */
export const AS = option(
  '--as <name>',
  'your name for the audit (default: the user of the operating system)',
  matching(OPERATOR_NAME, '1 to 64 letters, digits and . _ @ + -, a letter or a digit first'),
);
export const JSON_LINE = option('--json', 'print one line of JSON');
export const YES = option('--yes', 'do not ask');

export const LIST_MOST = 10_000;
export const LIMIT = option(
  '--limit <number>',
  `how many, ${LIST_MOST} at most`,
  positiveInteger,
  50,
);

export const stakeSet = expecting(`${STAKE_SET_RULE}.`, (text) =>
  isStakeSetName(text) ? text : undefined,
);

/** Replaces STAKE_SET for one call; see `Call.source`. */
export const ON_STAKE_SET = option(
  '--stake-set <name>',
  'of several stake sets the one that is meant (default: STAKE_SET)',
  stakeSet,
);

const MAX_INT = 2_147_483_647;
const DECIMAL = /^\d{1,30}(?:\.\d{1,30})?$/;

/** A parser that refuses values for which `parse` returns undefined. @param expected text after "Expected" */
export function expecting<T>(expected: string, parse: (text: string) => T | undefined) {
  return (text: string): T => {
    const value = parse(text);
    if (value === undefined) throw new InvalidArgumentError(`Expected ${expected}`);
    return value;
  };
}

function matching(pattern: RegExp, expected: string) {
  return expecting(expected, (text) => (pattern.test(text) ? text : undefined));
}

export function oneOf<T extends string>(words: readonly T[]) {
  return expecting(`one of ${words.join(', ')}.`, (text) => words.find((one) => one === text));
}

export function positiveInteger(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > MAX_INT) {
    throw new InvalidArgumentError('Expected a whole number of at least 1.');
  }
  return value;
}

/** Zero or more. */
export const decimal = expecting('a decimal such as 0.01.', (text) =>
  DECIMAL.test(text) ? parseDecimal(text) : undefined,
);

export const wallet = expecting('0x and 40 hex digits.', (text) => parseAddress(text));

/** Addresses separated by commas, each once. */
export const walletList = expecting('addresses of 0x and 40 hex digits, with commas.', (text) => {
  const wallets = text.split(',').map((one) => parseAddress(one.trim()));
  return wallets.includes(undefined) ? undefined : ([...new Set(wallets)] as Address[]);
});
