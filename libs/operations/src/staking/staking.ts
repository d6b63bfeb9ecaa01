/** The staking contracts by the settings of the indexer: the index that is made with them, and the contracts' own figures. */
import {
  ChainReader,
  loadStakeDescription,
  loadStakeEvents,
  multicallOf,
  resolveStakeViews,
  type RpcPool,
  type StakeView,
} from '#libs/chain';
import { type IndexSettings, type SettingDifference } from '#libs/db';
import { type Address } from '#libs/domain';

/** As the indexer has it. */
export const DEFAULT_EVENTS = 'staked-withdrawn';

/** The settings of the indexer that an index is made with, as far as they are set here. */
interface StakingVariables {
  readonly chainId?: number | undefined;
  readonly stakeContract?: readonly Address[] | undefined;
  readonly stakeStartBlock?: bigint | undefined;
  readonly stakeEvents?: string | undefined;
  readonly tokenContract?: Address | undefined;
}

/** As the indexer writes them with an index; what is not set is left out. @throws PermanentError where STAKE_EVENTS is wrong */
export async function givenSettings(variables: StakingVariables): Promise<Partial<IndexSettings>> {
  const { chainId, stakeContract, stakeStartBlock, stakeEvents, tokenContract } = variables;
  // Where the contracts are named, the other settings are the indexer's too, and so are its defaults.
  const events = stakeEvents ?? (stakeContract && DEFAULT_EVENTS);
  return {
    ...(chainId !== undefined && { chainId }),
    ...(stakeContract !== undefined && { stakeContracts: stakeContract }),
    ...(stakeStartBlock !== undefined && { startBlock: stakeStartBlock.toString() }),
    ...(tokenContract !== undefined && { tokenContract }),
    ...(events !== undefined && { events: await loadStakeEvents(events) }),
  };
}

export function differenceText({ variable, stored, wanted }: SettingDifference): string {
  const name = variable === 'STAKE_EVENTS' ? signatures : plain;
  return `${variable} is ${name(wanted)}; the index was made with ${name(stored)}`;
}

function plain(json: string): string {
  return json.replaceAll(/["[\]]/g, '');
}

/** The events' signatures say enough, unless only their other parts differ. */
function signatures(json: string): string {
  const found = [...json.matchAll(/"signature":"([^"]*)"/g)].map(([, signature]) => signature);
  return found.length > 0 ? found.join(' and ') : 'others';
}

interface FigureSettings {
  readonly finality?: string;
  readonly stakeEvents?: string;
  readonly stakeTotalView?: readonly StakeView[];
  readonly stakeBalanceView?: readonly StakeView[];
}

interface ReadContracts {
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
