/** Reads what was sent against a table of fields, by hand: exact types, nothing coerced, every fault named. */
import { Refusal } from './refusal.js';

export interface Field<T> {
  /** Undefined for what the field cannot be. */
  readonly read: (value: unknown) => T | undefined;
  /** What it must be, for the message. */
  readonly expected: string;
  /** Whether it may be left out; null is not leaving out. */
  readonly optional?: boolean;
}

export type Fields<T> = { readonly [K in keyof T]-?: Field<NonNullable<T[K]> | T[K]> };

/**
 * Fields that the table does not name are ignored: the interface may grow.
 * @throws Refusal ERR-INTERNAL that names all wrong fields
 */
export function readFields<T extends object>(sent: unknown, fields: Fields<T>): T {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw new Refusal('ERR-INTERNAL', 'The body is not usable: it must be a JSON object');
  }
  const result: Partial<T> = {};
  const faults: string[] = [];
  for (const name in fields) {
    const { read, expected, optional = false } = fields[name];
    if (!Object.hasOwn(sent, name)) {
      if (!optional) faults.push(`${name} is missing`);
      continue;
    }
    const value = read((sent as Readonly<Record<string, unknown>>)[name]);
    if (value === undefined) faults.push(`${name} must be ${expected}`);
    else result[name] = value;
  }
  if (faults.length > 0) {
    throw new Refusal('ERR-INTERNAL', `The request is not usable: ${faults.join('; ')}`);
  }
  return result as T;
}
