import { readFileSync } from 'node:fs';
import { PARTNER_CAPABILITIES, type PartnerCapability } from '#libs/domain';
import { OptionError } from '../option.error.js';

const OPTION = '--capabilities-from';

/**
 * What the conformance tester found, from its report (`npm run conformance -- … --json`): the capabilities that it saw at work. One
 * that it could not try counts as missing.
 * @throws OptionError where the file is no report
 */
export function capabilitiesFrom(path: string): PartnerCapability[] {
  const found = record(record(parsed(path))?.['capabilities']);
  if (found === undefined || !PARTNER_CAPABILITIES.some((name) => name in found)) {
    throw new OptionError(`The file of ${OPTION} is not a report of the conformance tester.`);
  }
  return PARTNER_CAPABILITIES.filter((name) => found[name] === true);
}

function parsed(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'no code' } = error as NodeJS.ErrnoException;
    throw new OptionError(`The file of ${OPTION} cannot be read (${code}).`);
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
