/** The wallets of the browser that have announced themselves (EIP-6963) since the page was loaded. */
import { useSyncExternalStore } from 'react';
import { Listeners } from '../api/listeners';

export interface BrowserWallet {
  readonly info: {
    readonly uuid: string;
    /** Reverse domain name of the wallet, the same on all pages. */
    readonly rdns: string;
    readonly name: string;
    readonly icon?: string;
  };
  readonly provider: {
    request(call: {
      readonly method: string;
      readonly params?: readonly unknown[];
    }): Promise<unknown>;
  };
}

let wallets: readonly BrowserWallet[] = [];
const listeners = new Listeners();

addEventListener('eip6963:announceProvider', (event) => {
  const { detail } = event as CustomEvent<unknown>;
  if (!isWallet(detail)) return;
  // A wallet announces itself again on each request; the repetition is ignored.
  if (wallets.some(({ info }) => info.uuid === detail.info.uuid)) return;
  wallets = [...wallets, detail];
  listeners.tell();
});
dispatchEvent(new Event('eip6963:requestProvider'));

function isWallet(detail: unknown): detail is BrowserWallet {
  const { info, provider } = (detail ?? {}) as Partial<BrowserWallet>;
  const texts = [info?.uuid, info?.rdns, info?.name, info?.icon ?? ''];
  return texts.every((text) => typeof text === 'string') && typeof provider?.request === 'function';
}

export function browserWallets(): readonly BrowserWallet[] {
  return wallets;
}

/** @returns a function that unsubscribes */
export const onBrowserWallets = listeners.subscribe;

export function useBrowserWallets(): readonly BrowserWallet[] {
  return useSyncExternalStore(onBrowserWallets, browserWallets);
}

const KEPT_AS = 'lowmark-wallet';

/** The `rdns` of the last connected wallet, which is connected again when the page is opened. */
export function rememberedWallet(): string | undefined {
  return localStorage.getItem(KEPT_AS) ?? undefined;
}

/** @param rdns undefined after the player has disconnected the wallet */
export function rememberWallet(rdns: string | undefined): void {
  if (rdns === undefined) localStorage.removeItem(KEPT_AS);
  else localStorage.setItem(KEPT_AS, rdns);
}
