/** The kinds of wallet errors for which the page has texts. */
export type WalletFailure = 'rejected' | 'requestOpen' | 'tooLittleCoin' | 'failed';

/**
 * Classifies errors of EIP-1193 and EIP-1474, and the variants of some wallets and nodes. Causes of the error are
 * examined too.
 */
export function walletFailure(error: unknown): WalletFailure {
  for (let one = error; typeof one === 'object' && one !== null; one = (one as Error).cause) {
    const { code, name, message } = one as {
      readonly code?: unknown;
      readonly name?: unknown;
      readonly message?: unknown;
    };
    if (code === 4001 || code === 'ACTION_REJECTED' || name === 'UserRejectedRequestError') {
      return 'rejected';
    }
    if (code === -32_002) return 'requestOpen';
    if (name === 'InsufficientFundsError' || TOO_LITTLE_COIN.test(String(message))) {
      return 'tooLittleCoin';
    }
  }
  return 'failed';
}

const TOO_LITTLE_COIN = /insufficient funds|gas required exceeds allowance|not enough funds/i;
