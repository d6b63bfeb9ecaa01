/**
 * One audit of the index against the contract, kept in the database and told in the log. It takes its time: the index goes on beside
 * it. Wallets that differed the last time are looked at again, so that a sample which misses them does not pass for a cure.
 */
import {
  agrees,
  AuditImpossibleError,
  auditIndex,
  type AuditResult,
  requireComparison,
} from '#libs/audit';
import { type ChainReader } from '#libs/chain';
import {
  type AuditComparison,
  type AuditRun,
  type AuditRunStore,
  type Database,
  DatabaseRefusedError,
  DatabaseUnavailableError,
  IndexStore,
  type IndexState,
} from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Clock, type Logger, sleep } from '#libs/platform';
import { requireLookedAgain } from './looked-again.js';
import { type Lead } from '../lead/lead.js';
import { untilAborted } from '../lead/until-aborted.js';

export interface NightlyAuditParts {
  readonly database: Database;
  /** Best with endpoints of its own: what they say to the audit must not hold up the index. */
  readonly reader: Pick<
    ChainReader,
    | 'verifyChainId'
    | 'headers'
    | 'stakeBalances'
    | 'stakeTotal'
    | 'hasBalances'
    | 'hasTotal'
    | 'wantsBalances'
    | 'wantsTotal'
    | 'endpoints'
  >;
  readonly runs: Pick<AuditRunStore, 'record' | 'lastComparison'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PACE = { batchesAtOnce: 1, pauseMs: 100 };
/** Wallets that differ: kept with both figures, and told in the log. */
const MOST_KEPT = 100;
const MOST_TOLD = 20;

export class NightlyAudit {
  constructor(
    private readonly parts: NightlyAuditParts,
    /** How many wallets are drawn at random; the sum is that of all. */
    private readonly sample: number | 'all',
  ) {}

  /**
   * @param lead that it is made and kept under
   * @returns the run as it is kept; `impossible` where nothing could be compared
   * @throws FencedError where this process does not lead any more, DatabaseUnavailableError, DatabaseRefusedError, or the
   * reason of the signal; nothing is kept then
   */
  async run({ fence, signal }: Lead): Promise<AuditRun> {
    const { database, runs, clock } = this.parts;
    const startedAt = new Date(clock.nowMs());
    const state = await new IndexStore(database).state();
    if (state === undefined) throw new AuditImpossibleError('There is no index yet.');
    // A question that hangs is left behind: it changes nothing.
    const found = await Promise.race([this.look(state, signal), untilAborted(signal)]);
    signal.throwIfAborted();
    if (found === undefined) throw new Error('The audit found nothing and was not ended');
    const run: AuditRun = { startedAt, finishedAt: new Date(clock.nowMs()), ...found };
    await runs.record(fence, run);
    this.tell(run);
    return run;
  }

  private async look(state: IndexState, signal: AbortSignal) {
    const { database, reader, runs, logger } = this.parts;
    try {
      await reader.verifyChainId(state.chainId);
      const last = await runs.lastComparison();
      const result = await auditIndex({
        database,
        reader,
        block: 'finalised',
        sample: this.sample,
        always: last?.different.map(({ wallet }) => wallet) ?? [],
        pace: PACE,
        sleep: (ms) => sleep(ms, signal),
        onProgress: (said) => {
          logger.debug({ said }, 'Auditing the index');
        },
        signal,
      });
      requireComparison(result, reader);
      requireLookedAgain(result, last, reader);
      return findingsOf(result);
    } catch (error) {
      if (signal.aborted || !(error instanceof LowmarkError) || isOfDatabase(error)) throw error;
      return { result: 'impossible' as const, reason: error.message };
    }
  }

  private tell(run: AuditRun): void {
    const { logger } = this.parts;
    if (run.result === 'impossible') {
      logger.warn({ reason: run.reason }, 'The index could not be compared with the contract');
      return;
    }
    const { blockNumber, wallets, compared, differences, indexedTotal, contractTotal } = run;
    const figures = { blockNumber, wallets, compared, differences, indexedTotal, contractTotal };
    if (run.result === 'ok') {
      logger.info(figures, 'The index agrees with the contract');
      return;
    }
    logger.error(figures, 'The index and the contract differ; see docs/operating/alerts.md');
    for (const { wallet, indexed, contract } of run.different.slice(0, MOST_TOLD)) {
      logger.error(
        { wallet, indexed, contract, blockNumber },
        'A wallet’s balance is not what the contract says',
      );
    }
  }
}

function findingsOf(result: AuditResult): Omit<AuditComparison, 'startedAt' | 'finishedAt'> {
  const { block, wallets, compared, differences, total } = result;
  return {
    result: agrees(result) ? 'ok' : 'different',
    blockNumber: block.number,
    blockHash: block.hash,
    wallets,
    compared,
    differences: differences.length,
    different: differences.slice(0, MOST_KEPT),
    indexedTotal: total.indexed,
    contractTotal: total.contract,
  };
}

function isOfDatabase(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || error instanceof DatabaseRefusedError;
}
