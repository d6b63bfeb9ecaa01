import { ApiProblem } from './api-problem';

/** Codes that leave open whether the request took effect, so that it is sent again. */
const UNKNOWN = new Set([
  'IDEMPOTENCY_IN_PROGRESS',
  'INTERNAL_SERVER_ERROR',
  'NO_CONNECTION',
  'SERVICE_UNAVAILABLE',
  'ANSWER_TOO_LARGE',
  'UNEXPECTED_ANSWER',
]);
const AGAIN_MS = 1_500;

interface UntilAnsweredOptions {
  /** Stops before the next attempt. */
  readonly signal: AbortSignal;
  /** Called when there was no answer and the request will be sent again. */
  readonly onWaiting: () => void;
}

/**
 * Sends an idempotent request until there is an answer.
 * @throws ApiProblem for a refusal; the last problem where the signal was aborted
 */
export async function untilAnswered<T>(
  send: () => Promise<T>,
  { signal, onWaiting }: UntilAnsweredOptions,
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      const problem =
        error instanceof ApiProblem ? error : new ApiProblem(0, 'NO_CONNECTION', '', undefined);
      if (!UNKNOWN.has(problem.code)) throw problem;
      onWaiting();
      const isOver = await pause((problem.retryAfterSeconds ?? 0) * 1000 || AGAIN_MS, signal);
      if (isOver) throw problem;
    }
  }
}

/** @returns whether the signal was aborted */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((wake) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      wake(signal.aborted);
    };
    const timer = setTimeout(over, ms);
    if (signal.aborted) over();
    else signal.addEventListener('abort', over);
  });
}
