import { type NoAnswerCode, type NotSentCode } from '#libs/partner-sdk/answers';
import { type Deadline, deadlineIn } from '#libs/platform';
import { type PhaseBeforeSending } from '../call-result.js';

/** There is no connection to send on. Thrown only inside this library, whose callers get results. */
export class DialFault extends Error {
  constructor(
    readonly failure: NotSentCode,
    readonly phase: PhaseBeforeSending,
    message: string,
  ) {
    super(message);
  }
}

/** No whole answer came on a connection that the request was given to. */
export class ExchangeFault extends Error {
  constructor(
    readonly failure: NoAnswerCode,
    message: string,
  ) {
    super(message);
  }
}

/** Code and text of an error from the system or a library. The text includes the code. */
export function describeError(error: unknown): { readonly code: string; readonly text: string } {
  if (!isErrorLike(error)) return { code: '', text: 'unknown error' };
  const { message, errors } = error;
  // Several addresses failed, each with its own error. The first one stands for all of them: the order is the
  // resolver's.
  if (message === '' && Array.isArray(errors) && errors.length > 0) return describeError(errors[0]);
  const code = typeof error.code === 'string' ? error.code : '';
  return { code, text: message.includes(code) ? message : `${code}: ${message}` };
}

interface ErrorLike {
  readonly message: string;
  readonly code?: unknown;
  readonly errors?: unknown;
}

function isErrorLike(error: unknown): error is ErrorLike {
  return (
    typeof error === 'object' &&
    error !== null &&
    'message' in error &&
    typeof error.message === 'string'
  );
}

/** Our side ended a call: the reason of every AbortSignal inside the call. */
export class CallStopped extends Error {
  constructor(readonly why: 'deadline' | 'aborted') {
    super(why === 'deadline' ? 'the deadline passed' : 'the caller ended the call');
  }
}

/** A deadline whose signal always aborts with a CallStopped. */
export function callDeadline(ms: number, parent?: AbortSignal): Deadline {
  return deadlineIn(ms, {
    parent,
    late: () => new CallStopped('deadline'),
    ended: (reason) => (reason instanceof CallStopped ? reason : new CallStopped('aborted')),
  });
}
