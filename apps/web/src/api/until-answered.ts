import { ApiProblem } from './api-problem';

/** After these it is not known whether something was done: the same is sent again. */
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
  /** Ends it before the next try. */
  readonly signal: AbortSignal;
  /** There was no answer, and it is sent again. */
  readonly onWaiting: () => void;
}

/**
 * Sends what is the same however often it is sent, until there is an answer.
 * @throws ApiProblem the refusal; the last problem where it was ended
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

/** @returns whether it was ended */
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
