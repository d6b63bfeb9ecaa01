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
