/**
 * Keeps one index loop running without end: prepares the index, takes the lead, runs the loop's turns, retries after
 * temporary failures and halts on permanent ones.
 *
 * Phases: starting -> standby (another process leads) -> backfilling -> following; halted from any of them on an error
 * that an operator must correct. A halted indexer keeps the lead and its health page but writes nothing; a restart
 * tries again from the stored head. After a halt caused by the providers' answers, the endpoints are asked again at
 * intervals, and the index continues once their answers agree.
 */
import { once } from 'node:events';
import { AllEndpointsFailedError, isEndpointLeftOut, unlessRpcFails } from '#libs/chain';
import {
  DatabaseUnavailableError,
  FencedError,
  type IndexStore,
  type LeaderLock,
  WrongStateError,
} from '#libs/db';
import { PermanentError, RetryableError } from '#libs/domain';
import { type Clock, type Logger, messageOf, sleep } from '#libs/platform';
import { type IndexLoop, type Turn } from './index-loop.js';
import { type IndexStatus } from '../health/index-status.js';
import { Failures, FINDINGS } from './failures.js';
import { type IndexOptions } from '../settings/index-options.js';
import { type IndexPreparation } from '../setup/index-preparation.js';
import { IndexWriter } from '../write/index-writer.js';

/** Shortest time between two warnings about repeated failures. */
const LOG_EVERY_MS = 60_000;
const FIRST_BACKOFF_MS = 250;
/**
 * Longest backoff while the database is unavailable. A failover takes seconds, and another indexer may be trying to
 * take the lead as well.
 */
const DATABASE_BACKOFF_MS = 2000;

export class Supervisor {
  private loggedAtMs = 0;

  constructor(
    private readonly preparation: IndexPreparation,
    private readonly lock: LeaderLock,
    private readonly loop: IndexLoop,
    private readonly store: IndexStore,
    private readonly status: IndexStatus,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IndexOptions,
  ) {}

