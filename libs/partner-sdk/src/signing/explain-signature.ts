/**
 * Computes the expected signature of a message and finds the mistake that produced a given wrong signature. A mistake
 * is named only where it reproduces the given signature exactly, so an explanation is never a guess.
 */
import { createHash, createHmac } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { HashBudget } from './hash-budget.js';
import { membersOf, ordersOf, tryPrint, reprint, pythonJson, withDecimals } from './other-json.js';
import { canonicalJson, pathOf, sign, verify } from './signing.js';

/** Longest body of a question, in characters: the largest body that a callback may answer. */
export const LONGEST_QUESTION_BODY = 64 * 1024;
/** Longest question as JSON, in bytes. JSON writes line breaks, quotes and some letters with several bytes. */
export const LONGEST_QUESTION_BYTES = 4 * LONGEST_QUESTION_BODY;

export interface SignatureQuestion {
  readonly secret: string;
  readonly method: string;
  /** The path as sent. A whole URL, or a path with a query string, is reduced to the path. */
  readonly path: string;
  /** `X-API-REQUEST`; absent for answers of the staking API. */
  readonly requestId?: string | undefined;
  /** The body as sent, byte for byte. */
  readonly body: string;
  /** The signature that the other side made. */
  readonly given?: string | undefined;
}

export interface SignatureExplanation {
  /** The signed text: `METHOD + PATH + X-API-REQUEST + BODY`. */
  readonly content: string;
  readonly signature: string;
  /** Absent where no signature was given. */
  readonly matches?: boolean;
  /**
   * The mistakes that produce the given signature, most likely first, as sentences; empty where no known mistake does.
   * A single sentence says so where not all mistakes could be tried.
   */
  readonly mistakes: readonly string[];
}

/** The parts of the signed text, in the order in which they are signed. */
type SignedTexts = Readonly<Record<'method' | 'path' | 'requestId' | 'body', string>>;

/** The way in which one signature is made. */
interface Recipe {
  readonly key: string | Buffer;
  readonly parts: SignedTexts;
  readonly separator: string;
  readonly algorithm: 'sha256' | 'sha1' | 'sha512' | 'sha256 of secret and content';
  readonly encoding: 'hex' | 'base64' | 'base64url' | 'HEX';
}

interface Mistake {
  readonly says: string;
  /** Returns undefined where the mistake would change nothing. */
  readonly make: (recipe: Recipe) => Recipe | undefined;
}

const TOO_LONG =
  'The message is too long to try every mistake: ask again about one with a shorter body.';

