/**
 * One audit of the index, stored in the database and logged. The audit runs slowly, and the index goes on beside it.
 * Wallets that differed the last time are compared again, because a sample without them would look as if the difference
 * had gone.
 */
import { once } from 'node:events';
import { type ChainReader } from '#libs/chain';
import {
  type AuditComparison,
  type AuditRun,
  type AuditRunStore,
  type IndexReader,
} from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Clock, type Logger, sleep } from '#libs/platform';
import { auditIndex, isOfDatabase, requireIndex } from './audit-index.js';
import {
  agrees,
  type AuditResult,
  requireComparedAgain,
  requireComparison,
  sumsAgree,
} from './verdict.js';

const PACE = { batchesAtOnce: 1, pauseMs: 100 };
/** Differing wallets that are stored with both figures (MOST_KEPT), and that are logged (MOST_TOLD), at most. */
const MOST_KEPT = 100;
const MOST_TOLD = 20;

export class NightlyAudit {
  /** @param reader best with endpoints of its own, so that their answers to the audit do not delay the index */
  constructor(
    private readonly index: IndexReader,
    private readonly reader: ChainReader,
    private readonly runs: AuditRunStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * @param lead fencing token and signal of the leader that makes and stores the audit
   * @param sample how many wallets are drawn at random; the sum is always that of all wallets
   * @returns the run as it is stored; `impossible` where nothing could be compared
   * @throws FencedError where this process is not the leader any more, DatabaseUnavailableError, DatabaseRefusedError,
   * or the reason of the signal; nothing is stored then
   */
  async audit(
    { fence, signal }: { readonly fence: bigint; readonly signal: AbortSignal },
    sample: number | 'all',
  ): Promise<AuditRun> {
    const startedAt = new Date(this.clock.nowMs());
    await requireIndex(this.index);
    // When the signal is aborted, a request that hangs is abandoned, because it changes nothing.
    const found = await Promise.race([this.compare(sample, signal), rejectWhenAborted(signal)]);
    signal.throwIfAborted();
    const run: AuditRun = { startedAt, finishedAt: new Date(this.clock.nowMs()), ...found };
    await this.runs.record(fence, run);
    await this.recordFinding(run);
    this.log(run);
    return run;
  }

  /** From now on the api does not answer about what is known to be wrong. */
  private async recordFinding(run: AuditRun): Promise<void> {
    if (run.result !== 'different') return;
    const { different, differences, indexedTotal, contractTotal, sums } = run;
    const isKnown = differences > 0 && differences === different.length;
    const explained = different.reduce((sum, one) => sum + one.indexed - one.contract, 0n);
    const gaps = [
      indexedTotal - (contractTotal ?? indexedTotal),
      sums.closings - sums.stored,
      sums.balances - sums.stored,
    ];
    const areExplained = gaps.every((gap) => gap === 0n || gap === explained);
    const found = isKnown && areExplained ? different.map(({ wallet }) => wallet) : 'all';
    await this.index.recordFinding(found, 'audit');
  }

  private async compare(sample: number | 'all', signal: AbortSignal) {
    const { index, reader, logger } = this;
    try {
      const last = await this.runs.lastComparison();
      const result = await auditIndex({
        index,
        reader,
        block: 'finalised',
        sample,
        always: last?.different.map(({ wallet }) => wallet) ?? [],
        pace: PACE,
        sleep: (ms) => sleep(ms, signal),
        onProgress: (said) => {
          logger.debug({ said }, 'Auditing the index');
        },
        signal,
      });
      requireComparison(result, reader);
      requireComparedAgain(result, last, reader);
      return findingsOf(result, last);
    } catch (error) {
      if (signal.aborted || !(error instanceof LowmarkError) || isOfDatabase(error)) throw error;
      return { result: 'impossible' as const, reason: error.message };
    }
  }

  private log(run: AuditRun): void {
    const { logger } = this;
    if (run.result === 'impossible') {
      logger.warn({ reason: run.reason }, 'The index could not be compared with the contract');
      return;
    }
    const { blockNumber, wallets, compared, differences, indexedTotal, contractTotal, sums } = run;
    const figures = { blockNumber, wallets, compared, differences, indexedTotal, contractTotal };
    if (run.result === 'ok') {
      logger.info(figures, 'The index agrees with the contract');
      return;
    }
    if (!sumsAgree(sums)) {
      const { stored, closings, balances } = sums;
      logger.error(
        { ...sums, closingsMore: closings - stored, balancesMore: balances - stored },
        'The balances of the index do not add up to its stored total; see docs/operating/alerts.md',
      );
    }
    if (differences === 0 && (contractTotal ?? indexedTotal) === indexedTotal) return;
    logger.error(figures, 'The index and the contract differ; see docs/operating/alerts.md');
    for (const { wallet, indexed, contract } of run.different.slice(0, MOST_TOLD)) {
      logger.error(
        { wallet, indexed, contract, blockNumber },
        'A wallet’s balance is not what the contract says',
      );
    }
  }
}

/** @param last whose wallets are still to be compared again where the contract could not be asked */
function findingsOf(
  result: AuditResult,
  last: AuditComparison | undefined,
): Omit<AuditComparison, 'startedAt' | 'finishedAt'> {
  const { block, wallets, compared, total, sums, notAsked } = result;
  const { stored, closings, balances } = sums;
  const differences = notAsked === undefined ? result.differences : (last?.different ?? []);
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
    sums: { stored, closings, balances },
  };
}

async function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason as Error;
}
