/** The part that a sync has to read, by the existing index, else by the settings. */
import { RPC_URLS_SETTING, sessionUrl, Setting } from '#libs/config';
import { indexedContracts } from '#libs/verification';
import { loadStakeEvents, type RpcPool, type StakeEventSpec } from '#libs/chain';
import { type IndexState, IndexStore, isNotMigrated, settingDifferences } from '#libs/db';
import { type Address, type BlockRef, PermanentError } from '#libs/domain';
import { DEFAULT_EVENTS, differenceText, givenSettings, StakingSettings } from '#libs/operations';
import { withDatabase } from '../command.js';

export class PlanSettings extends StakingSettings {
  @Setting(RPC_URLS_SETTING)
  override readonly rpcUrls: string[] = [];
}

export interface MissingPart {
  readonly chainId: number;
  readonly contracts: readonly Address[];
  readonly events: readonly StakeEventSpec[];
  readonly isPartial: boolean | undefined;
  readonly startBlock: bigint;
  /** The newest indexed block; undefined where there is no index. */
  readonly indexed: BlockRef | undefined;
}

/**
 * @throws PermanentError where the settings do not say what to sync, or do not match the index;
 * DatabaseUnavailableError
 */
export async function readMissingPart(settings: PlanSettings, pool: RpcPool): Promise<MissingPart> {
  const databaseUrl = sessionUrl(settings);
  const { stakeSet } = settings;
  const state = databaseUrl === undefined ? undefined : await storedIndex(databaseUrl, stakeSet);
  if (state === undefined) return partOfSettings(settings, pool);
  const [difference] = settingDifferences(state, await givenSettings(settings));
  if (difference) {
    throw new PermanentError(
      'SETTINGS_CHANGED',
      `The index in this database was made with other settings: ${differenceText(difference)}. Set it back, or leave out DATABASE_URL to plan a new index.`,
    );
  }
  const { contracts, isPartial, startBlock = 1n } = indexedContracts(state);
  const { chainId, head } = state;
  // The indexer stored this value from the same type.
  const events = state.settings['events'] as readonly StakeEventSpec[];
  return { chainId, contracts, events, isPartial, startBlock, indexed: head };
}

async function partOfSettings(settings: PlanSettings, pool: RpcPool): Promise<MissingPart> {
  const { stakeContract: contracts, stakeStartBlock, stakeEvents = DEFAULT_EVENTS } = settings;
  if (contracts === undefined) throw unset('STAKE_CONTRACT');
  if (stakeStartBlock === undefined) throw unset('STAKE_START_BLOCK');
  return {
    chainId: settings.chainId ?? (await chainIdOf(pool)),
    contracts,
    events: await loadStakeEvents(stakeEvents),
    isPartial: undefined,
    startBlock: stakeStartBlock > 0n ? stakeStartBlock : 1n,
    indexed: undefined,
  };
}

async function storedIndex(url: string, stakeSet: string): Promise<IndexState | undefined> {
  try {
    return await withDatabase(url, (database) => new IndexStore(database).state(), stakeSet);
  } catch (error) {
    if (isNotMigrated(error)) return undefined;
    throw error;
  }
}

async function chainIdOf(pool: RpcPool): Promise<number> {
  const { results } = await pool.run((session) =>
    session.batch([{ method: 'eth_chainId', params: [] }]),
  );
  const [result] = results;
  return Number(result?.ok === true ? result.value : NaN);
}

function unset(variable: string): PermanentError {
  const what = `${variable} is not set, and there is no index that knows it. Set it, or DATABASE_URL.`;
  return new PermanentError('SETTING_MISSING', what);
}
