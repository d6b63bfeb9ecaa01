import { useQuery } from '@tanstack/react-query';
import { ApiProblem } from '../api/api-problem';
import { playerApi } from '../api/player-client';
import { announceTestWallet } from '../wallets/test-wallet';
import { type components } from '../api/redemption.generated';

/** `GET /player/config` of the console; see `apps/console/src/player/player-config.controller.ts`. */
export interface ConsoleConfig {
  readonly testWallet: { readonly accounts: readonly string[] | null } | null;
  readonly network: {
    readonly name: string | null;
    readonly coin: string;
    readonly rpcUrl: string | null;
  };
}

export type ChainFacts = components['schemas']['Chain'];
export type Redemption = components['schemas']['Redemption'];
export type Voucher = components['schemas']['Voucher'];
export type Partner = components['schemas']['Partner'];
export type Quote = components['schemas']['Quote'];

export interface RedeemConfig {
  readonly chain: ChainFacts;
  /** Name of the network on the page. */
  readonly networkName: string;
  /** Name of the network with its chain id, which identifies it in wallets. */
  readonly networkLabel: string;
  readonly coin: string;
  /** RPC URL for wallets that do not know the network; null: the wallet must know the network already. */
  readonly walletRpcUrl: string | null;
  readonly testWallet: ConsoleConfig['testWallet'];
}

const TRY_AGAIN_MS = 4_000;
/** Refresh interval, since payouts can become possible or impossible. */
const REFRESH_MS = 60_000;

/** The configuration that the page needs before a wallet is chosen. Retried until it is loaded. */
export function useRedeemConfigQuery() {
  return useQuery({
    queryKey: ['redeem-config'],
    gcTime: Infinity,
    retry: false,
    queryFn: loadConfig,
    refetchInterval: ({ state }) =>
      state.status === 'error' || state.data?.chain.token.decimals == null
        ? TRY_AGAIN_MS
        : REFRESH_MS,
  });
}

async function loadConfig(): Promise<RedeemConfig> {
  const [console, chain] = await Promise.all([
    fetch('/player/config').then((answer) => {
      if (!answer.ok) throw ApiProblem.of(answer, undefined);
      return answer.json() as Promise<ConsoleConfig>;
    }),
    playerApi.GET('/api/chain').then(({ data }) => {
      if (data === undefined) throw new ApiProblem(200, 'UNEXPECTED_ANSWER', '', undefined);
      return data;
    }),
  ]);
  const { testWallet, network } = console;
  if (testWallet !== null) announceTestWallet(testWallet.accounts);
  const numbered = `chain ${chain.chainId}`;
  return {
    chain,
    networkName: network.name ?? numbered,
    networkLabel: network.name === null ? numbered : `${network.name} (${numbered})`,
    coin: network.coin,
    walletRpcUrl: network.rpcUrl,
    testWallet,
  };
}
