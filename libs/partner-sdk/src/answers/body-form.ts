/** What a body is: JSON, or why not. */

export type BodyFault = 'not-utf-8' | 'byte-order-mark' | 'html-page' | 'too-deep' | 'not-json';

export interface BodyForm {
  readonly json?: { readonly value: unknown } | undefined;
  readonly bodyFault?: BodyFault | undefined;
}

/**
 * Deepest nesting that is accepted. Genuine answers have two levels; thousands of levels would exhaust the stack of
 * recursive code.
 */
const DEEPEST = 32;
const HTML = /^\s*<(?:!doctype html|html|head|body)\b/i;

/** @param text undefined where the bytes are not UTF-8; a byte order mark is not removed */
export function bodyForm(text: string | undefined): BodyForm {
  if (text === undefined) return { bodyFault: 'not-utf-8' };
  try {
    const value: unknown = JSON.parse(text);
    return depthExceeds(value, DEEPEST) ? { bodyFault: 'too-deep' } : { json: { value } };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (text.startsWith('\ufeff')) return { bodyFault: 'byte-order-mark' };
    return { bodyFault: HTML.test(text) ? 'html-page' : 'not-json' };
  }
}

function depthExceeds(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((member) => depthExceeds(member, limit - 1));
}