/** Runs without a pause, for a program that serves no requests meanwhile. */
export function explainSignature(question: SignatureQuestion): SignatureExplanation {
  const steps = explain(question, new HashBudget());
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Pauses in between, so that a server can serve other requests. */
export async function explainSignatureInTurns(
  question: SignatureQuestion,
  budget = new HashBudget(),
): Promise<SignatureExplanation> {
  const steps = explain(question, budget);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

type Steps<T> = Generator<undefined, T>;

function* explain(question: SignatureQuestion, budget: HashBudget): Steps<SignatureExplanation> {
  const { secret, method, requestId = '', body, given } = question;
  const path = pathOf(question.path);
  const content = method + path + requestId + body;
  const message = { method, url: path, requestId, body };
  const signature = sign(secret, message);
  if (given === undefined) return { content, signature, mistakes: [] };
  const matches = verify(secret, message, given);
  const right: Recipe = {
    key: secret,
    parts: { method, path, requestId, body },
    separator: '',
    algorithm: 'sha256',
    encoding: 'hex',
  };
  if (matches) return { content, signature, matches, mistakes: [] };
  const mistakes = yield* find(right, question, { given, budget, bytes: content.length + 100 });
  const isAll = mistakes.length > 0 || !budget.isSpent;
  return { content, signature, matches, mistakes: isAll ? mistakes : [TOO_LONG] };
}

interface Search {
  readonly given: string;
  readonly budget: HashBudget;
  /** Approximate number of bytes that one try hashes. */
  readonly bytes: number;
}

/** Tries each mistake, then each pair of mistakes, then other orders of the body's keys, until the budget is spent. */
function* find(right: Recipe, question: SignatureQuestion, search: Search): Steps<string[]> {
  const mistakes = [...mistakesOf(question)];
  const { given, budget } = search;
  if (given.trim() !== given && signatureOf(right) === given.trim()) {
    return ['There is white space around the signature.'];
  }
  for (const mistake of mistakes) {
    if (yield* isMadeBy(mistake.make(right), search)) return [mistake.says];
    if (budget.isSpent) return [];
  }
  for (const [at, first] of mistakes.entries()) {
    const once = first.make(right);
    if (!once) continue;
    for (const second of mistakes.slice(at + 1)) {
      if (yield* isMadeBy(second.make(once), search)) return [first.says, second.says];
      if (budget.isSpent) return [];
    }
  }
  return (yield* isOtherOrder(right, search))
    ? ['The keys of the body are signed in another order: sign the bytes that are sent.']
    : [];
}

function* isMadeBy(recipe: Recipe | undefined, { given, budget, bytes }: Search): Steps<boolean> {
  // An undefined recipe costs as well: the body was read to find out that the mistake changes nothing.
  budget.spend(bytes);
  if (budget.isPauseDue()) yield;
  return recipe !== undefined && signatureOf(recipe) === given;
}

/** Most keys of a body whose orders are tried: 6 keys have 720 orders, and more would take too long. */
const MOST_KEYS = 6;

function* isOtherOrder(right: Recipe, search: Search): Steps<boolean> {
  const members = membersOf(right.parts.body);
  if (members === undefined || members.length > MOST_KEYS) return false;
  for (const order of ordersOf(members)) {
    const value = Object.fromEntries(order);
    for (const print of [JSON.stringify, pythonJson]) {
      const body = tryPrint(value, print);
      if (body === undefined) return false;
      const recipe: Recipe = { ...right, parts: { ...right.parts, body } };
      if (yield* isMadeBy(recipe, search)) return true;
      if (search.budget.isSpent) return false;
    }
  }
  return false;
}

function signatureOf({ key, parts, separator, algorithm, encoding }: Recipe): string {
  const { method, path, requestId, body } = parts;
  const content = [method, path, requestId, body]
    .filter((part) => separator === '' || part !== '')
    .join(separator);
  const digest =
    algorithm === 'sha256 of secret and content'
      ? createHash('sha256').update(key).update(content).digest()
      : createHmac(algorithm, key).update(content).digest();
  return encoding === 'HEX' ? digest.toString('hex').toUpperCase() : digest.toString(encoding);
}

function* mistakesOf({ secret, path, given }: SignatureQuestion): Generator<Mistake> {
  const encodings: [Recipe['encoding'], string][] = [
    ['HEX', 'It is in upper-case hex; lower case is expected.'],
    ['base64', 'It is in base64; lower-case hex is expected.'],
    ['base64url', 'It is in base64url; lower-case hex is expected.'],
  ];
  for (const [encoding, says] of encodings) yield { says, make: (of) => ({ ...of, encoding }) };
  yield* partMistakes(path);
  yield* keyMistakes(secret);
  for (const separator of ['\n', ' ', '|', '.', ':', '&']) {
    const says = `The parts are joined with ${JSON.stringify(separator)}; there is nothing between them.`;
    yield { says, make: (of) => ({ ...of, separator }) };
  }
  const algorithms: [Recipe['algorithm'], string][] = [
    ['sha1', 'It is made with HMAC-SHA1; HMAC-SHA256 is expected.'],
    ['sha512', 'It is made with HMAC-SHA512; HMAC-SHA256 is expected.'],
    [
      'sha256 of secret and content',
      'It is a plain SHA-256 of secret and content; HMAC-SHA256 is expected.',
    ],
  ];
  for (const [algorithm, says] of algorithms) yield { says, make: (of) => ({ ...of, algorithm }) };
  if (given === '') yield { says: 'The signature is empty.', make: () => undefined };
}

/** Changes one part of the signed text. @returns undefined where the change is not possible */
type Edit = (part: string, sentPath: string) => string | undefined;

const printedWith =
  (indent?: number | string): Edit =>
  (body) =>
    reprint(body, (value) => JSON.stringify(value, undefined, indent));
const OTHER_SPACING = 'The body is printed again with other spacing: sign the bytes that are sent.';

const PART_MISTAKES: readonly (readonly [says: string, part: keyof SignedTexts, edit: Edit])[] = [
  [
    'The body is sent with a line break at its end that is not signed.',
    'body',
    (body) => body.replace(/[\r\n]+$/, ''),
  ],
  [OTHER_SPACING, 'body', printedWith(2)],
  [OTHER_SPACING, 'body', printedWith(4)],
  [OTHER_SPACING, 'body', printedWith('\t')],
  [OTHER_SPACING, 'body', printedWith(1)],
  [
    'The body is printed again without spaces: sign the bytes that are sent.',
    'body',
    printedWith(),
  ],
  [
    'The body is printed again with spaces after colons and commas.',
    'body',
    (body) => reprint(body, pythonJson),
  ],
  [
    'The body is put into canonical form, and other bytes are sent.',
    'body',
    (body) => reprint(body, canonicalJson),
  ],
  ['Whole numbers of the body are signed as 340.0; print the JSON once.', 'body', withDecimals],
  ['The body is signed with a line break at its end.', 'body', (body) => `${body}\n`],
  ['The body is left out.', 'body', () => ''],
  ['An empty body is signed as {}.', 'body', (body) => body || '{}'],
  ['The query string is signed; only the path is.', 'path', (_, sentPath) => withQuery(sentPath)],
  [
    'Scheme and host are signed; only the path is.',
    'path',
    (_, sentPath) => sentPath.replace(/[?#].*$/s, ''),
  ],
  ['The whole URL is signed; only the path is.', 'path', (_, sentPath) => sentPath],
  [
    'The path is signed without its first part, as behind a prefix or a gateway.',
    'path',
    (path) => path.replace(/^\/[^/]+(?=\/)/, ''),
  ],
  ['The path is signed with a slash at its end.', 'path', (path) => `${path}/`],
  [
    'The path is signed without the slash at its beginning.',
    'path',
    (path) => path.replace(/^\//, ''),
  ],
  ['The path is left out.', 'path', () => ''],
  ['X-API-REQUEST is left out.', 'requestId', () => ''],
  ['X-API-REQUEST is signed in upper case.', 'requestId', (id) => id.toUpperCase()],
  ['The method is signed in lower case.', 'method', (method) => method.toLowerCase()],
  ['The method is left out.', 'method', () => ''],
];

function partMistakes(sentPath: string): Mistake[] {
  return PART_MISTAKES.map(([says, part, edit]) => ({
    says,
    make: (recipe) => {
      const { parts } = recipe;
      const edited = edit(parts[part], sentPath);
      if (edited === undefined || edited === parts[part]) return undefined;
      return { ...recipe, parts: { ...parts, [part]: edited } };
    },
  }));
}

function* keyMistakes(secret: string): Generator<Mistake> {
  const keys: [string | Buffer, string][] = [
    ['', 'The secret is empty: it was not read at all.'],
    [`${secret}\n`, 'The secret was read with the line break at its end.'],
    [secret.trim(), 'The secret was trimmed.'],
    [secret.replace(/^svcs_/, ''), 'The secret was cut: svcs_ belongs to it.'],
    [Buffer.from(secret, 'base64'), 'The secret was decoded as base64; it is used as it is.'],
    [Buffer.from(secret, 'hex'), 'The secret was decoded as hex; it is used as it is.'],
    [
      Buffer.from(secret.replace(/^svcs_/, ''), 'base64url'),
      'The secret was cut and decoded as base64; it is used as it is.',
    ],
  ];
  for (const [key, says] of keys) {
    yield { says, make: (recipe) => (key === secret ? undefined : { ...recipe, key }) };
  }
}

function withQuery(sentPath: string): string {
  const query = sentPath.search(/[?#]/);
  return query === -1 ? pathOf(sentPath) : pathOf(sentPath) + sentPath.slice(query);
}
