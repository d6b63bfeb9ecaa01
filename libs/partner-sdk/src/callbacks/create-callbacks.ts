import { authenticate, credentialOf, type AuthContext, MemoryReplayStore } from './authenticate.js';
import {
  type CallbackAnswer,
  type CallbackCall,
  type FailedCall,
  headerOf,
  Refusal,
} from './call.js';
import { type Endpoint, ENDPOINTS } from './endpoints.js';
import { type CallbackHandlers, type CallbackOptions, requireBasePath } from './handlers.js';
import { systemClock } from '../clock.js';
import { type Credential, requireCredential } from '../credential.js';
import { parseRequestId } from '../request-id.js';
import { canonicalJson, pathOf, sign } from '../signing/signing.js';

/** The four endpoints without any framework: they take bytes and return signed bytes. */
export interface Callbacks {
  /** Largest accepted body in bytes. */
  readonly maxBodyBytes: number;
  /** Whether the path is that of one of the four endpoints, whatever the method. */
  owns(url: string): boolean;
  /** Answers any call and signs the answer; a call to no endpoint gets a 404. Never rejects. */
  handle(call: CallbackCall): Promise<CallbackAnswer>;
  /** The signed answer to a call whose body could not be read: a `Refusal` as such, any other error as ERR-INTERNAL. */
  refuse(call: Omit<CallbackCall, 'body'>, error: unknown): CallbackAnswer;
}

const FRESH_SECONDS = 300;
const MAX_BODY_BYTES = 65_536;
const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;

/**
 * Creates the four endpoints from your handlers.
 * @throws TypeError for unusable options
 */
export function createCallbacks(options: CallbackOptions, handlers: CallbackHandlers): Callbacks {
  return new SignedCallbacks(options, handlers);
}

class SignedCallbacks implements Callbacks {
  readonly maxBodyBytes: number;
  // Private at runtime as well, so that a log of this object shows no secret.
  readonly #credentials: readonly [Credential, ...Credential[]];
  readonly #gate: AuthContext;
  readonly #options: CallbackOptions;

  constructor(
    options: CallbackOptions,
    private readonly handlers: CallbackHandlers,
  ) {
    this.#options = options;
    const { clock = systemClock, freshSeconds = FRESH_SECONDS, alsoAccept = [] } = options;
    const { basePath, maxBodyBytes = MAX_BODY_BYTES, apiKey, sharedSecret } = options;
    this.#credentials = [{ apiKey, sharedSecret }, ...alsoAccept];
    this.#credentials.forEach(requireCredential);
    if (basePath !== undefined) requireBasePath(basePath);
    if (!(freshSeconds > 0)) throw new TypeError('freshSeconds must be more than 0');
    if (!(maxBodyBytes > 0)) throw new TypeError('maxBodyBytes must be more than 0');
    this.maxBodyBytes = maxBodyBytes;
    const { replayStore = new MemoryReplayStore(2 * freshSeconds, clock) } = options;
    this.#gate = { credentials: this.#credentials, replayStore, clock, freshSeconds };
  }

  owns(url: string): boolean {
    return this.endpointOf(url) !== undefined;
  }

  async handle(call: CallbackCall): Promise<CallbackAnswer> {
    const endpoint = ENDPOINTS.get(this.endpointOf(call.url) ?? '');
    if (endpoint === undefined || endpoint.method !== call.method) return this.notAnEndpoint(call);
    try {
      return this.answer(call, await this.bodyOf(endpoint, call));
    } catch (error) {
      return this.refuse(call, error);
    }
  }

