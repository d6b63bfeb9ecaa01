/** The options that say how a partner is called and what may be redeemed with it. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Decimal, PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { OptionError } from '../option.error.js';
import { type Terminal } from '../commands/terminal.js';
import { readSecret, type SecretSource } from '../secret-source.js';
import { capabilitiesFrom } from './capabilities-file.js';
import { decimal, NONE, orNone, type OrNone, points, positiveDecimal } from './number-parsers.js';

/** As commander hands them over; what was not given is absent. */
export interface CallbackOptions {
  readonly callbackUrl?: string;
  readonly callbackKey?: string;
  readonly callbackKeyFile?: string;
  readonly callbackSecret?: string;
  readonly callbackSecretFile?: string;
  readonly usdPerPoint?: Decimal;
  readonly bonusFrom?: OrNone<bigint>;
  readonly bonusRate?: Decimal;
  readonly minPoints?: OrNone<bigint>;
  readonly maxPoints?: OrNone<bigint>;
  readonly dailyTokenBudget?: OrNone<Decimal>;
  readonly confirm?: boolean;
  readonly capability?: readonly PartnerCapability[];
  readonly capabilitiesFrom?: readonly PartnerCapability[];
  readonly allowPrivate?: boolean;
}

const SECRET_HELP = `
Key and secret are best read from files (--callback-key-file, --callback-secret-file), the secret also from the
standard input (--callback-secret -): arguments are in the process list and in the shell's history.`;

export function addCallbackOptions(command: Command): Command {
  return command
    .option('--callback-url <url>', "the base URL of the partner's endpoints, https")
    .option('--callback-key <key>', 'X-API-KEY of our calls, issued by the partner')
    .option('--callback-key-file <path>', 'the file that holds the key')
    .option(
      '--callback-secret <secret>',
      'signs our calls and its answers; - reads it from the standard input',
    )
    .option('--callback-secret-file <path>', 'the file that holds the secret')
    .option('--usd-per-point <decimal>', 'what a point is worth', positiveDecimal)
    .option('--bonus-from <points>', 'points from which there is a bonus, or none', orNone(points))
    .option('--bonus-rate <decimal>', 'the share on top: 0.02 is 2 %', decimal)
    .option('--min-points <points>', 'the fewest in one redemption, or none', orNone(points))
    .option('--max-points <points>', 'the most in one redemption, or none', orNone(points))
    .option(
      '--daily-token-budget <tokens>',
      'whole tokens in a UTC day, what a fault of the partner can cost at most; without one (none) nothing can be redeemed',
      orNone(decimal),
    )
    .option('--confirm', 'the partner has the confirmation endpoint (the default)')
    .option('--no-confirm', 'it has not: no confirmation is sent')
    .option(
      '--capability <name...>',
      `what it is proven to do, or none; replaces the list: ${PARTNER_CAPABILITIES.join(', ')}`,
      capability,
    )
    .option(
      '--capabilities-from <path>',
      'what the conformance tester found, from its --json report; replaces the list',
      capabilitiesFrom,
    )
    .option('--allow-private', 'development: accept http and private addresses')
    .addHelpText('after', SECRET_HELP);
}

/** Whether any of them was given. */
export function hasCallbackOptions(options: CallbackOptions): boolean {
  const { callbackUrl, callbackKey, callbackKeyFile, ...others } = options;
  const { callbackSecret, callbackSecretFile, ...rest } = others;
  const { usdPerPoint, bonusFrom, bonusRate, minPoints, maxPoints, dailyTokenBudget } = rest;
  const keys = [callbackKey, callbackKeyFile, callbackSecret, callbackSecretFile];
  const limits = [bonusFrom, bonusRate, minPoints, maxPoints, dailyTokenBudget];
  const given = [callbackUrl, ...keys, usdPerPoint, ...limits];
  return [...given, rest.confirm, capabilitiesOf(rest)].some((value) => value !== undefined);
}

/** However they were given; undefined where they were not. @throws OptionError where they were given twice */
export function capabilitiesOf({
  capability: named,
  capabilitiesFrom: found,
}: Pick<CallbackOptions, 'capability' | 'capabilitiesFrom'>):
  readonly PartnerCapability[] | undefined {
  if (named !== undefined && found !== undefined) {
    throw new OptionError('Give either --capability or --capabilities-from.');
  }
  return named ?? found;
}

/** What a partner issued, from wherever it was said to be; absent what was not given. */
export interface CallbackCredential {
  readonly key: string | undefined;
  readonly secret: string | undefined;
}

/** @throws OptionError, which shows neither */
export async function readCallbackCredential(
  options: CallbackOptions,
  terminal: Terminal,
): Promise<CallbackCredential> {
  const { callbackKey, callbackKeyFile, callbackSecret, callbackSecretFile } = options;
  const option = '--callback-key';
  const key: SecretSource = { value: callbackKey, file: callbackKeyFile, option, isName: true };
  const secret = { value: callbackSecret, file: callbackSecretFile, option: '--callback-secret' };
  return { key: await readSecret(key, terminal), secret: await readSecret(secret, terminal) };
}

function capability(
  text: string,
  before: readonly PartnerCapability[] = [],
): readonly PartnerCapability[] {
  if (text === NONE) return [];
  const found = PARTNER_CAPABILITIES.find((one) => one === text);
  if (found === undefined) {
    throw new InvalidArgumentError(`Expected none or one of ${PARTNER_CAPABILITIES.join(', ')}.`);
  }
  return before.includes(found) ? before : [...before, found];
}
