import {
  ChainReader,
  loadStakeDescription,
  multicallOf,
  resolveStakeViews,
  type RpcPool,
  type StakeView,
} from '#libs/chain';
import { type Address } from '#libs/domain';

export interface FigureSettings {
  readonly finality?: string;
  readonly stakeEvents?: string;
  readonly stakeTotalView?: readonly StakeView[];
  readonly stakeBalanceView?: readonly StakeView[];
}

export interface ReadContracts {
  readonly chainId: number;
  readonly contracts: readonly Address[];
  /** The index counts a part of the contracts' events; by STAKE_EVENTS where there is no index. */
  readonly isPartial?: boolean | undefined;
}

/** Reads the contracts' own figures as the indexer does. @throws PermanentError where STAKE_EVENTS is wrong */
export async function stakeReader(
  pool: RpcPool,
  { chainId, contracts, isPartial }: ReadContracts,
  settings: FigureSettings,
): Promise<ChainReader> {
  const { finality, stakeEvents, stakeTotalView, stakeBalanceView } = settings;
  const described =
    stakeEvents === undefined ? { isPartial: false } : await loadStakeDescription(stakeEvents);
  return new ChainReader(pool, {
    ...(finality !== undefined && { finality }),
    contracts,
    multicall: multicallOf(chainId),
    ...resolveStakeViews(
      { ...described, isPartial: isPartial ?? described.isPartial },
      { totalView: stakeTotalView, balanceView: stakeBalanceView },
    ),
  });
}
