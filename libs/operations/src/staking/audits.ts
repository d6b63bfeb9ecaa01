/** The index held against the contract: now, or as the indexer did it by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RpcPool, type StakeView } from '#libs/chain';
import {
  type AuditComparison,
  type AuditRun,
  AuditRunStore,
  type Database,
  type IndexState,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { type Clock } from '#libs/platform';
import {
  auditIndex,
  type AuditResult,
  indexedContracts,
  requireComparison,
  requireIndex,
} from '#libs/verification';
import { stakeReader } from './staking.js';

const TIMEOUT_MS = 15_000;
/** A person waits. */
const PACE = { batchesAtOnce: 4, pauseMs: 0 };

export interface AuditRequest {
  /** A final block, or the newest one. */
  readonly block: bigint | 'finalised';
  /** How many, drawn at random. */
  readonly wallets: number | 'all';
  /** Compared in any case. */
  readonly always?: readonly Address[];
  readonly onProgress: (said: string) => void;
}

interface AuditContext {
  /** Of the stake set; likewise below. */
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: {
    readonly rpcUrls: string[];
    readonly stakeEvents?: string;
    readonly stakeTotalView?: readonly StakeView[];
    readonly stakeBalanceView?: readonly StakeView[];
  };
}

/** Compares the indexed balances and their sum with the contract's own, at one block. @throws AuditImpossibleError */
export async function auditNow(
  { database, clock, settings }: AuditContext,
  { wallets, ...request }: AuditRequest,
): Promise<{ readonly result: AuditResult; readonly state: IndexState }> {
  const state = await requireIndex(database);
  const { chainId } = state;
  const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  await pool.verifyChainId(chainId);
  const { contracts, isPartial } = indexedContracts(state);
  const reader = await stakeReader(pool, { chainId, contracts, isPartial }, settings);
  const asked = { ...request, sample: wallets, pace: PACE };
  const result = await auditIndex({ database, reader, ...asked, sleep });
  requireComparison(result, reader);
  return { result, state };
}

export interface LastAudits {
  readonly state: IndexState;
  readonly last: AuditRun | undefined;
  /** The last one that compared, where that was another too. */
  readonly compared: AuditComparison | undefined;
}

/** What the indexer found by itself. @throws AuditImpossibleError where there is no index */
export async function lastAudits(database: Database): Promise<LastAudits> {
  const runs = new AuditRunStore(database);
  return {
    state: await requireIndex(database),
    last: await runs.last(),
    compared: await runs.lastComparison(),
  };
}
