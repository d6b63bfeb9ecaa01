/** Why a call was ended from our side: the reason of every signal inside it. */
export class CallStopped extends Error {
  constructor(readonly why: 'deadline' | 'aborted') {
    super(why === 'deadline' ? 'the deadline passed' : 'the caller ended the call');
  }
}

export interface Deadline {
  /** Aborted with a CallStopped. */
  readonly signal: AbortSignal;
  /** To be called when what it bounds has ended, however that came about. */
  end(): void;
}

/** A signal that ends when the time is up, or when the parent does. */
export function deadlineIn(milliseconds: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new CallStopped('deadline'));
  }, milliseconds);
  const onParent = (): void => {
    const reason: unknown = parent?.reason;
    controller.abort(reason instanceof CallStopped ? reason : new CallStopped('aborted'));
  };
  if (parent?.aborted === true) onParent();
  parent?.addEventListener('abort', onParent);
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onParent);
    },
  };
}
