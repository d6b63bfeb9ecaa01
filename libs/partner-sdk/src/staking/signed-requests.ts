import { randomUUID } from 'node:crypto';
import { type MessageKeys, verifyMessage } from '../signing/message-signature.js';
import { parseStrictJson, verify } from '../signing/signing.js';
import { SignatureError, UnexpectedAnswerError } from './errors.js';
import {
  exchange,
  type ExchangeOptions,
  type RawAnswer,
  refusalOf,
  type StakingRequest,
} from './exchange.js';
import { ListStream } from './list-stream.js';

export interface SignedRequestsOptions extends ExchangeOptions {
  /** Without the shared secret, an answer is taken by its message signature alone. */
  readonly keys: MessageKeys;
  /** Whether each answer has to bear a signature over its whole request, with a nonce of its own. */
  readonly bindsAnswers: boolean;
}

export interface VerifiedAnswer {
  readonly answer: RawAnswer;
  /** What the verified body says. */
  readonly body: unknown;
}

export interface OpenedList {
  /** What the verified header says. */
  readonly about: unknown;
  /** Its bytes, as they come. */
  readonly parts: () => AsyncIterable<Uint8Array>;
}

/** Requests to the staking API whose answers are verified over the bytes that came. */
export class SignedRequests {
  // Truly private, so that a client that is logged shows no secret.
  readonly #options: SignedRequestsOptions;

  constructor(options: SignedRequestsOptions) {
    this.#options = options;
  }

  /** @throws SignatureError, UnexpectedAnswerError, TimeoutError, ConnectionError */
  async ask(request: StakingRequest): Promise<VerifiedAnswer> {
    const { keys, bindsAnswers, ...options } = this.#options;
    const { sharedSecret } = keys;
    const nonce = bindsAnswers || sharedSecret === undefined ? randomUUID() : undefined;
    const algorithm = sharedSecret === undefined ? 'ed25519' : 'hmac-sha256';
    const headers = {
      ...options.headers,
      ...(nonce && { 'accept-signature': `sig=();alg="${algorithm}";nonce="${nonce}"` }),
    };
    const answer = await exchange(request, { ...options, headers });
    const { status, headers: came, body } = answer;
    const signature = came.get('x-api-signature');
    const { url } = request;
    const method = request.body === undefined ? 'GET' : 'POST';
    if (sharedSecret !== undefined && !verify(sharedSecret, { method, url, body }, signature)) {
      throw new SignatureError(status, signature !== null);
    }
    const received = { method, url, status, headers: came, body };
    if (nonce !== undefined && !verifyMessage(received, keys, { nonce })) {
      throw new SignatureError(status, true, false);
    }
    return { answer, body: parsed(body, status) };
  }

  /**
   * A list of any length. Its signature is over what it is about (`X-Sealed-Day`), to which the caller holds what comes; it is not bound
   * to the request by a nonce, so that the caller compares that with what was asked, too.
   * @throws as `ask`; LowmarkApiError where it is refused; TypeError without the shared secret, which alone signs lists
   */
  async openList(url: string): Promise<OpenedList> {
    const { keys, ...options } = this.#options;
    const { sharedSecret } = keys;
    if (sharedSecret === undefined) {
      throw new TypeError('Lists are signed with the shared secret only: sharedSecret is missing.');
    }
    const stream = new ListStream(url, options);
    const opened = await stream.open();
    const { status, headers, body } =
      'refused' in opened
        ? opened.refused
        : {
            status: 200,
            headers: opened.headers,
            body: Buffer.from(opened.headers.get('x-sealed-day') ?? ''),
          };
    const signature = headers.get('x-api-signature');
    if (!verify(sharedSecret, { method: 'GET', url, body }, signature)) {
      throw new SignatureError(status, signature !== null);
    }
    const about = parsed(body, status);
    if ('refused' in opened) throw refusalOf(opened.refused, about);
    return { about, parts: () => stream.parts() };
  }
}

function parsed(body: Uint8Array, status: number): unknown {
  try {
    return parseStrictJson(body);
  } catch {
    throw new UnexpectedAnswerError(`what was signed with status ${status} is not JSON`);
  }
}
