import { type JSONVisitor, visit } from 'jsonc-parser';

type ParseFault = Parameters<NonNullable<JSONVisitor['onError']>>;

const AS_JSON = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/**
 * Where a text that is not JSON stops being so. The engine's own parser tells the place of some faults only, and repeats what was sent.
 * @returns such as `line 2, column 5`; undefined where the text is JSON
 */
export function jsonFault(text: string): string | undefined {
  let place: string | undefined;
  const onError = (...[, offset, , line, column]: ParseFault): void => {
    const at = `line ${line + 1}, column ${column + 1}`;
    place ??= offset >= text.length ? `${at}, where it ends` : at;
  };
  try {
    visit(text, { onError }, AS_JSON);
  } catch (error) {
    // Beyond what the stack holds.
    if (!(error instanceof RangeError)) throw error;
    place ??= 'in brackets that are nested too deep';
  }
  return place;
}
