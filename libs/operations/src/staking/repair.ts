/**
 * The repair of wrong rows of the index: reads the chain again, compares, repairs in bounded transactions, and tells
 * partners which of their answers were signed with a wrong figure. A repair that was cut short is completed by the next
 * one.
 */
import { LogSource, RpcPool, type StakeEventSpec } from '#libs/chain';
import { MAX_RANGE_BLOCKS } from '#libs/config';
import {
  AuditRunStore,
  clearFindings,
  type Database,
  type Findings,
  type IndexState,
  IndexStore,
  readFindings,
  recordFinding,
  RepairStore,
} from '#libs/db';
import { type BlockRef, PermanentError } from '#libs/domain';
import { type Clock, sleep } from '#libs/platform';
import {
  AuditImpossibleError,
  findWrongWallets,
  indexedContracts,
  readChainHistory,
  requireContractAgrees,
  requireIndex,
  type WrongWallet,
} from '#libs/verification';
import { audited, auditedText, type Operator } from '../audit/audited.js';
import { stakeReader } from './staking.js';
import { type ToldCorrection, tellCorrections } from './tell-corrections.js';

const TIMEOUT_MS = 30_000;
/** Wallets in one transaction. */
const WALLETS_AT_ONCE = 100;
/** The api writes answers to the log of requests within this time. */
const LOG_DELAY_MS = 3000;

export interface RepairContext {
  /** The database of the stake set. */
  readonly database: Database;
  readonly stakeSet: string;
  readonly clock: Clock;
  readonly settings: {
    readonly rpcUrls: string[];
    readonly stakeEvents?: string;
  };
  readonly onProgress: (said: string) => void;
}

export interface RepairPlan {
  readonly state: IndexState;
  /** The final block up to which index and chain were compared. */
  readonly block: BlockRef;
  readonly checked: Findings;
  readonly wrong: readonly WrongWallet[];
  /** The sum of all balances at the end of the block, by the chain. */
  readonly total: bigint;
  /** By how much the stored total is above the sum of the chain. */
  readonly totalOff: bigint;
  /** The sums at the ends of days, by the chain, and how many stored ones differ. */
  readonly dayTotals: ReadonlyMap<number, bigint>;
  readonly wrongDayTotals: number;
}

/** Whether the index agrees with the chain in all that was compared. */
export function isRight({ wrong, totalOff, wrongDayTotals }: RepairPlan): boolean {
  return wrong.length === 0 && totalOff === 0n && wrongDayTotals === 0;
}

/**
 * Reads the chain again and compares it with the index; changes nothing.
 * @param asked wallets, or all; absent: the wallets that a check has found
 * @throws PermanentError NOTHING_FOUND, AuditImpossibleError, EventsInDoubtError, AllEndpointsFailedError
 */
export async function planRepair(
  context: RepairContext,
  asked: Findings | undefined,
): Promise<RepairPlan> {
  const { database, clock, settings, onProgress } = context;
  const state = await requireIndex(new IndexStore(database));
  const checked = asked ?? (await foundByChecks(database));
  const block = finalBlock(state);
  const pool = new RpcPool({ urls: settings.rpcUrls, clock, timeoutMs: TIMEOUT_MS });
  await pool.verifyChainId(state.chainId);
  const { contracts, startBlock = 1n, ...indexed } = indexedContracts(state);
  const events = state.settings['events'] as readonly StakeEventSpec[];
  const history = await readChainHistory({
    source: new LogSource(pool, { contracts, events }),
    range: { from: startBlock, to: block.number },
    wallets: checked === 'all' ? undefined : new Set(checked),
    maxRangeBlocks: MAX_RANGE_BLOCKS,
    onProgress,
  });
  if (history.head?.hash !== block.hash) throw new OtherChainError(block);
  const wrong = await findWrongWallets({ database, history, block, onProgress }, checked);
  const reader = await stakeReader(
    pool,
    { chainId: state.chainId, contracts, isPartial: indexed.isPartial },
    settings,
  );
  const wallets = wrong.map(({ wallet }) => wallet);
  await requireContractAgrees(reader, history, { block, wallets });
  const store = new RepairStore(database);
  const { total, dayTotals } = history;
  const totalOff = await store.totalOff(block, total);
  const wrongDayTotals = await store.wrongDayTotals(block, dayTotals);
  return { state, block, checked, wrong, total, totalOff, dayTotals, wrongDayTotals };
}

