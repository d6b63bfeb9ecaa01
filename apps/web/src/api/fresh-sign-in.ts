/** Requests that wait until the person has signed in again. */
import { Listeners } from './listeners';

type Waiting = (isSignedIn: boolean) => void;

const listeners = new Listeners();
let waiting: readonly Waiting[] = [];
/** Why the first one waits: the code of the refusal. */
let asked = '';

function wait(next: readonly Waiting[]): void {
  waiting = next;
  listeners.tell();
}

export const freshSignIn = {
  /** Whether a request waits. */
  isAsked: (): boolean => waiting.length > 0,
  subscribe: listeners.subscribe,
  /** The code of the refusal that is mended by signing in. */
  reason: (): string => asked,
  /** @param code of the refusal @returns false where the person does not sign in */
  ask(code: string): Promise<boolean> {
    // Without the dialog of an area no one could answer.
    if (listeners.isEmpty) return Promise.resolve(false);
    if (waiting.length === 0) asked = code;
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
