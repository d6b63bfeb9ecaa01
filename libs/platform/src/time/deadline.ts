export interface DeadlineOptions {
  /** The signal's reason when the time is up. */
  readonly late: () => Error;
  /** Ends the signal too. */
  readonly parent?: AbortSignal | undefined;
  /** The signal's reason when the parent ends, made of the parent's; default: the parent's own. */
  readonly ended?: (reason: unknown) => unknown;
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** Ends the signal before its time. */
  abort(): void;
  /** To be called when what it bounds has ended, however that came about. */
  end(): void;
}

/** A signal that ends when the time is up, or when its parent does. */
export function deadlineIn(ms: number, options: DeadlineOptions): Deadline {
  const { late, parent, ended = (reason) => reason } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(late());
  }, ms);
  const onParent = (): void => {
    controller.abort(ended(parent?.reason));
  };
  if (parent?.aborted === true) onParent();
  parent?.addEventListener('abort', onParent);
  const end = (): void => {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onParent);
  };
  return {
    signal: controller.signal,
    abort: () => {
      end();
      controller.abort();
    },
    end,
  };
}
