/** The options of a partner's callback and of its terms for redemptions. */
import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { type Decimal, PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { type CallbackChange, NONE, OptionError, type OrNone } from '#libs/operations';
import { type Terminal } from '../command.js';
import { decimal, option, orNone, points, positiveDecimal } from '../options.js';
import { readSecret, type SecretSource } from './credential.js';

/** As commander returns them; options that were not given are absent. */
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

const CALLBACK = [
  option('--callback-url <url>', "the base URL of the partner's endpoints, https"),
  option('--callback-key <key>', 'X-API-KEY of our calls, issued by the partner'),
  option('--callback-key-file <path>', 'the file that holds the key'),
  option(
    '--callback-secret <secret>',
    'signs our calls and its answers; - reads it from the standard input',
  ),
  option('--callback-secret-file <path>', 'the file that holds the secret'),
  option('--usd-per-point <decimal>', 'what a point is worth', positiveDecimal),
  option('--bonus-from <points>', 'points from which there is a bonus, or none', orNone(points)),
  option('--bonus-rate <decimal>', 'the share on top: 0.02 is 2 %', decimal),
  option('--min-points <points>', 'the fewest in one redemption, or none', orNone(points)),
  option('--max-points <points>', 'the most in one redemption, or none', orNone(points)),
  option(
    '--daily-token-budget <tokens>',
    'whole tokens in a UTC day, what a fault of the partner can cost at most; without one (none) nothing can be redeemed',
    orNone(decimal),
  ),
  option('--confirm', 'the partner has the confirmation endpoint (the default)'),
  option('--no-confirm', 'it has not: no confirmation is sent'),
  option(
    '--capability <name...>',
    `what it is proven to do, or none; replaces the list: ${PARTNER_CAPABILITIES.join(', ')}`,
    capability,
  ),
  option(
    '--capabilities-from <path>',
    'what the conformance tester found, from its --json report; replaces the list',
    capabilitiesFrom,
  ),
];
export const CALLBACK_OPTIONS = [
  ...CALLBACK,
  option('--allow-private', 'development: accept http and private addresses'),
];
export const SECRET_NOTE = `
Key and secret are best read from files (--callback-key-file, --callback-secret-file), the secret also from the
standard input (--callback-secret -): arguments are in the process list and in the shell's history.`;

/** Whether any of the options was given. @throws OptionError where capabilities were given in both ways */
export function hasCallbackOptions(options: CallbackOptions): boolean {
  capabilitiesOf(options);
  const given: Readonly<Record<string, unknown>> = { ...options };
  return CALLBACK.some((one) => given[one.attributeName()] !== undefined);
}

/** The capabilities from either option; undefined where neither was given. @throws OptionError where both were given */
function capabilitiesOf({
  capability: named,
  capabilitiesFrom: found,
}: CallbackOptions): readonly PartnerCapability[] | undefined {
  if (named !== undefined && found !== undefined) {
    throw new OptionError('Give either --capability or --capabilities-from.');
  }
  return named ?? found;
}

/** The change to make, with key and secret read from their sources. @throws OptionError, which contains neither */
export async function readCallbackChange(
  options: CallbackOptions,
  terminal: Terminal,
): Promise<CallbackChange> {
  const {
    callbackUrl: url,
    callbackKey,
    callbackKeyFile,
    callbackSecret,
    callbackSecretFile,
  } = options;
  const { usdPerPoint, bonusFrom, bonusRate, minPoints, maxPoints, dailyTokenBudget } = options;
  const name = '--callback-key';
  const key: SecretSource = {
    value: callbackKey,
    file: callbackKeyFile,
    option: name,
    isName: true,
  };
  const secret = { value: callbackSecret, file: callbackSecretFile, option: '--callback-secret' };
  return {
    url,
    key: await readSecret(key, terminal),
    secret: await readSecret(secret, terminal),
    usdPerPoint,
    bonusFrom,
    bonusRate,
    minPoints,
    maxPoints,
    dailyTokenBudget,
    confirm: options.confirm,
    capabilities: capabilitiesOf(options),
    allowPrivate: options.allowPrivate,
  };
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

/**
 * Reads a report of the conformance tester (`npm run conformance -- … --json`): the capabilities that it has seen at
 * work. A capability that it could not test counts as missing.
 * @throws OptionError where the file is no report
 */
function capabilitiesFrom(path: string): PartnerCapability[] {
  const found = record(record(parsedFile(path))?.['capabilities']);
  if (found === undefined || !PARTNER_CAPABILITIES.some((name) => name in found)) {
    throw new OptionError(
      'The file of --capabilities-from is not a report of the conformance tester.',
    );
  }
  return PARTNER_CAPABILITIES.filter((name) => found[name] === true);
}

function parsedFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'no code' } = error as NodeJS.ErrnoException;
    throw new OptionError(`The file of --capabilities-from cannot be read (${code}).`);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
