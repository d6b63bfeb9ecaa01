import { useSyncExternalStore } from 'react';
import { Listeners } from '../../api/listeners';

/** One click on "Redeem". It is kept until there is an answer, so that it is the same redemption however often it is sent. */
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

/** Another click on the same button is the same click. */
export function beginClick(click: Omit<Click, 'key'>): void {
  const name = nameOf(click.wallet, click.partner);
  if (localStorage.getItem(name) !== null) return;
  localStorage.setItem(name, JSON.stringify({ ...click, key: crypto.randomUUID() }));
  listeners.tell();
}

/** @param key of the click that has its answer; a newer one stays */
export function endClick({ wallet, partner, key }: Click): void {
  const name = nameOf(wallet, partner);
  if (clickOf(localStorage.getItem(name))?.key === key) localStorage.removeItem(name);
  listeners.tell();
}

/** The click that is kept, as text, so that the same click is the same value; null where none is. */
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
