import { type StakeEventSpec, type VerificationSetting } from '#libs/chain';
import { type IndexSettings, type IndexState } from '#libs/db';
import { type Address } from '#libs/domain';
import { type IndexerSettings } from './indexer.env.js';

// Nest injection tokens for values without a class of their own.

export const INDEX_OPTIONS = Symbol('IndexOptions');
export const STAKES = Symbol('StakeDescription');
/** Observer of all RPC pools: metrics and log. */
export const RPC_OBSERVER = Symbol('RpcObserver');
/**
 * RPC pool of the audit and of the sealing of days. It has its own connections and endpoint health, so that an endpoint
 * that throttles this work is not set aside for the index.
 */
export const BACKGROUND_POOL = Symbol('RpcPool of the work beside the loop');
export const BACKGROUND_READER = Symbol('ChainReader of the work beside the loop');

/** Which contracts and events are indexed, and how the loop works. */
export interface IndexOptions {
  readonly chainId: number;
  /** The first contract is stored and reported as the stake contract. */
  readonly contracts: readonly [Address, ...Address[]];
  readonly tokenContract: Address;
  readonly firstBlock: bigint;
  /** `STAKE_EVENTS` in canonical form. */
  readonly events: readonly StakeEventSpec[];
  /** `STAKE_EVENTS` as configured: a preset, or the path of a file. */
  readonly stakeEvents: string;
  readonly verification: VerificationSetting;
  readonly maxRangeBlocks: number;
  /** Size of the cache of wallet states, in wallets of about 250 bytes each. */
  readonly cachedWallets: number;
  /** Shortest time between two polls for new blocks. */
  readonly pollIntervalMs: number;
  /** A loop without progress for this long counts as stuck and is restarted. */
  readonly stallAfterMs: number;
  /** Time between two attempts of a standby indexer to become the leader. */
  readonly standbyIntervalMs: number;
  readonly maxBackoffMs: number;
  /**
   * Time from a halt over contradicting events to the next read of the chain: the provider may have been repaired in
   * the meantime.
   */
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
    firstBlock: settings.stakeStartBlock > 0n ? settings.stakeStartBlock : 1n,
    events,
    stakeEvents: settings.stakeEvents,
    verification: settings.stakeVerification,
    maxRangeBlocks: settings.maxRangeBlocks,
    cachedWallets: 100_000,
    pollIntervalMs: settings.pollIntervalMs,
    stallAfterMs: 180_000,
    standbyIntervalMs: 1_000,
    maxBackoffMs: 30_000,
    haltedRetryMs: 10 * 60_000,
  };
}

/** The settings that decide which rows the index holds. */
export function indexSettingsOf(options: IndexOptions): IndexSettings {
  return {
    chainId: options.chainId,
    stakeContracts: options.contracts,
    tokenContract: options.tokenContract,
    startBlock: options.firstBlock.toString(),
    events: options.events,
  };
}

/** The newest verified block, or the one before the first. */
export function verifiedUpTo({ verifiedNumber }: IndexState, { firstBlock }: IndexOptions): bigint {
  return verifiedNumber ?? firstBlock - 1n;
}