class OtherChainError extends PermanentError {
  constructor({ number }: BlockRef) {
    super(
      'FINAL_BLOCK_DIFFERS',
      `The chain has another final block ${number} than the index: compare RPC_URLS with the indexer’s. Nothing was changed.`,
    );
  }
}

/** The wallets that checks have found and those of the last nightly audit. @throws PermanentError NOTHING_FOUND */
async function foundByChecks(database: Database): Promise<Findings> {
  const findings = await readFindings(database);
  if (findings === 'all') return findings;
  const last = await new AuditRunStore(database).lastComparison();
  const wallets = new Set([...findings, ...(last?.different ?? []).map(({ wallet }) => wallet)]);
  if (wallets.size > 0) return [...wallets];
  throw new PermanentError(
    'NOTHING_FOUND',
    'No check has found a wrong wallet. Name wallets with --wallet, or compare all with --all.',
  );
}

function finalBlock({ finalised, head }: IndexState): BlockRef {
  if (finalised === undefined) {
    throw new AuditImpossibleError('No indexed block is final yet: wait for the first sync.');
  }
  return finalised.number > head.number ? head : finalised;
}

export interface RepairDone {
  readonly repaired: number;
  readonly told: readonly ToldCorrection[];
}

/** Tells the partners of earlier repairs that were cut short before. */
export function completeRepairs(context: RepairContext): Promise<ToldCorrection[]> {
  return tellCorrections(context);
}

/**
 * Repairs what `planRepair` found, and tells the partners. The api stops answering about the wallets before the first
 * change.
 * @param reason the operator's words; partners read them
 * @throws IndexChangedError; what was repaired until then stays repaired
 */
export function applyRepair(
  context: RepairContext,
  plan: RepairPlan,
  { operator, reason: given }: { readonly operator: Operator; readonly reason: string },
): Promise<RepairDone> {
  const { database, stakeSet } = context;
  const { actor, command } = operator;
  const reason = auditedText(given);
  const { block, checked, wrong } = plan;
  const note = {
    command,
    arguments: { stakeSet, reason, block: Number(block.number), wallets: wrong.length },
  };
  return audited(database, { actor, ...note }, {}, async () => {
    const wallets = wrong.map(({ wallet }) => wallet);
    await recordFinding(database, wallets, 'repair');
    const store = new RepairStore(database);
    for (let start = 0; start < batchesOf(plan) * WALLETS_AT_ONCE; start += WALLETS_AT_ONCE) {
      const some = wrong.slice(start, start + WALLETS_AT_ONCE);
      await store.repair({
        ...{ block, stakeSet, reason, actor, total: plan.total, dayTotals: plan.dayTotals },
        fingerprint: plan.state.fingerprint,
        correct: new Map(some.map(({ wallet, correct }) => [wallet, correct])),
        note: { ...note, outcome: 'done' },
      });
      context.onProgress(`${start + some.length} of ${wrong.length} wallets repaired`);
    }
    await clearFindings(database, checked);
    await sleep(wrong.length > 0 ? LOG_DELAY_MS : 0);
    return { repaired: wrong.length, told: await tellCorrections(context) };
  });
}

/** One transaction also if only sums are wrong. */
function batchesOf(plan: RepairPlan): number {
  return Math.max(isRight(plan) ? 0 : 1, Math.ceil(plan.wrong.length / WALLETS_AT_ONCE));
}
