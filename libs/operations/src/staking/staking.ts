/** The staking contracts by the settings of the indexer: the settings of an index, and the contracts' own figures. */
import {
  ChainReader,
  loadStakeDescription,
  loadStakeEvents,
  multicallOf,
  resolveStakeViews,
  type RpcPool,
} from '#libs/chain';
import { type IndexSettings, type SettingPair } from '#libs/db';
import { type Address } from '#libs/domain';

/** Default of STAKE_EVENTS, the same as in the indexer. */
export const DEFAULT_EVENTS = 'staked-withdrawn';

/** Settings that the indexer makes an index with. Those that are not set for this program are undefined. */
interface StakingVariables {
  readonly chainId?: number | undefined;
  readonly stakeContract?: readonly Address[] | undefined;
  readonly stakeStartBlock?: bigint | undefined;
  readonly stakeEvents?: string | undefined;
  readonly tokenContract?: Address | undefined;
}

/**
 * The settings in the form that the indexer stores with an index, without the undefined ones.
 * @throws PermanentError where STAKE_EVENTS is wrong
 */
export async function givenSettings(variables: StakingVariables): Promise<Partial<IndexSettings>> {
  const { chainId, stakeContract, stakeStartBlock, stakeEvents, tokenContract } = variables;
  // Where the contracts are set, these are the indexer's settings, so its default for the events applies.
  const events = stakeEvents ?? (stakeContract && DEFAULT_EVENTS);
  return {
    ...(chainId !== undefined && { chainId }),
    ...(stakeContract !== undefined && { stakeContracts: stakeContract }),
    ...(stakeStartBlock !== undefined && { startBlock: stakeStartBlock.toString() }),
    ...(tokenContract !== undefined && { tokenContract }),
    ...(events !== undefined && { events: await loadStakeEvents(events) }),
  };
}

export function differenceText({ variable, ...pair }: SettingPair): string {
  const [stored, wanted] = [pair.stored, pair.wanted].map((json) => settingText(variable, json));
  return `${variable} is ${wanted}; the index was made with ${stored}`;
}

/** The value of a setting of the index, for people. @param json its canonical JSON */
export function settingText(variable: string, json: string): string {
  return variable === 'STAKE_EVENTS' ? signatures(json) : plain(json);
}

function plain(json: string): string {
  return json.replaceAll(/["[\]]/g, '');
}

/** The signatures of the events identify them, unless two settings differ in other parts only. */
function signatures(json: string): string {
  const found = [...json.matchAll(/"signature":"([^"]*)"/g)].map(([, signature]) => signature);
  return found.length > 0 ? found.join(' and ') : 'others';
}

interface FigureSettings {
  readonly finality?: string;
  readonly stakeEvents?: string;
}

interface ReadContracts {
  readonly chainId: number;
  readonly contracts: readonly Address[];
  /**
   * Whether the index counts only a part of the contracts' events. Default: by STAKE_EVENTS, for use without an index.
   */
  readonly isPartial?: boolean | undefined;
}

/** Reads the contracts' own figures as the indexer does. @throws PermanentError where STAKE_EVENTS is wrong */
export async function stakeReader(
  pool: RpcPool,
  { chainId, contracts, isPartial }: ReadContracts,
  settings: FigureSettings,
): Promise<ChainReader> {
  const { finality, stakeEvents } = settings;
  const described =
    stakeEvents === undefined ? { isPartial: false } : await loadStakeDescription(stakeEvents);
  return new ChainReader(pool, {
    ...(finality !== undefined && { finality }),
    contracts,
    multicall: multicallOf(chainId),
    ...resolveStakeViews({ ...described, isPartial: isPartial ?? described.isPartial }),
  });
}
