import { type Chain, custom, type EIP1193Provider } from 'viem';
import { type Config, createConfig, type CreateConnectorFn, injected, useConnect } from 'wagmi';
import { reconnect } from 'wagmi/actions';
import {
  type BrowserWallet,
  browserWallets,
  onBrowserWallets,
  rememberedWallet,
  rememberWallet,
} from '../../wallets/browser-wallets';
import { type RedeemConfig } from '../config';
import { useState } from 'react';
import { type Choosing } from './wallet-choice';
import { walletFailure } from './wallet-errors';

/**
 * Connects the wallets of this browser. The page reads the chain only through the wallet: it has no RPC endpoint, and
 * its content security policy allows none. The previously connected wallet is connected again once it has announced
 * itself.
 */
export function createWallets({
  chain: { chainId },
  networkName,
  coin,
  walletRpcUrl,
}: RedeemConfig): Config {
  const chain: Chain = {
    id: chainId,
    name: networkName,
    nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
    rpcUrls: { default: { http: walletRpcUrl === null ? [] : [walletRpcUrl] } },
  };
  const transport = custom({
    request: () => Promise.reject(new Error('The page asks the chain through the wallet.')),
  });
  const wallets = createConfig({
    chains: [chain],
    transports: { [chainId]: transport },
    // The page discovers the wallets and stores the connected one itself, before this module is loaded.
    multiInjectedProviderDiscovery: false,
    storage: null,
  });
  connectAgain(wallets);
  return wallets;
}

export function connectorOf({ info, provider }: BrowserWallet): CreateConnectorFn {
  const { rdns, name, icon } = info;
  return injected({
    target: {
      ...{ id: rdns, name, provider: provider as EIP1193Provider },
      ...(icon !== undefined && { icon }),
    },
  });
}

function connectAgain(wallets: Config): void {
  const rdns = rememberedWallet();
  if (rdns === undefined) return;
  const tryIt = (): boolean => {
    const wallet = browserWallets().find(({ info }) => info.rdns === rdns);
    if (wallet === undefined) return false;
    // Reconnecting asks the person nothing: a locked wallet stays locked.
    if (wallets.state.status === 'disconnected') {
      void reconnect(wallets, { connectors: [connectorOf(wallet)] });
    }
    return true;
  };
  if (tryIt()) return;
  const stop = onBrowserWallets(() => {
    if (tryIt()) stop();
  });
}

export function useConnectWallet(): Choosing {
  const { mutate, isPending, isError, error } = useConnect();
  const [wallet, setWallet] = useState<BrowserWallet>();
  return {
    busy: isPending ? wallet : undefined,
    failure: isError ? walletFailure(error) : undefined,
    choose: (chosen) => {
      setWallet(chosen);
      const onSuccess = (): void => rememberWallet(chosen.info.rdns);
      mutate({ connector: connectorOf(chosen) }, { onSuccess });
    },
  };
}
