/**
 * Signs answers by HTTP Message Signatures (RFC 9421), for callers who ask for it with `Accept-Signature` (its section
 * 5). A signature binds the answer to its request: method, path and query of the request, status and body of the
 * answer, the time, the key, and the caller's nonce. See `docs/wire/message-signatures.md`.
 */
import { createHash, createHmac } from 'node:crypto';
import {
  type Dictionary,
  isInnerList,
  type Item,
  type Parameters,
  parseDictionary,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
} from 'structured-headers';
import { type AnswerKeys } from './answer-keys.js';
import { pathOf } from './hmac.js';

export type MessageAlgorithm = 'ed25519' | 'hmac-sha256';

/** A signature that a caller asks for. */
export interface WantedSignature {
  /** The caller's name for the signature. */
  readonly label: string;
  readonly algorithm: MessageAlgorithm;
  readonly nonce?: string;
  readonly tag?: string;
}

/** The bytes of an answer (empty for HEAD), or the header that is signed in place of a list of a sealed day. */
export type SignedBody = { readonly body: string | Uint8Array } | { readonly sealedDay: string };

/** An answer and its request, as far as they are signed. */
export type SignableAnswer = SignedBody & {
  readonly status: number;
  /** As on the request line. */
  readonly method: string;
  /** The request target as sent, one character for each byte; without a fragment, which clients do not send. */
  readonly target: string;
};

export interface SigningContext {
  readonly nowMs: number;
  readonly answerKeys: AnswerKeys;
  /** The caller's credential; absent where the caller has none. */
  readonly credential?: { readonly keyId: string; readonly sharedSecret: string };
}

export interface MessageSignatureHeaders {
  /** Absent for an answer with a list of a sealed day. */
  readonly 'content-digest'?: string | undefined;
  readonly 'signature-input': string;
  readonly signature: string;
}

/** `Accept-Signature` asks for something that is not supported; the message says what is supported. */
export class AcceptSignatureError extends Error {}

const REQUEST = new Map([['req', true]]);
const NONE: Parameters = new Map();
const OF_REQUEST: readonly Item[] = [
  ['@status', NONE],
  ['@method', REQUEST],
  ['@path', REQUEST],
  ['@query', REQUEST],
];
const SEALED_DAY: Item = ['x-sealed-day', NONE];
const COMPONENTS: readonly Item[] = [...OF_REQUEST, ['content-digest', NONE]];
/** A list is sent while it is read, so there is no digest of its body to sign. */
const COMPONENTS_OF_LIST: readonly Item[] = [...OF_REQUEST, SEALED_DAY];
const COVERED = [...COMPONENTS, SEALED_DAY].map(serializeItem);
const ALGORITHMS: readonly string[] = ['ed25519', 'hmac-sha256'] satisfies MessageAlgorithm[];
const MAX_SIGNATURES = 2;
const MAX_PARAMETER = 200;
const HOW = `Send for example: Accept-Signature: sig=();alg="ed25519";nonce="a text of yours"`;

/**
 * @param header the values of the field, joined by commas
 * @throws AcceptSignatureError
 */
export function parseAcceptSignature(header: string): WantedSignature[] {
  const members = [...dictionaryOf(header)];
  if (members.length === 0 || members.length > MAX_SIGNATURES) {
    throw new AcceptSignatureError(`Accept-Signature names one or two signatures. ${HOW}`);
  }
  return members.map(([label, member]) => {
    if (!isInnerList(member)) {
      throw new AcceptSignatureError(
        `Accept-Signature: ${label} has no list of components. ${HOW}`,
      );
    }
    const [components, parameters] = member;
    requireCovered(components);
    const algorithm = textOf(parameters, 'alg') ?? 'ed25519';
    if (!ALGORITHMS.includes(algorithm)) {
      throw new AcceptSignatureError(
        `Accept-Signature: answers are signed by ${ALGORITHMS.join(' or ')}, not by the algorithm asked for.`,
      );
    }
    const nonce = textOf(parameters, 'nonce');
    const tag = textOf(parameters, 'tag');
    return {
      label,
      algorithm: algorithm as MessageAlgorithm,
      ...(nonce !== undefined && { nonce }),
      ...(tag !== undefined && { tag }),
    };
  });
}

