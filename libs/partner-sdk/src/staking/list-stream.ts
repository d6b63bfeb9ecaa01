/** Reads the bytes of a list and resumes after broken connections. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, TimeoutError, UnexpectedAnswerError } from './errors.js';
import { type ExchangeOptions, PASSING, type RawAnswer, readBody, waitAfter } from './exchange.js';

/** The start of a list, or the answer that refuses it. */
type Opened =
  | {
      readonly headers: Headers;
      readonly body: ReadableStreamDefaultReader<Uint8Array> | undefined;
    }
  | { readonly refused: RawAnswer };

const MAX_REFUSAL_BYTES = 64 * 1024;

/** The position at which reading resumes: after `bytes` bytes of the list with this ETag. */
interface Rest {
  readonly bytes: number;
  readonly etag: string;
}

/**
 * Reads a list, and after a broken connection the rest of it by `Range`. Each request and each part may take
 * `timeoutMs`. Gives up after more than `retries` failures in a row without a byte between them.
 */
export class ListStream {
  #received = 0;
  #etag = '';
  #failures = 0;
  #abort = new AbortController();
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(
    private readonly url: string,
    private readonly options: ExchangeOptions,
  ) {}

  /** The headers of the list, or the refusal. @throws ConnectionError, TimeoutError */
  async open(): Promise<{ readonly headers: Headers } | { readonly refused: RawAnswer }> {
    const opened = await this.#request();
    if ('refused' in opened) return opened;
    this.#etag = opened.headers.get('etag') ?? '';
    this.#body = opened.body;
    return { headers: opened.headers };
  }

  /** @throws ConnectionError, TimeoutError; UnexpectedAnswerError where the service has another list by now */
  async *parts(): AsyncGenerator<Uint8Array> {
    try {
      while (this.#body !== undefined) {
        const { part, failure } = await this.#next(this.#body);
        if (failure) {
          await this.#resume(failure);
        } else {
          if (part === undefined) return;
          this.#received += part.length;
          this.#failures = 0;
          yield part;
        }
      }
    } finally {
      this.#abort.abort();
    }
  }

  async #next(
    body: ReadableStreamDefaultReader<Uint8Array>,
  ): Promise<{ readonly part?: Uint8Array | undefined; readonly failure?: Error }> {
    try {
      const { value } = await this.#within(() => body.read());
      return { part: value };
    } catch (error) {
      return { failure: error as Error };
    }
  }

  async #resume(cause: Error): Promise<void> {
    await this.#noteFailure(cause);
    const opened = await this.#request({ bytes: this.#received, etag: this.#etag });
    if ('refused' in opened) {
      throw new UnexpectedAnswerError(
        `the list was refused after ${this.#received} bytes with status ${opened.refused.status}`,
      );
    }
    this.#body = opened.body;
  }

  async #request(rest?: Rest): Promise<Opened> {
    for (;;) {
      let outcome: RawAnswer | Error;
      try {
        const opened = await this.#requestOnce(rest);
        if (!('refused' in opened) || !PASSING.includes(opened.refused.status)) return opened;
        outcome = opened.refused;
        if (this.#failures >= this.options.retries) return opened;
      } catch (error) {
        if (error instanceof UnexpectedAnswerError) throw error;
        outcome = error as Error;
      }
      await this.#noteFailure(outcome);
    }
  }

  async #requestOnce(rest: Rest | undefined): Promise<Opened> {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const range = rest && { range: `bytes=${rest.bytes}-`, 'if-range': rest.etag };
    const headers = { ...this.options.headers, ...range };
    const response = await this.#within(() =>
      this.options.fetch(this.url, { headers, signal, redirect: 'manual' }),
    );
    const { status } = response;
    if (status !== 200 && status !== 206) {
      const body = await this.#within(() => readBody(response, MAX_REFUSAL_BYTES));
      return { refused: { status, headers: response.headers, body } };
    }
    const from = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
    if (status === 206 ? Number(from) !== rest?.bytes : rest !== undefined) {
      throw new UnexpectedAnswerError(
        'the list is another one than at the beginning: read it again',
      );
    }
    return { headers: response.headers, body: response.body?.getReader() };
  }

  /** Waits before the next attempt. @throws ConnectionError, TimeoutError where no attempt is left */
  async #noteFailure(outcome: RawAnswer | Error): Promise<void> {
    if (!('status' in outcome) && this.#failures >= this.options.retries) {
      if (outcome instanceof TimeoutError) throw outcome;
      throw new ConnectionError({ cause: outcome });
    }
    await sleep(waitAfter(outcome, this.#failures));
    this.#failures += 1;
  }

  /** Applies the timeout only while waiting for the service: the caller's own time between two parts does not count. */
  async #within<T>(work: () => Promise<T>): Promise<T> {
    const { timeoutMs } = this.options;
    const abort = this.#abort;
    const timer = setTimeout(() => {
      abort.abort(new TimeoutError(timeoutMs));
    }, timeoutMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }
}
