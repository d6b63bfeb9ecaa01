import { printable } from './printable.js';

/** A name and its value; left out where the value is undefined. */
export type Field = readonly [name: string, value: string | undefined];

/** One line for each field, the values below each other. */
export function fieldLines(fields: readonly Field[], indent = ''): string {
  const shown = fields.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length)) + 2;
  return shown
    .map(([name, value]) => `${indent}${name.padEnd(width)}${printable(value ?? '')}\n`)
    .join('');
}
