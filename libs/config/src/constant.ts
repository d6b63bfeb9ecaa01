/**
 * Constants that whole programs of a test, or of the trial on a local chain, run with other values of. They stand in the
 * settings classes, so that they reach their use as settings do. Operators do not set them.
 */
import 'reflect-metadata';
import { type SettingsClass } from './setting.js';

const CONSTANTS = [
  'maxRangeBlocks',
  'olderProofsMb',
  'payoutExpiryMarginSeconds',
  'payoutPollMs',
  'pollIntervalMs',
  'registryDelaySeconds',
  'registryPollMs',
  'sealKeptDays',
  'voucherCoolDownSeconds',
] as const;
type ConstantName = (typeof CONSTANTS)[number];

/** The variable: a JSON object of numbers by the names above. */
export const TEST_CONSTANTS = 'LOWMARK_TEST_CONSTANTS';

type Source = Readonly<Record<string, string | undefined>>;
type Replaced = Readonly<Partial<Record<ConstantName, number>>>;

const KEY = Symbol('constants');

/** Declares that a test may replace the number: `@Constant() readonly pollIntervalMs = 2000`. */
export function Constant() {
  return (target: object, property: ConstantName): void => {
    Reflect.defineMetadata(KEY, [...constantsOf(target), property], target);
  };
}

function constantsOf(target: object): readonly ConstantName[] {
  return (Reflect.getMetadata(KEY, target) as ConstantName[] | undefined) ?? [];
}

/** The variable for programs of a test. */
export function testConstants(values: Replaced): Record<string, string> {
  return { [TEST_CONSTANTS]: JSON.stringify(values) };
}

/**
 * The replaced constants of a settings class. Those of other classes are left out, because programs share a file.
 * @throws Error that says what is expected; in production always, if the variable is set
 */
export function replacedConstants(Class: SettingsClass, source: Source): Replaced {
  const text = source[TEST_CONSTANTS];
  if (!text) return {};
  if (source['NODE_ENV'] === 'production') throw new Error('is for tests: production refuses it');
  const own = constantsOf(Class.prototype as object);
  const replaced = Object.entries(parse(text)).filter(([name]) => own.some((one) => one === name));
  return Object.fromEntries(replaced);
}

function parse(text: string): object {
  const values = jsonOf(text);
  const isUsable =
    typeof values === 'object' &&
    values !== null &&
    Object.entries(values).every(
      ([name, value]) =>
        CONSTANTS.some((one) => one === name) && typeof value === 'number' && value >= 0,
    );
  if (!isUsable)
    throw new Error(`must be a JSON object of numbers, by names of ${CONSTANTS.join(', ')}`);
  return values;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
