/** Requests that wait until the person has signed in again. */
import { Listeners } from './listeners';

type Waiting = (isSignedIn: boolean) => void;

const listeners = new Listeners();
let waiting: readonly Waiting[] = [];
/** Code of the refusal of the first waiting request. */
let asked = '';

function wait(next: readonly Waiting[]): void {
  waiting = next;
  listeners.tell();
}

export const freshSignIn = {
  isAsked: (): boolean => waiting.length > 0,
  subscribe: listeners.subscribe,
  /** Code of the refusal that a sign-in resolves. */
  reason: (): string => asked,
  /** @param code of the refusal @returns false where the person does not sign in */
  ask(code: string): Promise<boolean> {
    // Without an area's dialog the person could not sign in.
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
