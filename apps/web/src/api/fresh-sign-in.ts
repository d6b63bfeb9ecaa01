/** Requests that wait until the person has signed in again. */

type Waiting = (isSignedIn: boolean) => void;

const watchers = new Set<() => void>();
let waiting: readonly Waiting[] = [];

function wait(next: readonly Waiting[]): void {
  waiting = next;
  for (const watcher of watchers) watcher();
}

export const freshSignIn = {
  /** Whether a request waits. */
  isAsked: (): boolean => waiting.length > 0,
  subscribe: (watcher: () => void): (() => void) => {
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  },
  /** False where the person does not sign in. */
  ask(): Promise<boolean> {
    // Without the dialog of an area no one could answer.
    if (watchers.size === 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      wait([...waiting, resolve]);
    });
  },
  end(isSignedIn: boolean): void {
    const ended = waiting;
    wait([]);
    for (const resolve of ended) resolve(isSignedIn);
  },
};
