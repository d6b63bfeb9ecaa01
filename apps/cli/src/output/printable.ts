/** Controls, invisible and direction marks, halves of pairs: what could move the cursor, hide text or fake a line. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Somebody else's text, fit for a terminal: in one line, with whatever is not to be seen spelled out. */
export function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
