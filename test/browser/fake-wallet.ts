/**
 * A wallet that is injected into a page as an extension does, and whose behaviour the test controls. The local chain
 * signs for it, through the console.
 */
export interface FakeWalletOptions {
  /** Chain id of the wallet's network. Default: the local chain. */
  readonly chainId?: number;
}

export const FAKE_WALLET = 'Fake wallet <b>';
export const FAKE_WALLET_ID = 'test.fake';

/** The script for `addInitScript`. A test reaches the wallet as `fakeWallet` of the page. */
export function fakeWalletScript(account: string, { chainId }: FakeWalletOptions = {}): string {
  const installed = { account, chainId: chainId ?? null, name: FAKE_WALLET, rdns: FAKE_WALLET_ID };
  return `(${install.toString()})(${JSON.stringify(installed)})`;
}

interface Installed {
  readonly account: string;
  readonly chainId: number | null;
  readonly name: string;
  readonly rdns: string;
}

/** Runs in the page, so it can use nothing else of this file. */
function install({ account, chainId, name, rdns }: Installed): void {
  type Call = { method: string; params?: unknown[] };
  const page = globalThis as unknown as Record<string, unknown> & {
    dispatchEvent(event: unknown): void;
    addEventListener(type: string, listener: () => void): void;
    document: { cookie: string };
    localStorage: {
      getItem(key: string): string | null;
      setItem(key: string, value: string): void;
    };
    CustomEvent: new (type: string, init: object) => unknown;
  };
  const listeners: Record<string, ((value: unknown) => void)[]> = {};
  const state = {
    /** The errors with which the wallet answers calls of a method. */
    fails: {} as Record<string, { code: number; message: string }>,
    chainId: chainId === null ? null : '0x' + chainId.toString(16),
    account,
    asked: [] as string[],
    emit: (event: string, value: unknown) => {
      for (const listener of listeners[event] ?? []) listener(value);
    },
  };
  const ask = async ({ method, params = [] }: Call): Promise<unknown> => {
    const csrf = /lowmark-player-csrf=([^;]+)/.exec(page.document.cookie)?.[1] ?? 'none';
    const answer = await fetch('/player/test-wallet/rpc', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
      body: JSON.stringify({ method, params }),
    });
    const { result, error } = (await answer.json()) as {
      result?: unknown;
      error?: { message: string };
    };
    if (error !== undefined) throw new Error(error.message);
    return result;
  };
  const request = async (call: Call): Promise<unknown> => {
    const { method, params } = call;
    state.asked.push(method);
    const failure = state.fails[method];
    if (failure !== undefined) throw Object.assign(new Error(failure.message), failure);
    if (method === 'eth_requestAccounts') page.localStorage.setItem('fake-connected', 'yes');
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') {
      return page.localStorage.getItem('fake-connected') === null ? [] : [state.account];
    }
    if (method === 'wallet_requestPermissions') {
      page.localStorage.setItem('fake-connected', 'yes');
      const caveats = [{ type: 'restrictReturnedAccounts', value: [state.account] }];
      return [{ parentCapability: 'eth_accounts', caveats }];
    }
    if (method === 'eth_chainId' && state.chainId !== null) return state.chainId;
    if (method === 'wallet_switchEthereumChain') {
      state.chainId = (params as { chainId: string }[])[0]?.chainId ?? null;
      state.emit('chainChanged', state.chainId);
      return null;
    }
    return ask(call);
  };
  const provider = {
    request,
    on: (event: string, listener: (value: unknown) => void) => {
      (listeners[event] ??= []).push(listener);
    },
    removeListener: (event: string, listener: (value: unknown) => void) => {
      listeners[event] = (listeners[event] ?? []).filter((one) => one !== listener);
    },
  };
  const icon = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E';
  const detail = Object.freeze({
    info: { uuid: '3f0b6f9e-0000-4000-8000-000000000001', name, icon, rdns },
    provider,
  });
  const announce = (): void => {
    page.dispatchEvent(new page.CustomEvent('eip6963:announceProvider', { detail }));
  };
  page['fakeWallet'] = state;
  page.addEventListener('eip6963:requestProvider', announce);
  announce();
}