/** @throws AcceptSignatureError where the caller asks for an HMAC and has no credential */
export function signAnswer(
  answer: SignableAnswer,
  wanted: readonly WantedSignature[],
  moment: SigningContext,
): MessageSignatureHeaders {
  const [components, content] =
    'body' in answer ? [COMPONENTS, digestOf(answer.body)] : [COMPONENTS_OF_LIST, answer.sealedDay];
  const covered = coveredLines(answer, components, content);
  const inputs = new Map<string, [Item[], Parameters]>();
  const signatures = new Map<string, Item>();
  for (const one of wanted) {
    const { keyId, sign } = signerOf(one.algorithm, moment);
    const input: [Item[], Parameters] = [[...components], parametersOf(one, keyId, moment.nowMs)];
    const base = `${covered}\n"@signature-params": ${serializeInnerList(input)}`;
    inputs.set(one.label, input);
    signatures.set(one.label, [sign(Buffer.from(base, 'latin1')), NONE]);
  }
  return {
    ...('body' in answer && { 'content-digest': content }),
    'signature-input': serializeDictionary(inputs),
    signature: serializeDictionary(signatures),
  };
}

/** The lines of the signature base except the last one, `@signature-params` (RFC 9421, section 2.5). */
function coveredLines(
  { status, method, target }: SignableAnswer,
  components: readonly Item[],
  content: string,
): string {
  const { path, query } = partsOf(target);
  const values = [String(status), method, path, query, content];
  return components
    .map((component, place) => `${serializeItem(component)}: ${values[place] ?? ''}`)
    .join('\n');
}

function digestOf(body: string | Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

/** Path and query as sent; the query is `?` where there is none (RFC 9421, section 2.2.7). */
function partsOf(target: string): { path: string; query: string } {
  const place = target.indexOf('?');
  return { path: pathOf(target), query: place === -1 ? '?' : target.slice(place) };
}

function parametersOf(
  { algorithm, nonce, tag }: WantedSignature,
  keyId: string,
  nowMs: number,
): Parameters {
  const parameters: Parameters = new Map();
  parameters.set('created', Math.floor(nowMs / 1000));
  parameters.set('keyid', keyId);
  parameters.set('alg', algorithm);
  if (nonce !== undefined) parameters.set('nonce', nonce);
  if (tag !== undefined) parameters.set('tag', tag);
  return parameters;
}

interface Signer {
  readonly keyId: string;
  readonly sign: (base: Buffer) => Buffer;
}

function signerOf(algorithm: MessageAlgorithm, { answerKeys, credential }: SigningContext): Signer {
  if (algorithm === 'ed25519') {
    return { keyId: answerKeys.keyId, sign: (base) => answerKeys.sign(base) };
  }
  if (credential === undefined) {
    throw new AcceptSignatureError(
      'hmac-sha256 takes a valid API key: its secret signs the answer.',
    );
  }
  const { keyId, sharedSecret } = credential;
  return { keyId, sign: (base) => createHmac('sha256', sharedSecret).update(base).digest() };
}

function dictionaryOf(header: string): Dictionary {
  try {
    return parseDictionary(header);
  } catch {
    throw new AcceptSignatureError(
      `Accept-Signature is not a dictionary of structured fields (RFC 8941). ${HOW}`,
    );
  }
}

/**
 * A caller may only ask for components of `COVERED`. A signature always covers all components of its answer, whatever
 * was asked for. Which is the last one depends on the answer: the error to a request for a list has a digest.
 */
function requireCovered(components: readonly Item[]): void {
  const foreign = components.map(serializeItem).find((component) => !COVERED.includes(component));
  if (foreign === undefined) return;
  throw new AcceptSignatureError(
    `Accept-Signature asks for a component that is not covered. It may ask for ${COVERED.join(' ')}.`,
  );
}

function textOf(parameters: Parameters, name: string): string | undefined {
  const value: unknown = parameters.get(name);
  if (value === undefined) return undefined;
  if (typeof value === 'string' && value.length > 0 && value.length <= MAX_PARAMETER) return value;
  throw new AcceptSignatureError(
    `Accept-Signature: ${name} is a quoted text of 1 to ${MAX_PARAMETER} characters.`,
  );
}