  /**
   * Runs until `signal` aborts.
   * @throws PermanentError where a setting is wrong, or the stored index cannot be taken over
   */
  async keepIndex(signal: AbortSignal): Promise<void> {
    const { lock, status, logger } = this;
    await this.retry(() => this.preparation.prepare(), signal);
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
        // Ends the work beside the loop together with the lead.
        lost.abort();
        await lock.release();
      }
    }
  }

  /**
   * Retries until `work` succeeds. Undefined where `signal` aborts first.
   * @throws PermanentError; one that rests on the nodes' answers only when it was confirmed
   */
  private async retry<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const failures = new Failures();
    const stopped = (): boolean => signal.aborted;
    while (!stopped()) {
      try {
        return await work();
      } catch (error) {
        if (stopped()) return undefined;
        failures.add(error);
        if (error instanceof PermanentError && failures.isConfirmed(error)) throw error;
        await this.waitAfter(error, failures.inARow, signal);
      }
    }
    return undefined;
  }

  /** Leads until the lead is lost, the loop is stuck, or the process is to stop. */
  private async lead(leading: AbortSignal): Promise<void> {
    const { status, clock, logger } = this;
    const stuck = new AbortController();
    status.progressAtMs = clock.nowMs();
    const watchdog = setInterval(() => {
      const idleMs = clock.nowMs() - status.progressAtMs;
      const patienceMs = Math.max(this.options.stallAfterMs, status.longWork?.withinMs ?? 0);
      if (status.phase === 'halted' || idleMs < patienceMs) return;
      logger.error({ idleMs }, 'Nothing moved for too long: starting the loop afresh');
      stuck.abort();
    }, this.options.stallAfterMs / 10);
    const signal = AbortSignal.any([leading, stuck.signal]);
    try {
      // A turn that hangs is abandoned together with its writer. The next lead has another writer with a newer fencing
      // token.
      await Promise.race([this.keepTurning(signal), untilAborted(signal)]);
    } finally {
      clearInterval(watchdog);
      stuck.abort();
    }
  }

  private async keepTurning(signal: AbortSignal): Promise<void> {
    const failures = new Failures();
    let writer: IndexWriter | undefined;
    let last: Turn | undefined;
    while (!isOver(signal)) {
      try {
        writer ??= await this.takeLead(signal);
        last = await this.loop.turn(writer, last?.outcome);
        failures.clear();
        if (last.waitMs > 0) await sleep(last.waitMs, signal);
      } catch (thrown) {
        if (isOver(signal)) return;
        last = undefined;
        const error = writer?.isOpen === true ? await this.chosenAfter(thrown, writer) : thrown;
        if (error instanceof FencedError) {
          this.logger.warn('Another indexer took the lead');
          return;
        }
        failures.add(error);
        if (error instanceof WrongStateError) await this.recordWrong(error);
        const isPermanent = error instanceof PermanentError;
        // Without a fencing token this process cannot store a halt, and another process may be able to take over the
        // index.
        if (isPermanent && writer === undefined) throw error;
        if (isPermanent && writer !== undefined && failures.isConfirmed(error)) {
          if (!(await this.halt(writer, error))) return;
        } else await this.waitAfter(error, failures.inARow, signal);
      }
    }
  }

  /**
   * Chooses again what vouches for events, if the error is a reason for it.
   * @returns the error, or why nothing now vouches for events
   */
  private async chosenAfter(error: unknown, { stored }: IndexWriter): Promise<unknown> {
    const { preparation } = this;
    const isUnverified = error instanceof RetryableError && error.code === 'UNVERIFIED_HEAD';
    const past = stored.finalised ?? stored.head;
    try {
      if (isEndpointLeftOut(error)) await unlessRpcFails(preparation.chooseAgain(past));
      else if (isUnverified) await unlessRpcFails(preparation.chooseAgainWithoutTotal(past));
      return error;
    } catch (reason) {
      return reason;
    }
  }

  /** From now on the api does not answer about the wallet. */
  private async recordWrong({ wallet }: WrongStateError): Promise<void> {
    try {
      await this.store.recordFinding([wallet], 'commit');
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      this.logger.error({ err: error, wallet }, 'The wrong wallet could not be recorded');
    }
  }

  private async takeLead(signal: AbortSignal): Promise<IndexWriter> {
    const writer = await IndexWriter.takeLead(this.store, this.options, signal);
    signal.throwIfAborted();
    this.status.leads({ fence: writer.fence, signal });
    return writer;
  }

  /**
   * Stops writing. If the cause is what the providers answer, the index is read again from time to time; the phase stays
   * `halted` until the index is level with the chain. Otherwise the halt lasts until the process ends.
   * @returns false if another process leads by now: what an earlier leader finds says nothing about the index
   */
  private async halt(writer: IndexWriter, error: PermanentError): Promise<boolean> {
    const { status, clock, logger, loop } = this;
    const { signal } = writer;
    status.phase = 'halted';
    status.trouble = error.message;
    logger.fatal({ err: error, code: error.code }, 'The indexer stopped: nothing more is written');
    try {
      await this.retry(() => writer.halt(error.message), signal);
    } catch (cause) {
      if (cause instanceof FencedError) {
        logger.warn('Another indexer took the lead');
        return false;
      }
      logger.error({ err: cause }, 'The reason could not be stored; readers see the lag instead');
    }
    // A write that had to be retried has reported its own trouble.
    status.trouble = error.message;
    if (!FINDINGS.has(error.code)) await untilAborted(signal);
    await sleep(this.options.haltedRetryMs, signal);
    if (isOver(signal)) return true;
    status.progressAtMs = clock.nowMs();
    logger.info('Halted: asking the endpoints again');
    await loop.startAfresh(writer);
    return true;
  }

  private async waitAfter(error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const { status, clock, logger } = this;
    const isDatabase = error instanceof DatabaseUnavailableError;
    const mostMs = this.options.maxBackoffMs;
    const maxBackoffMs = isDatabase ? Math.min(mostMs, DATABASE_BACKOFF_MS) : mostMs;
    const askedMs = error instanceof AllEndpointsFailedError ? error.retryAfterMs : 0;
    const waitMs = Math.min(maxBackoffMs, Math.max(askedMs, backoffMs(failures, maxBackoffMs)));
    status.trouble = messageOf(error);
    status.progressAtMs = clock.nowMs();
    const isNews = failures === 1 || clock.nowMs() - this.loggedAtMs >= LOG_EVERY_MS;
    if (isNews) this.loggedAtMs = clock.nowMs();
    const line = { err: error, failures, waitMs: Math.round(waitMs) };
    logger[isNews ? 'warn' : 'debug'](line, 'Trying again');
    await sleep(waitMs, signal);
  }
}

/** Backoff after `failures` failures in a row: exponential, with jitter over the upper half. */
function backoffMs(failures: number, maxMs: number): number {
  const full = Math.min(maxMs, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (Math.random() * full) / 2;
}

/** A function, since the compiler takes a property that was read once for unchanged. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
