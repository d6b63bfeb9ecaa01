import { type Chain, custom } from 'viem';
import { type Config, createConfig } from 'wagmi';
import { type RedeemConfig } from '../config';
import { announceTestWallet } from './test-wallet';

/**
 * The wallets of this browser, which announce themselves (EIP-6963). The page asks the chain through the wallet only: it has no RPC
 * of its own, and its policy allows none.
 */
export function createWallets({
  chain: { chainId },
  networkName,
  coin,
  walletRpcUrl,
  testWallet,
}: RedeemConfig): Config {
  if (testWallet !== null) announceTestWallet(testWallet.accounts);
  const chain: Chain = {
    id: chainId,
    name: networkName,
    nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
    rpcUrls: { default: { http: walletRpcUrl === null ? [] : [walletRpcUrl] } },
  };
  const transport = custom({
    request: () => Promise.reject(new Error('The page asks the chain through the wallet.')),
  });
  return createConfig({
    chains: [chain],
    transports: { [chainId]: transport },
    multiInjectedProviderDiscovery: true,
    // A wallet that injects itself without announcing: EIP-1193 as it was before EIP-6963.
    connectors: [],
  });
}
