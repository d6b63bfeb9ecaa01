import { useSyncExternalStore } from 'react';
import { Listeners } from '../../api/listeners';
import { randomUuid } from '../../shared/random-uuid';

/**
 * One click on "Redeem". It is stored with its idempotency key until there is an answer, so that repeated sending makes
 * a single redemption.
 */
export interface Click {
  readonly key: string;
  readonly wallet: string;
  readonly partner: string;
  readonly points: number;
  readonly minAmount: string;
}

const PREFIX = 'lowmark-click';

const nameOf = (wallet: string, partner: string): string => `${PREFIX}-${wallet}-${partner}`;
const listeners = new Listeners();

addEventListener('storage', ({ key }) => {
  if (key === null || key.startsWith(PREFIX)) listeners.tell();
});

/** Stores a click; a repeated click on the same button has no effect. */
export function beginClick(click: Omit<Click, 'key'>): void {
  const name = nameOf(click.wallet, click.partner);
  if (localStorage.getItem(name) !== null) return;
  localStorage.setItem(name, JSON.stringify({ ...click, key: randomUuid() }));
  listeners.tell();
}

/** @param key of the answered click; a newer click stays stored */
export function endClick({ wallet, partner, key }: Click): void {
  const name = nameOf(wallet, partner);
  if (clickOf(localStorage.getItem(name))?.key === key) localStorage.removeItem(name);
  listeners.tell();
}

/** The stored click as text, which compares by value; null where there is none. */
export function usePendingClick(wallet: string, partner: string): string | null {
  return useSyncExternalStore(listeners.subscribe, () =>
    localStorage.getItem(nameOf(wallet, partner)),
  );
}

export function clickOf(text: string | null): Click | undefined {
  if (text === null) return undefined;
  try {
    const { key, wallet, partner, points, minAmount } = JSON.parse(text) as Partial<Click>;
    const isClick =
      typeof key === 'string' &&
      typeof wallet === 'string' &&
      typeof partner === 'string' &&
      typeof points === 'number' &&
      typeof minAmount === 'string';
    return isClick ? { key, wallet, partner, points, minAmount } : undefined;
  } catch {
    return undefined;
  }
}
