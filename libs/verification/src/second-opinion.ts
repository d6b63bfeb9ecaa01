/** A difference that an audit finds is believed only where a second endpoint finds it too, or the only one does twice. */
import { AllEndpointsFailedError, type ChainReader, type FigureOptions } from '#libs/chain';

/** How a question that must be answered is asked. */
export interface Patience {
  readonly reader: ChainReader;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Ends the audit between two questions, with its reason. */
  readonly signal?: AbortSignal;
}

const ATTEMPTS = 5;
const LONGEST_WAIT_MS = 10_000;

/** An endpoint that has had enough for the moment does not end a long audit. @throws AllEndpointsFailedError, or the reason of the signal */
export async function askPatiently<T>(
  { sleep, signal }: Patience,
  ask: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || attempt >= ATTEMPTS) throw error;
      await sleep(Math.min(Math.max(error.retryAfterMs, 250 * attempt), LONGEST_WAIT_MS));
    }
  }
}

/** Of another endpoint than `endpoint`; once more of that one where no other can tell. @throws as `askPatiently` does */
export async function askElsewhere<T>(
  patience: Patience,
  endpoint: string,
  ask: (options: FigureOptions) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (patience.reader.endpoints.some((name) => name !== endpoint)) {
    try {
      const figure = await askPatiently(patience, () => ask({ avoid: [endpoint] }));
      if (figure !== undefined) return figure;
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
    }
  }
  return askPatiently(patience, () => ask({}));
}
