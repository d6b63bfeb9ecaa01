import { type StakeEventSpec, type VerificationSetting } from '#libs/chain';
import { type IndexSettings } from '#libs/db';
import { type Address } from '#libs/domain';
import { type IndexerSettings } from './indexer.env.js';

// Nest tokens of what has no class of its own.

export const INDEX_OPTIONS = Symbol('IndexOptions');
/** The StakeDescription of STAKE_EVENTS. */
export const STAKES = Symbol('StakeDescription');
/** What all pools of endpoints are observed by. */
export const RPC_OBSERVER = Symbol('RpcObserver');
/** Connections and a health of its own: an endpoint that has enough of the audit, or of sealing days, is not set aside for the index. */
export const BESIDE_POOL = Symbol('RpcPool of the work beside the loop');
export const BESIDE_READER = Symbol('ChainReader of the work beside the loop');

/** What the index is made of, and how it is kept. */
export interface IndexOptions {
  readonly chainId: number;
  /** The first is the one that is reported. */
  readonly contracts: readonly [Address, ...Address[]];
  readonly tokenContract: Address;
  readonly tokenSymbol: string | undefined;
  readonly tokenDecimals: number | undefined;
  readonly firstBlock: bigint;
  /** Canonical form of STAKE_EVENTS. */
  readonly events: readonly StakeEventSpec[];
  /** STAKE_EVENTS as it was set: a preset, or the path of a file. */
  readonly stakeEvents: string;
  readonly verification: VerificationSetting;
  readonly maxRangeBlocks: number;
  /** How often the chain is asked for new blocks, at the most. */
  readonly pollIntervalMs: number;
  /** Nothing done for so long: the loop is taken for stuck and started afresh. */
  readonly stallAfterMs: number;
  /** How often a standby asks for the lead. */
  readonly standbyIntervalMs: number;
  /** The longest wait between two tries. */
  readonly maxBackoffMs: number;
  /** After a halt over events that do not add up: how long until the chain is asked again, as a provider may have been mended. */
  readonly haltedRetryMs: number;
}

export function indexOptionsOf(
  settings: IndexerSettings,
  events: readonly StakeEventSpec[],
): IndexOptions {
  return {
    chainId: settings.chainId,
    contracts: settings.stakeContract,
    tokenContract: settings.tokenContract,
    tokenSymbol: settings.tokenSymbol,
    tokenDecimals: settings.tokenDecimals,
    firstBlock: settings.stakeStartBlock > 0n ? settings.stakeStartBlock : 1n,
    events,
    stakeEvents: settings.stakeEvents,
    verification: settings.stakeVerification,
    maxRangeBlocks: settings.maxRangeBlocks,
    pollIntervalMs: settings.pollIntervalMs,
    stallAfterMs: 180_000,
    standbyIntervalMs: 1_000,
    maxBackoffMs: 30_000,
    haltedRetryMs: 10 * 60_000,
  };
}

/** What decides which rows the index holds. */
export function indexSettingsOf(options: IndexOptions): IndexSettings {
  return {
    chainId: options.chainId,
    stakeContracts: options.contracts,
    tokenContract: options.tokenContract,
    startBlock: options.firstBlock.toString(),
    events: options.events,
  };
}
