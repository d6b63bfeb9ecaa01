/** Wallets for players who have none, and the links that open a page in their apps. */

export interface WalletOffer {
  readonly name: string;
  /** Where it is installed from. */
  readonly site: string;
  /** Opens the page in the browser of the wallet's app; absent: it has no app. */
  readonly open?: (page: string) => string;
}

export const WALLET_OFFERS: readonly WalletOffer[] = [
  {
    name: 'MetaMask',
    site: 'https://metamask.io/download',
    open: (page) => `https://metamask.app.link/dapp/${page.replace(/^https?:\/\//, '')}`,
  },
  {
    name: 'Base App',
    site: 'https://wallet.coinbase.com',
    open: (page) => `https://go.cb-w.com/dapp?cb_url=${encodeURIComponent(page)}`,
  },
  {
    name: 'Trust Wallet',
    site: 'https://trustwallet.com/download',
    open: (page) =>
      `https://link.trustwallet.com/open_url?coin_id=60&url=${encodeURIComponent(page)}`,
  },
  { name: 'Rabby', site: 'https://rabby.io' },
];
