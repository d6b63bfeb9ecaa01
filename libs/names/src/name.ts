/**
 * Which names can be given to what a person chooses and approves by its name. A name reads the same for every person and
 * in every program, and is taken for nothing else: no option, no id, no word of the language.
 */

/** In UTF-16 code units. */
export const LONGEST_NAME = 100;

export type ParsedName =
  | { readonly name: string; readonly fault?: undefined }
  /** What is wrong, to be read after "The name". */
  | { readonly name?: undefined; readonly fault: string };

/** The scripts of Unicode UAX31, table 5. Names of other scripts are refused: Cherokee letters look like Latin ones. */
const SCRIPTS = [
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek'],
  ...['Gujarati', 'Gurmukhi', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Malayalam', 'Myanmar', 'Oriya'],
  ...['Sinhala', 'Tamil', 'Telugu', 'Thaana', 'Thai', 'Tibetan'],
];

/** One script, or those that one language writes together: "highly restrictive" of Unicode TR39, section 5.2. */
const ONE_SCRIPT = [
  ...SCRIPTS.map((script) => [script]),
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
].map((scripts) => {
  const letters = [...scripts, 'Common', 'Inherited'].map((script) => `\\p{scx=${script}}`);
  return new RegExp(`^[${letters.join('')}]*$`, 'u');
});

/** Control, format, unassigned and private characters, and others of no width. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const IDS = [
  // A UUID, of letters of any script.
  /^[\p{L}\p{N}]{8}(?:\p{Pd}[\p{L}\p{N}]{4}){3}\p{Pd}[\p{L}\p{N}]{12}$/u,
  /^0x[0-9a-f]+$/i,
  // A part of a UUID or of a hash.
  /^(?=.*\d)[0-9a-f-]{8,}$/i,
  /^(?:svck|svcs|svct|whsec)_/i,
  /^(?:operator|wallet|oidc|eip155):/i,
];

const WORDS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...['prototype', 'null', 'undefined', 'NaN'],
]);

const FAULTS: readonly (readonly [isWrong: (name: string) => boolean, fault: string])[] = [
  [
    (name) => name === '' || name.length > LONGEST_NAME,
    `must be 1 to ${LONGEST_NAME} characters long`,
  ],
  [
    (name) => name.search(INVISIBLE) >= 0,
    'must have no invisible characters, and none that change the direction of the text',
  ],
  [
    (name) => name.normalize('NFKC') !== name,
    'must have no compatibility characters, such as fullwidth letters or ligatures',
  ],
  [
    (name) => /[^\S ]| {2}/u.test(name),
    'must have no two spaces in a row, and no other kind of space',
  ],
  [(name) => /^[\p{Pd}\u2212]/u.test(name), 'must not begin with a dash'],
  [
    (name) => /^\p{M}|\p{M}{5}/u.test(name),
    'must not begin with a combining mark, and must not have five in a row',
  ],
  [(name) => !/\p{L}/u.test(name), 'must have at least one letter'],
  [
    (name) => !ONE_SCRIPT.some((script) => script.test(name)),
    'must be of one script, such as Latin, Greek or Cyrillic; Japanese, Chinese and Korean may be mixed with Latin',
  ],
  [(name) => IDS.some((id) => id.test(name)), 'must not look like an id, an address or a key'],
  [(name) => WORDS.has(name), 'must not be a word of JavaScript'],
];

/** @returns the name as it is stored: without blanks around it, in Unicode's normal form NFC */
export function parseName(text: string): ParsedName {
  const name = text.trim().normalize('NFC');
  const fault = FAULTS.find(([isWrong]) => isWrong(name))?.[1];
  return fault === undefined ? { name } : { fault };
}

/** The text without characters that hide something or turn what stands beside it. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, '');
}
