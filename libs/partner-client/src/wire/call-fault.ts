import { type Deadline, deadlineIn } from '#libs/platform';
import {
  type NoAnswerCause,
  type NothingSentCause,
  type PhaseBeforeSending,
} from '../call-result.js';

/** No connection to send on. Ends inside the partner client, whose callers get results. */
export class DialFault extends Error {
  constructor(
    readonly failure: NothingSentCause,
    readonly phase: PhaseBeforeSending,
    message: string,
  ) {
    super(message);
  }
}

/** No whole answer on a connection that the request was given to. */
export class ExchangeFault extends Error {
  constructor(
    readonly failure: NoAnswerCause,
    message: string,
  ) {
    super(message);
  }
}

/** The code of a system's or library's error, and what it says, code included. */
export function describeError(error: unknown): { readonly code: string; readonly text: string } {
  if (!isErrorLike(error)) return { code: '', text: 'unknown error' };
  const { message, errors } = error;
  // Several addresses, each with its own error: the first stands for all, as their order is the resolver's.
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

/** Why a call was ended from our side: the reason of every signal inside it. */
export class CallStopped extends Error {
  constructor(readonly why: 'deadline' | 'aborted') {
    super(why === 'deadline' ? 'the deadline passed' : 'the caller ended the call');
  }
}

/** A deadline whose signal ends with a CallStopped, whichever way. */
export function callDeadline(ms: number, parent?: AbortSignal): Deadline {
  return deadlineIn(ms, {
    parent,
    late: () => new CallStopped('deadline'),
    ended: (reason) => (reason instanceof CallStopped ? reason : new CallStopped('aborted')),
  });
}
