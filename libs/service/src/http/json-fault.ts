/** Where a text stops being JSON (RFC 8259). The engine's own parser tells the place of some faults only, and repeats what was sent. */

type Part = 'value' | 'firstValue' | 'firstName' | 'name' | 'colon' | 'inObject' | 'inList' | 'end';

/** A value is complete: what comes next depends on what it is in. */
const COMPLETE = 'complete';
const VALUE = { '{': 'firstName', '[': 'firstValue', '"': COMPLETE, scalar: COMPLETE } as const;
/** What may come in each part of a text, by the first character of a token, and what part is next. */
const NEXT: Readonly<Record<Part, Readonly<Record<string, Part | typeof COMPLETE>>>> = {
  value: VALUE,
  firstValue: { ...VALUE, ']': COMPLETE },
  firstName: { '"': 'colon', '}': COMPLETE },
  name: { '"': 'colon' },
  colon: { ':': 'value' },
  inObject: { ',': 'name', '}': COMPLETE },
  inList: { ',': 'value', ']': COMPLETE },
  end: {},
};
const INSIDE: Readonly<Record<string, Part>> = { '{': 'inObject', '[': 'inList' };

const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  /[{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** @returns where the first token is that cannot stand there, as `line 2, column 5`; undefined where the text is JSON */
export function jsonFault(text: string): string | undefined {
  const at = faultOffset(text);
  if (at === undefined) return undefined;
  const lines = text.slice(0, at).split(/\r\n|\n|\r/);
  const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  return at === text.length ? `${place}, where it ends` : place;
}

function faultOffset(text: string): number | undefined {
  const around: Part[] = [];
  let part: Part = 'value';
  let at = 0;
  for (;;) {
    at += matchAt(SPACE, text, at).length;
    if (at === text.length) return part === 'end' ? undefined : at;
    const token = matchAt(TOKEN, text, at);
    const [first = ''] = token;
    const next: Part | typeof COMPLETE | undefined =
      NEXT[part][/[{}[\],:"]/.test(first) ? first : 'scalar'];
    if (token === '' || next === undefined) return at;
    const inside = INSIDE[first];
    if (inside !== undefined) around.push(inside);
    if (first === '}' || first === ']') around.pop();
    part = next === COMPLETE ? (around.at(-1) ?? 'end') : next;
    at += token.length;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
