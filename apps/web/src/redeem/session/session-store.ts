import { useSyncExternalStore } from 'react';
import { Listeners } from '../../api/listeners';
import { csrfToken } from '../../api/csrf';

/** The signed-in player. The session's token is in a cookie that scripts cannot read. */
export interface Session {
  readonly wallet: string;
  readonly expiresAt: string;
  /** Sent with every change, so that a change is refused where another tab has signed in with another wallet. */
  readonly csrf: string;
}

const KEPT_AS = 'lowmark-player-session';

/** Why the last session of this tab ended. */
export type SessionEnd = 'expired' | 'signed-out';

class SessionStore {
  #text = localStorage.getItem(KEPT_AS);
  #session = sessionOf(this.#text);
  #end: SessionEnd | undefined;
  readonly #listeners = new Listeners();

  constructor() {
    // Another tab has signed in or out.
    addEventListener('storage', ({ key, newValue }) => {
      if (key === KEPT_AS || key === null) this.#become(newValue, 'signed-out');
    });
  }

  readonly subscribe = this.#listeners.subscribe;
  readonly get = (): Session | undefined => this.#session;
  readonly lastEnd = (): SessionEnd | undefined => this.#end;

  begin(signedIn: Omit<Session, 'csrf'>): void {
    const text = JSON.stringify({ ...signedIn, csrf: csrfToken('player') });
    localStorage.setItem(KEPT_AS, text);
    this.#become(text, undefined);
  }

  end(why: SessionEnd): void {
    if (this.#session === undefined) return;
    localStorage.removeItem(KEPT_AS);
    this.#become(null, why);
  }

  #become(text: string | null, end: SessionEnd | undefined): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#session = sessionOf(text);
    this.#end = this.#session === undefined ? end : undefined;
    this.#listeners.tell();
  }
}

function sessionOf(text: string | null): Session | undefined {
  try {
    const { wallet, expiresAt, csrf } = JSON.parse(text ?? '{}') as Partial<Session>;
    if (typeof wallet !== 'string' || typeof expiresAt !== 'string') return undefined;
    if (typeof csrf !== 'string') return undefined;
    return /^0x[0-9a-f]{40}$/.test(wallet) ? { wallet, expiresAt, csrf } : undefined;
  } catch {
    return undefined;
  }
}

export const sessionStore = new SessionStore();

export function useSession(): Session | undefined {
  return useSyncExternalStore(sessionStore.subscribe, sessionStore.get);
}

export function useSessionEnd(): SessionEnd | undefined {
  return useSyncExternalStore(sessionStore.subscribe, sessionStore.lastEnd);
}
