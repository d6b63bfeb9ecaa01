import { useSyncExternalStore } from 'react';
import { Listeners } from '../../api/listeners';

/**
 * A claim that this browser has sent. It is stored until the redemption has ended, so that it survives closing the
 * page.
 */
export interface SentClaim {
  readonly hash: string;
  readonly sentAtMs: number;
}

type Claims = Readonly<Record<string, SentClaim>>;

const KEPT_AS = 'lowmark-claims';
/** Maximum number of stored claims; the oldest are dropped first. */
const MOST = 50;

class ClaimsStore {
  #claims = read();
  readonly #listeners = new Listeners();

  constructor() {
    addEventListener('storage', ({ key }) => {
      if (key === KEPT_AS || key === null) this.#become(read());
    });
  }

  readonly subscribe = this.#listeners.subscribe;
  readonly get = (): Claims => this.#claims;

  keep(redemptionId: string, hash: string): void {
    this.#write({ ...read(), [redemptionId]: { hash, sentAtMs: Date.now() } });
  }

  forget(redemptionId: string): void {
    if (!(redemptionId in this.#claims)) return;
    const others = Object.entries(read()).filter(([id]) => id !== redemptionId);
    this.#write(Object.fromEntries(others));
  }

  #write(claims: Claims): void {
    const newest = Object.entries(claims).sort(([, a], [, b]) => b.sentAtMs - a.sentAtMs);
    const kept = Object.fromEntries(newest.slice(0, MOST));
    localStorage.setItem(KEPT_AS, JSON.stringify(kept));
    this.#become(kept);
  }

  #become(claims: Claims): void {
    this.#claims = claims;
    this.#listeners.tell();
  }
}

function read(): Claims {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT_AS) ?? '{}') as Record<
      string,
      Partial<SentClaim>
    >;
    const valid = Object.entries(kept).filter(
      (entry): entry is [string, SentClaim] =>
        /^0x[0-9a-f]{64}$/.test(entry[1].hash ?? '') && typeof entry[1].sentAtMs === 'number',
    );
    return Object.fromEntries(valid);
  } catch {
    return {};
  }
}

export const claimsStore = new ClaimsStore();

export function useSentClaim(redemptionId: string): SentClaim | undefined {
  return useSyncExternalStore(claimsStore.subscribe, claimsStore.get)[redemptionId];
}
