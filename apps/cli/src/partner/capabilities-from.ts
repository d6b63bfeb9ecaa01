/** Capabilities of a partner from a report of the conformance tester. */
import { readFileSync } from 'node:fs';
import { PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { type CallbackValues, OptionError } from '#libs/operations';
import { option } from '../options.js';

export const CAPABILITIES_FROM = option(
  '--capabilities-from <path>',
  'what the conformance tester found, from its --json report; replaces the list',
  capabilitiesFrom,
);

interface WithCallback {
  readonly callback?: CallbackValues;
}

/** The values with the capabilities of the report. @throws OptionError if capabilities were given in both ways */
export function withCapabilities<T extends WithCallback>(
  values: T,
  given: Readonly<Record<string, unknown>>,
): T {
  const found = given['capabilitiesFrom'] as readonly PartnerCapability[] | undefined;
  if (found === undefined) return values;
  if (values.callback?.capabilities !== undefined) {
    throw new OptionError('Give either --capability or --capabilities-from.');
  }
  return { ...values, callback: { ...values.callback, capabilities: found } };
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
