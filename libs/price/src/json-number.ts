/** JSON whose numbers keep every digit that was sent; a double would round them. */

/** A number as it stands in the document. */
export interface ExactNumber {
  readonly source: string;
}

type Reviver = (
  this: unknown,
  key: string,
  value: unknown,
  context: { source?: string },
) => unknown;

/** The value at a JSON pointer (RFC 6901), its numbers exact; undefined where there is none. @throws SyntaxError */
export function valueAt(document: string, pointer: string): unknown {
  const keepDigits: Reviver = (_key, value, context) =>
    typeof value === 'number' ? { source: context.source ?? String(value) } : value;
  // The third argument of a reviver is in every supported runtime, and not yet in TypeScript's library.
  let value = JSON.parse(document, keepDigits as Parameters<typeof JSON.parse>[1]) as unknown;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The text of a number, or of a string that holds one. */
export function decimalText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || !('source' in value)) return undefined;
  return typeof value.source === 'string' ? value.source : undefined;
}
