/** Comparisons of the index with the contract: on demand, and those of the indexer's own audits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainReader, RpcPool } from '#libs/chain';
import {
  type AuditComparison,
  type AuditRun,
  AuditRunStore,
  type Database,
  type IndexState,
  IndexStore,
} from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { type Clock, type Logger } from '#libs/platform';
import {
  AuditImpossibleError,
  auditIndex,
  type AuditResult,
  BalanceAudit,
  indexedContracts,
  requireComparison,
  requireIndex,
} from '#libs/verification';
import { stakeReader } from './staking.js';

const TIMEOUT_MS = 15_000;
/** Without pauses, since a person waits for the result. */
const PACE = { batchesAtOnce: 4, pauseMs: 0 };

export interface AuditRequest {
  /** The number of a final block, or the newest final block. */
  readonly block: bigint | 'finalised';
  /** How many wallets to compare, drawn at random. */
  readonly wallets: number | 'all';
  /** Wallets that are compared in addition to the random ones. */
  readonly always?: readonly Address[];
  readonly onProgress: (said: string) => void;
}

interface AuditContext {
  /** The database of the stake set. */
  readonly database: Database;
  readonly clock: Clock;
  readonly settings: {
    readonly rpcUrls: string[];
    readonly stakeEvents?: string;
  };
}

/**
 * Compares the sums of the index with its stored total, and the indexed balances and their sum with the contract, at one
 * block. @throws AuditImpossibleError
 */
export async function auditNow(
  context: AuditContext,
  { wallets, ...request }: AuditRequest,
): Promise<{ readonly result: AuditResult; readonly state: IndexState }> {
  const index = new IndexStore(context.database);
  const state = await requireIndex(index);
  const reader = await readerOf(state, context);
  const asked = { ...request, sample: wallets, pace: PACE };
  const result = await auditIndex({ index, reader, ...asked, sleep });
  requireComparison(result, reader);
  return { result, state };
}

export interface WalletAudit {
  /** A final block. */
  readonly block: BlockRef;
  /** In the token's smallest unit, as is `contract`. */
  readonly indexed: bigint;
  readonly contract: bigint;
  readonly state: IndexState;
}

/**
 * Compares the indexed balance of one wallet with the contract, at the newest final block. A difference counts
 * only if a second provider, where one answers, reports it too.
 * @throws AuditImpossibleError, AllEndpointsFailedError
 */
export async function auditWallet(
  { logger, ...context }: AuditContext & { readonly logger: Logger },
  wallet: Address,
): Promise<WalletAudit> {
  const store = new IndexStore(context.database);
  const state = await requireIndex(store);
  const { finalised, head } = state;
  if (finalised === undefined) {
    throw new AuditImpossibleError('No indexed block is final yet: wait for the first sync.');
  }
  const block = finalised.number > head.number ? head : finalised;
  const reader = await readerOf(state, context);
  await reader.verifyChainId(state.chainId);
  if (!reader.hasBalances) {
    throw new AuditImpossibleError(
      'The contract tells no balances: set balanceView in STAKE_EVENTS to what it has.',
    );
  }
  const [indexed = 0n] = await store.balancesAt([wallet], block.number);
  const audit = new BalanceAudit(reader, logger);
  const { differences, isComplete } = await audit.compare([{ wallet, balance: indexed }], block);
  if (!isComplete) {
    throw new AuditImpossibleError(
      `No endpoint has the state of block ${block.number}: add an archive endpoint to RPC_URLS, or try again at a newer block.`,
    );
  }
  return { block, indexed, contract: differences[0]?.contract ?? indexed, state };
}

/** A reader of the contracts that the index covers. */
async function readerOf(
  state: IndexState,
  { clock, settings }: AuditContext,
): Promise<ChainReader> {
  const { chainId } = state;
  const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  return stakeReader(pool, { chainId, ...indexedContracts(state) }, settings);
}

export interface LastAudits {
  readonly state: IndexState;
  readonly last: AuditRun | undefined;
  /** The last run that could compare; `last` itself, where that run could. */
  readonly compared: AuditComparison | undefined;
}

/** The results of the indexer's own audits. @throws AuditImpossibleError where there is no index */
export async function lastAudits(database: Database): Promise<LastAudits> {
  const runs = new AuditRunStore(database);
  return {
    state: await requireIndex(new IndexStore(database)),
    last: await runs.last(),
    compared: await runs.lastComparison(),
  };
}
