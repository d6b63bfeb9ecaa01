import { randomUUID } from 'node:crypto';
import { verifyMessage } from '../signing/message-signature.js';
import { parseStrictJson, verify } from '../signing/signing.js';
import { SignatureError, UnexpectedAnswerError } from './errors.js';
import { exchange, type ExchangeOptions, type RawAnswer, type StakingRequest } from './exchange.js';

export interface SignedRequestsOptions extends ExchangeOptions {
  readonly sharedSecret: string;
  /** Whether each answer has to bear a signature over its whole request, with a nonce of its own. */
  readonly bindsAnswers: boolean;
}

export interface VerifiedAnswer {
  readonly answer: RawAnswer;
  /** What the verified body says. */
  readonly body: unknown;
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
    const { sharedSecret, bindsAnswers, ...options } = this.#options;
    const nonce = bindsAnswers ? randomUUID() : undefined;
    const headers = {
      ...options.headers,
      ...(nonce && { 'accept-signature': `sig=();alg="hmac-sha256";nonce="${nonce}"` }),
    };
    const answer = await exchange(request, { ...options, headers });
    const { status, headers: came, body } = answer;
    const signature = came.get('x-api-signature');
    const { url } = request;
    const method = request.body === undefined ? 'GET' : 'POST';
    if (!verify(sharedSecret, { method, url, body }, signature)) {
      throw new SignatureError(status, signature !== null);
    }
    const received = { method, url, status, headers: came, body };
    if (nonce !== undefined && !verifyMessage(received, { sharedSecret }, { nonce })) {
      throw new SignatureError(status, true, false);
    }
    try {
      return { answer, body: parseStrictJson(body) };
    } catch {
      throw new UnexpectedAnswerError(`the body of status ${status} is not JSON`);
    }
  }
}
