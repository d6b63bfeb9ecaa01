import { AREA_OF } from '../session/areas';
import { type Kind } from '../session/use-session';

/** By which a window in which someone has signed in tells the page that opened it. */
export const SIGNED_IN_CHANNEL = 'lowmark-signed-in';

/** Where such a window ends. @param name of the page that waits for it */
export function signedInPlace(kind: Kind, name: string): string {
  return `${AREA_OF[kind]}/signed-in#${name}`;
}

export class WindowBlockedError extends Error {
  override readonly name = 'WindowBlockedError';
}
