import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type SealOutcome } from '#libs/db';
import { RetryableError } from '#libs/domain';
import { type DayToSeal } from './day-sealer.js';

export interface SealThreadData {
  /** Of the database; the indexer's own. */
  readonly url: string;
  readonly stakeSet: string;
  readonly applicationName: string;
}

export type SealReply =
  | { readonly outcome: SealOutcome; readonly failure?: never }
  | { readonly outcome?: never; readonly failure: { code: string; message: string } };

/** A day that was not sealed; nothing was written of it. */
class SealFailedError extends RetryableError {}

/** What it holds beside flat buffers; those of a million wallets take 350 MB. */
const HEAP_MB = 512;

/** The thread of seal.worker.ts, one day at a time. */
export class SealThread {
  private readonly worker: Worker;
  private readonly ended: Promise<SealReply>;

  /** @param signal ends the thread, and with it the transaction that is under way */
  constructor(
    data: SealThreadData,
    private readonly signal: AbortSignal,
  ) {
    // By its name in package.json, which is the compiled file also for a test that runs the sources.
    this.worker = new Worker(new URL(import.meta.resolve('#seal-worker')), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    this.ended = new Promise((resolve) => {
      const end = (message: string): void => {
        resolve({ failure: { code: 'SEAL_THREAD_ENDED', message } });
      };
      this.worker.once('error', (error: unknown) => {
        end(error instanceof Error ? error.message : String(error));
      });
      this.worker.once('exit', () => {
        end('The thread that seals days ended');
      });
    });
    signal.addEventListener('abort', this.end, { once: true });
    if (signal.aborted) this.end();
  }

  /** @throws SealFailedError */
  async seal(work: DayToSeal): Promise<SealOutcome> {
    const answered = once(this.worker, 'message').then(([reply]) => reply as SealReply);
    // An error of the thread is what `ended` tells.
    answered.catch(() => undefined);
    this.worker.postMessage(work);
    const reply = await Promise.race([answered.catch(() => this.ended), this.ended]);
    if (reply.failure === undefined) return reply.outcome;
    const { code, message } = reply.failure;
    throw new SealFailedError(code, message);
  }

  async stop(): Promise<void> {
    this.signal.removeEventListener('abort', this.end);
    await this.worker.terminate();
  }

  private readonly end = (): void => {
    void this.worker.terminate();
  };
}