  refuse(call: Omit<CallbackCall, 'body'>, error: unknown): CallbackAnswer {
    const whole = { ...call, body: new Uint8Array() };
    const report: FailedCall = {
      endpoint: this.endpointOf(call.url),
      requestId: parseRequestId(headerOf(call, 'x-api-request')),
    };
    if (!Refusal.is(error)) {
      this.reportError(error, report);
      return this.answer(whole, FAILED);
    }
    let answer: CallbackAnswer;
    try {
      answer = this.answer(whole, envelopeOf(error));
    } catch (unsendable) {
      // A field of the refusal has no JSON form.
      this.reportError(unsendable, report);
      return this.answer(whole, FAILED);
    }
    const { errorCode, message: errorMessage } = error;
    this.reporting(() => {
      this.#options.onRefused?.({ ...report, errorCode, errorMessage, refusal: error });
    });
    return answer;
  }

  /** @returns the body of a success */
  private async bodyOf(endpoint: Endpoint, call: CallbackCall): Promise<object> {
    if (call.body.length > this.maxBodyBytes) throw bodyTooLarge();
    const requestId = await authenticate(call, this.#gate);
    const type = headerOf(call, 'content-type') ?? '';
    if (call.body.length > 0 && !JSON_TYPE.test(type)) {
      throw new Refusal('ERR-INTERNAL', 'Content-Type must be application/json.');
    }
    return endpoint.answer(this.handlers, call, { requestId });
  }

  /** The name of the endpoint of this path, whatever the method. The path is not decoded, and its case counts. */
  private endpointOf(url: string): string | undefined {
    const { basePath } = this.#options;
    const path = pathOf(url);
    const end = path.lastIndexOf('/');
    if (end === -1 || (basePath !== undefined && path.slice(0, end) !== basePath)) return undefined;
    const name = path.slice(end + 1);
    if (name === 'confirm-redemption' && this.handlers.confirmRedemption === undefined) {
      return undefined;
    }
    return ENDPOINTS.has(name) ? name : undefined;
  }

  private notAnEndpoint(call: CallbackCall): CallbackAnswer {
    return signedAnswer(call, this.#credentials, { status: 404, body: NOT_AN_ENDPOINT });
  }

  private answer(call: CallbackCall, body: object): CallbackAnswer {
    return signedAnswer(call, this.#credentials, { status: 200, body });
  }

  private reportError(error: unknown, call: FailedCall): void {
    const { onError = logError } = this.#options;
    this.reporting(() => {
      onError(error, call);
    });
  }

  /** Calls `onError` or `onRefused`. The points have changed already, so an error there must not change the answer. */
  private reporting(report: () => void): void {
    try {
      report();
    } catch (error) {
      console.error(error);
    }
  }
}

export function bodyTooLarge(): Refusal {
  return new Refusal('ERR-INTERNAL', 'The body is too large.');
}

function logError(error: unknown): void {
  console.error(error);
}

/**
 * Every answer of the four endpoints has status 200, also for refusals and failures: the envelope holds the outcome.
 * Any other status comes from a system in between, which cannot sign. The interface has no code for a malformed call,
 * so such a call gets ERR-INTERNAL, as any failure that says nothing about points, and the message names the fields.
 */
function envelopeOf({ errorCode, message, extra }: Refusal): object {
  return { ...extra, success: false, errorCode, errorMessage: message };
}

const FAILED = envelope('The call failed here.');
const NOT_AN_ENDPOINT = envelope('There is no such endpoint.');

function envelope(errorMessage: string): object {
  return { success: false, errorCode: 'ERR-INTERNAL', errorMessage };
}

/** Signs with the secret of the caller's key, or with the first secret where the key is unknown. */
function signedAnswer(
  call: CallbackCall,
  credentials: readonly [Credential, ...Credential[]],
  { status, body }: { readonly status: number; readonly body: object },
): CallbackAnswer {
  const text = call.method === 'HEAD' ? '' : canonicalJson(body);
  const { sharedSecret } = credentialOf(call, credentials) ?? credentials[0];
  const { method, url } = call;
  const requestId = headerOf(call, 'x-api-request');
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      // A body that is compressed or minified on the way no longer matches its signature.
      'cache-control': 'no-store, no-transform',
      'x-api-signature': sign(sharedSecret, { method, url, requestId, body: text }),
    },
    body: text,
  };
}
