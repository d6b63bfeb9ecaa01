/**
 * A wallet for trying the page on a local chain, whose accounts sign for every caller. It announces itself like any
 * other wallet (EIP-6963).
 */
import { CSRF_HEADER, csrfToken } from '../api/csrf';
import { randomUuid } from '../shared/random-uuid';

export const TEST_WALLET_ID = 'lowmark.test-wallet';

const ICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" rx="4" fill="%230b7285"/%3E%3Cpath d="M4 5h8v6H4z" fill="none" stroke="%23fff" stroke-width="1.5"/%3E%3C/svg%3E';
const CHOSEN_AS = 'lowmark-test-account';
/** Key that records an earlier connection: a wallet shows its accounts only to pages that were connected. */
const CONNECTED_AS = 'lowmark-test-connected';

type Listener = (value: unknown) => void;

/** An error in the form of EIP-1193. */
class WalletError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

class TestWallet {
  readonly #listeners = new Map<string, Set<Listener>>();
  #accounts: readonly string[] | undefined;

  constructor(private readonly offered: readonly string[] | null) {}

  readonly on = (event: string, listener: Listener): this => {
    this.#listeners.set(event, (this.#listeners.get(event) ?? new Set()).add(listener));
    return this;
  };

  readonly removeListener = (event: string, listener: Listener): this => {
    this.#listeners.get(event)?.delete(listener);
    return this;
  };

  readonly request = async ({
    method,
    params = [],
  }: {
    readonly method: string;
    readonly params?: readonly unknown[];
  }): Promise<unknown> => {
    switch (method) {
      case 'eth_accounts':
        return localStorage.getItem(CONNECTED_AS) === null ? [] : this.chosenFirst();
      case 'eth_requestAccounts':
        localStorage.setItem(CONNECTED_AS, 'yes');
        return this.chosenFirst();
      case 'wallet_requestPermissions':
        localStorage.setItem(CONNECTED_AS, 'yes');
        return [
          {
            parentCapability: 'eth_accounts',
            caveats: [{ type: 'restrictReturnedAccounts', value: await this.chosenFirst() }],
          },
        ];
      case 'wallet_revokePermissions':
        localStorage.removeItem(CONNECTED_AS);
        return null;
      case 'wallet_switchEthereumChain':
        throw new WalletError(4902, 'The test wallet knows the local chain only.');
      default:
        return call(method, params);
    }
  };

  async accounts(): Promise<readonly string[]> {
    this.#accounts ??= this.offered ?? ((await call('eth_accounts', [])) as string[]);
    return this.#accounts;
  }

  async chosen(): Promise<string | undefined> {
    return (await this.chosenFirst())[0];
  }

  choose(account: string): void {
    localStorage.setItem(CHOSEN_AS, account);
    for (const listener of this.#listeners.get('accountsChanged') ?? []) listener([account]);
  }

  private async chosenFirst(): Promise<readonly string[]> {
    const accounts = await this.accounts();
    const chosen = localStorage.getItem(CHOSEN_AS);
    const first = accounts.find((account) => account === chosen) ?? accounts[0];
    return first === undefined ? [] : [first];
  }
}

let wallet: TestWallet | undefined;

/** Announces the test wallet, once per page. */
export function announceTestWallet(accounts: readonly string[] | null): void {
  if (wallet !== undefined) return;
  wallet = new TestWallet(accounts);
  const info = { uuid: randomUuid(), name: 'Test wallet', icon: ICON, rdns: TEST_WALLET_ID };
  const detail = Object.freeze({ info: Object.freeze(info), provider: wallet });
  const announce = (): void => {
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  addEventListener('eip6963:requestProvider', announce);
  announce();
}

export function testWallet(): TestWallet | undefined {
  return wallet;
}

async function call(method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await fetch('/player/test-wallet/rpc', {
    method: 'POST',
    headers: { 'content-type': 'application/json', [CSRF_HEADER]: csrfToken('player') },
    body: JSON.stringify({ method, params }),
  });
  const { result, error, message } = (await answer.json()) as {
    readonly result?: unknown;
    readonly error?: { readonly code: number; readonly message: string };
    readonly message?: string;
  };
  if (error !== undefined) throw new WalletError(error.code, error.message);
  if (!answer.ok) throw new WalletError(answer.status === 400 ? 4200 : 4900, message ?? '');
  return result;
}
