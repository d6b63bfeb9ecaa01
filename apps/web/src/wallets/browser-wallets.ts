/** Wallets of the browser, as they announce themselves (EIP-6963), from when the page is loaded. */
import { useSyncExternalStore } from 'react';
import { Listeners } from '../api/listeners';

export interface BrowserWallet {
  readonly info: {
    readonly uuid: string;
    /** Of the wallet, whichever page it is on. */
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
  // One that announces itself again, as each does when it is asked to, is the same.
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

/** @returns what ends it */
export const onBrowserWallets = listeners.subscribe;

export function useBrowserWallets(): readonly BrowserWallet[] {
  return useSyncExternalStore(onBrowserWallets, browserWallets);
}

const KEPT_AS = 'lowmark-wallet';

/** The wallet that this browser was connected with, by its `rdns`: it is connected again when the page is opened. */
export function rememberedWallet(): string | undefined {
  return localStorage.getItem(KEPT_AS) ?? undefined;
}

/** @param rdns undefined: none, as the player has disconnected it */
export function rememberWallet(rdns: string | undefined): void {
  if (rdns === undefined) localStorage.removeItem(KEPT_AS);
  else localStorage.setItem(KEPT_AS, rdns);
}
