import { type Deadline, deadlineIn } from '#libs/platform';

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
