/** Text for a terminal, printable and aligned, and single lines of JSON. */
import { decimalText } from '#libs/db';
import { type Decimal } from '#libs/domain';
import { printable } from '#libs/operations';

/** A name and its value; undefined values are left out. */
export type Field = readonly [name: string, value: string | undefined];

/** One line per field, with aligned values. */
export function fieldLines(fields: readonly Field[], indent = ''): string {
  const shown = fields.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length)) + 2;
  return shown
    .map(([name, value]) => `${indent}${name.padEnd(width)}${printable(value ?? '')}\n`)
    .join('');
}

/** A table with aligned columns, the head first. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

const INVISIBLE = /[\u007f-\u009f\p{Cf}\u2028\u2029]/gu;
const MOMENT = /(?:At|Since|Until)Ms$/;

/** One line of JSON. Amounts become strings with all digits, times ISO 8601 (`startedAtMs` becomes `startedAt`). */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(plain(value)).replace(INVISIBLE, (character) =>
    // JSON escapes a character above U+FFFF as two surrogates; `split` separates them.
    character
      .split('')
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  return `${text}\n`;
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (isDecimal(value)) return decimalText(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) =>
      MOMENT.test(name) && (typeof member === 'number' || member === null)
        ? [name.slice(0, -'Ms'.length), member === null ? null : new Date(member).toISOString()]
        : [name, plain(member)],
    ),
  );
}

function isDecimal(value: object): value is Decimal {
  return 'digits' in value && typeof value.digits === 'bigint' && 'scale' in value;
}
