import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type SealOutcome } from '#libs/db';
import { LowmarkError, RetryableError } from '#libs/domain';
import { messageOf } from '#libs/platform';
import { type DaySealer, type DayToSeal, SealSumError } from './day-sealer.js';

export interface SealThreadData {
  /** URL of the indexer's own database connection. */
  readonly url: string;
  readonly stakeSet: string;
  readonly applicationName: string;
}

export type SealReply =
  | { readonly outcome: SealOutcome; readonly failure?: never }
  | { readonly outcome?: never; readonly failure: SealFailure };

interface SealFailure {
  readonly code: string;
  readonly message: string;
  /** If the balances do not add up to the stored total: their sum less the total, in the token's smallest unit. */
  readonly difference?: bigint | undefined;
}

/** A day was not sealed, and nothing of the day was written. */
export class SealFailedError extends RetryableError {
  /** See SealFailure. */
  readonly difference: bigint | undefined;

  constructor(
    readonly day: number,
    { code, message, difference }: SealFailure,
  ) {
    super(code, message);
    this.difference = difference;
  }
}

/** The reply of a thread to its work. Never rejects. */
export async function replyOf(sealer: DaySealer, work: DayToSeal): Promise<SealReply> {
  try {
    return { outcome: await sealer.seal(work) };
  } catch (error) {
    const code = error instanceof LowmarkError ? error.code : 'SEAL_FAILED';
    const difference = error instanceof SealSumError ? error.difference : undefined;
    return { failure: { code, message: messageOf(error), difference } };
  }
}

/** @throws SealFailedError */
export function outcomeOf({ day }: DayToSeal, reply: SealReply): SealOutcome {
  if (reply.failure === undefined) return reply.outcome;
  throw new SealFailedError(day, reply.failure);
}

/**
 * Heap limits of the thread. With the default ones its heap grows by some 150 MB of garbage. Buffers come on top: 70 MB
 * for 5 million wallets.
 */
const HEAP = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 12 };

/** Seals one day at a time, beside the loop. */
export interface DayThread {
  /** @throws SealFailedError */
  seal(work: DayToSeal): Promise<SealOutcome>;
  stop(): Promise<void>;
}

/** @param signal ends the thread, and with it the current transaction */
export type StartDayThread = (data: SealThreadData, signal: AbortSignal) => DayThread;

/** The worker thread of seal.worker.ts. */
export class SealThread implements DayThread {
  private readonly worker: Worker;
  private readonly ended: Promise<SealReply>;

  /** @param signal terminates the thread, and with it the current transaction */
  constructor(
    data: SealThreadData,
    private readonly signal: AbortSignal,
  ) {
    // The name in package.json resolves to the compiled file, even in a test that runs the TypeScript sources.
    this.worker = new Worker(new URL(import.meta.resolve('#seal-worker')), {
      workerData: data,
      resourceLimits: HEAP,
    });
    this.ended = new Promise((resolve) => {
      const end = (message: string): void => {
        resolve({ failure: { code: 'SEAL_THREAD_ENDED', message } });
      };
      this.worker.once('error', (error: unknown) => {
        end(messageOf(error));
      });
      this.worker.once('exit', () => {
        end('The thread that seals days ended');
      });
    });
    signal.addEventListener('abort', this.end, { once: true });
    if (signal.aborted) this.end();
  }

  async seal(work: DayToSeal): Promise<SealOutcome> {
    const answered = once(this.worker, 'message').then(([reply]) => reply as SealReply);
    // `ended` reports an error of the thread; this handler only keeps the rejection from counting as unhandled.
    answered.catch(() => undefined);
    this.worker.postMessage(work);
    const reply = await Promise.race([answered.catch(() => this.ended), this.ended]);
    return outcomeOf(work, reply);
  }

  async stop(): Promise<void> {
    this.signal.removeEventListener('abort', this.end);
    await this.worker.terminate();
  }

  private readonly end = (): void => {
    void this.worker.terminate();
  };
}
