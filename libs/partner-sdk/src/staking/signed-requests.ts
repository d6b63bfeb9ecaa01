import { randomUUID } from 'node:crypto';
import { type Clock } from '../clock.js';
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
import { type RequestTime, requireTimely } from './requested-at.js';

export interface SignedRequestsOptions extends ExchangeOptions {
  /** Without the shared secret, the message signature alone verifies an answer. */
  readonly keys: MessageKeys;
  /** Whether each answer needs a message signature over its whole request, with a nonce of its own. */
  readonly bindsAnswers: boolean;
  /** For answers that no nonce binds. */
  readonly clock: Clock;
  /** See `RequestTime`. */
  readonly freshSeconds: number;
}

export interface VerifiedAnswer {
  readonly answer: RawAnswer;
  /** The parsed body, once verified. */
  readonly body: unknown;
  /** For a refusal that decides something; undefined where a nonce binds the answer to its request. */
  readonly time: RequestTime | undefined;
}

export interface OpenedList {
  /** The parsed header `X-Sealed-Day`, once verified. */
  readonly about: unknown;
  /** The bytes of the list, as they arrive. */
  readonly parts: () => AsyncIterable<Uint8Array>;
}

/** Sends requests to the staking API and verifies their answers over the bytes as received. */
export class SignedRequests {
  // Private at runtime as well, so that a log of a client shows no secret.
  readonly #options: SignedRequestsOptions;

  constructor(options: SignedRequestsOptions) {
    this.#options = options;
  }

  /**
   * An answer with status 200 is one to a request of this time. A refusal may be an earlier one, unless a nonce binds it.
   * @throws SignatureError, UnexpectedAnswerError, TimeoutError, ConnectionError
   */
  async ask(request: StakingRequest): Promise<VerifiedAnswer> {
    const { keys, bindsAnswers, clock, ...options } = this.#options;
    const { sharedSecret } = keys;
    const nonce = bindsAnswers || sharedSecret === undefined ? randomUUID() : undefined;
    const algorithm = sharedSecret === undefined ? 'ed25519' : 'hmac-sha256';
    const headers = {
      ...options.headers,
      ...(nonce && { 'accept-signature': `sig=();alg="${algorithm}";nonce="${nonce}"` }),
    };
    const sentMs = clock.nowMs();
    const answer = await exchange(request, { ...options, headers });
    const receivedMs = clock.nowMs();
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
    const { freshSeconds } = options;
    const time = nonce === undefined ? { sentMs, receivedMs, freshSeconds } : undefined;
    const content = parsed(body, status);
    if (status === 200) requireTimely(content, time);
    return { answer, body: content, time };
  }

  /**
   * Opens a list of any length. The signature covers the header `X-Sealed-Day`, and the caller compares the list with
   * that header. No nonce binds the signature to the request, so the caller also compares the header with the request.
   * @throws as `ask`; LowmarkApiError where the service refuses; TypeError without the secret, which alone signs lists
   */
  async openList(url: string): Promise<OpenedList> {
    const { keys, clock, freshSeconds, ...options } = this.#options;
    const { sharedSecret } = keys;
    if (sharedSecret === undefined) {
      throw new TypeError('Lists are signed with the shared secret only: sharedSecret is missing.');
    }
    const stream = new ListStream(url, options);
    const sentMs = clock.nowMs();
    const opened = await stream.open();
    const receivedMs = clock.nowMs();
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
    requireTimely(about, { sentMs, receivedMs, freshSeconds });
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
