/**
 * Keeps one index loop running for years: prepares, takes the lead, turns the loop, waits out what passes, stops at what does not.
 *
 * Phases: starting -> standby (another leads) -> backfilling -> following; halted from any of them on an error that only a person
 * can mend. A halted indexer keeps the lead and its health page but writes nothing; a restart tries again from the stored head. One
 * that halted over what providers said asks them again now and then, and goes on where they have been mended.
 */
import { AllEndpointsFailedError } from '#libs/chain';
import { FencedError, type LeaderLock } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { type Clock, type Logger, sleep } from '#libs/platform';
import { type IndexWriter } from '../apply/index-writer.js';
import { type IndexLoop } from '../follow/index-loop.js';
import { type IndexStatus } from '../follow/index-status.js';
import { type IndexerMetrics } from '../health/indexer.metrics.js';
import { backoffMs } from './backoff.js';
import { untilAborted } from './until-aborted.js';

export interface SupervisorOptions {
  /** Nothing done for so long: the loop is taken for stuck and started afresh. */
  readonly stallAfterMs: number;
  /** How often a standby asks for the lead. */
  readonly standbyIntervalMs: number;
  /** The longest wait between two tries. */
  readonly maxBackoffMs: number;
  /** After a halt over events that do not add up: how long until the chain is asked again, as a provider may have been mended. */
  readonly haltedRetryMs: number;
}

export interface SupervisorParts {
  /** What must hold before the first block is read. */
  readonly prepare: () => Promise<void>;
  readonly lock: LeaderLock;
  readonly loop: IndexLoop;
  readonly writer: IndexWriter;
  readonly status: IndexStatus;
  readonly metrics: IndexerMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Findings that rest on the word of one node: believed only when they stand after asking again. */
const TO_CONFIRM = new Set([
  'DEEP_REORGANISATION',
  'EVENTS_IN_DOUBT',
  'NEGATIVE_BALANCE',
  'TOTAL_MISMATCH',
  'WALLET_MISMATCH',
]);
const CONFIRMATIONS = 3;

/** What fails again and again is told once in so long. */
const SAY_EVERY_MS = 60_000;

export class Supervisor {
  private saidAtMs = 0;

  constructor(
    private readonly parts: SupervisorParts,
    private readonly options: SupervisorOptions,
  ) {}

  /** Runs until aborted. @throws PermanentError from `prepare`, and where the stored index cannot be taken over */
  async run(signal: AbortSignal): Promise<void> {
    const { lock, status, logger, prepare } = this.parts;
    await this.retry(prepare, signal);
    while (!signal.aborted) {
      if (!(await this.retry(() => lock.tryAcquire(), signal))) {
        status.phase = 'standby';
        await sleep(this.options.standbyIntervalMs, signal);
        continue;
      }
      logger.info('Leading the index');
      const lost = new AbortController();
      void lock.lost.then((reason) => {
        logger.error({ err: reason }, 'Lost the lead');
        lost.abort(reason);
      });
      const leading = AbortSignal.any([signal, lost.signal]);
      try {
        await this.lead(leading);
      } finally {
        // Whoever works beside the loop ends with it.
        lost.abort();
        await lock.release();
      }
    }
  }

  /** Tries until it works; undefined where the process is to stop first. */
  private async retry<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const stopped = (): boolean => signal.aborted;
    for (let failures = 1; !stopped(); failures++) {
      try {
        return await work();
      } catch (error) {
        if (stopped()) return undefined;
        if (error instanceof PermanentError) throw error;
        await this.waitAfter(error, failures, signal);
      }
    }
    return undefined;
  }

  /** Leads until the lead is lost, the loop is stuck, or the process is to stop. */
  private async lead(leading: AbortSignal): Promise<void> {
    const { status, clock, logger, metrics } = this.parts;
    const stuck = new AbortController();
    status.progressAtMs = clock.nowMs();
    const watchdog = setInterval(() => {
      const idleMs = clock.nowMs() - status.progressAtMs;
      if (status.phase === 'halted' || idleMs < this.options.stallAfterMs) return;
      logger.error({ idleMs }, 'Nothing moved for too long: starting the loop afresh');
      metrics.stalled();
      stuck.abort();
    }, this.options.stallAfterMs / 10);
    const signal = AbortSignal.any([leading, stuck.signal]);
    try {
      // What hangs is left behind: the next lead raises the fence, so it can write nothing any more.
      await Promise.race([this.keepTurning(signal), untilAborted(signal)]);
    } finally {
      clearInterval(watchdog);
      stuck.abort();
    }
  }

  private async keepTurning(signal: AbortSignal): Promise<void> {
    const { loop, writer, status, logger } = this.parts;
    const stopped = (): boolean => signal.aborted;
    let failures = 0;
    let opened = false;
    while (!stopped()) {
      try {
        if (!opened) status.leads({ fence: await writer.open(), signal });
        opened = true;
        const outcome = await loop.turn(signal);
        failures = 0;
        if (outcome === 'level') await sleep(loop.waitMs, signal);
      } catch (error) {
        if (stopped()) return;
        failures++;
        if (error instanceof FencedError) {
          logger.warn('Another indexer took the lead');
          return;
        }
        // Without the fence there is nothing to halt: whoever can take the index over is to have the lock.
        if (error instanceof PermanentError && !opened) throw error;
        if (error instanceof PermanentError && isConfirmed(error, failures)) {
          await this.halt(error);
          if (!TO_CONFIRM.has(error.code)) {
            await untilAborted(signal);
            return;
          }
          await sleep(this.options.haltedRetryMs, signal);
          await this.askAgain(signal);
          continue;
        }
        await this.waitAfter(error, failures, signal);
      }
    }
  }

  /** What halted the index rests on the word of providers: it is looked at again, still halted until the chain is reached. */
  private async askAgain(signal: AbortSignal): Promise<void> {
    const { writer, clock, status, logger } = this.parts;
    if (signal.aborted) return;
    status.progressAtMs = clock.nowMs();
    logger.info('Halted: asking the endpoints again');
    await writer.reload();
  }

  private async waitAfter(error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const { status, clock, logger } = this.parts;
    const { maxBackoffMs } = this.options;
    const askedMs = error instanceof AllEndpointsFailedError ? error.retryAfterMs : 0;
    const waitMs = Math.min(maxBackoffMs, Math.max(askedMs, backoffMs(failures, maxBackoffMs)));
    status.trouble = error instanceof Error ? error.message : String(error);
    status.progressAtMs = clock.nowMs();
    const isNews = failures === 1 || clock.nowMs() - this.saidAtMs >= SAY_EVERY_MS;
    if (isNews) this.saidAtMs = clock.nowMs();
    const line = { err: error, failures, waitMs: Math.round(waitMs) };
    logger[isNews ? 'warn' : 'debug'](line, 'Trying again');
    await sleep(waitMs, signal);
  }

  private async halt(error: PermanentError): Promise<void> {
    const { status, writer, logger, metrics } = this.parts;
    status.phase = 'halted';
    status.trouble = error.message;
    metrics.halted();
    logger.fatal({ err: error, code: error.code }, 'The indexer stopped: nothing more is written');
    try {
      await writer.halt(error.message);
    } catch (cause) {
      logger.error({ err: cause }, 'The reason could not be stored; readers see the lag instead');
    }
  }
}

function isConfirmed(error: PermanentError, failures: number): boolean {
  return !TO_CONFIRM.has(error.code) || failures >= CONFIRMATIONS;
}
