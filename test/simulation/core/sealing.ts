/** The sealing of days beside an indexer's loop. The thread of production is a process of its own here. */
import { tmpdir } from 'node:os';
import { type ChainReader } from '#libs/chain';
import {
  type DayLows,
  type IndexStore,
  type SealedDayStore,
  type SealOutcome,
  type SealWriter,
} from '#libs/db';
import { createKeccak256 } from '#libs/keccak';
import { type Logger, systemClock } from '#libs/platform';
import { Registry } from '#libs/service';
import { type IndexStatus } from '../../../apps/indexer/src/health/index-status.js';
import { type IndexOptions } from '../../../apps/indexer/src/settings/index-options.js';
import { type IndexerSettings } from '../../../apps/indexer/src/settings/indexer.env.js';
import { DaySealer, type DayToSeal } from '../../../apps/indexer/src/seal/day-sealer.js';
import { type ScratchFile, ScratchFolder } from '../../../apps/indexer/src/seal/scratch-file.js';
import { SealMetrics } from '../../../apps/indexer/src/seal/seal.metrics.js';
import { SealService } from '../../../apps/indexer/src/seal/seal.service.js';
import {
  type DayThread,
  outcomeOf,
  replyOf,
  type SealReply,
} from '../../../apps/indexer/src/seal/seal-thread.js';
import { type Scheduler, type SimulatedProcess } from '../kernel/index.js';

const KECCAK = await createKeccak256();
const TICK_MS = 10_000;
const SETTINGS = { sealKeptDays: 2, stakeSet: 'default', databaseUrl: 'postgres://x' };

export interface SealingParts {
  readonly index: IndexStore;
  readonly days: SealedDayStore;
  readonly writer: SealWriter;
  readonly dayLows: DayLows;
  readonly reader: ChainReader;
  readonly status: IndexStatus;
  readonly options: IndexOptions;
  readonly logger: Logger;
  readonly scratch: ScratchFolder;
}

const BLOCK_BYTES = 256;

/** Small blocks, in files that a world closes at its end: a thread that is killed does not. */
export class WorldScratch extends ScratchFolder {
  private readonly files: ScratchFile[] = [];

  constructor() {
    super(tmpdir(), BLOCK_BYTES);
  }

  override open(): ScratchFile {
    const file = super.open();
    this.files.push(file);
    return file;
  }

  close(): void {
    for (const file of this.files) file.close();
  }
}

/** Seals days every ten seconds, as Nest's schedule has it. Call it within the indexer's process. */
export function startSealing(
  { index, days, writer, dayLows, reader, status, options, logger, scratch }: SealingParts,
  scheduler: Scheduler,
  onThread: (thread: SimulatedProcess) => void,
): void {
  const metrics = new SealMetrics(new Registry(), days, logger);
  const settings = SETTINGS as unknown as IndexerSettings;
  const startThread = (_: unknown, signal: AbortSignal): DayThread => {
    const means = { dayLows, writer, keccak: KECCAK, software: 'simulated', folder: scratch };
    const thread = new SimulatedThread(new DaySealer(means), scheduler, signal);
    onThread(thread.process);
    return thread;
  };
  const service = new SealService(
    index,
    days,
    writer,
    reader,
    status,
    settings,
    options,
    metrics,
    systemClock,
    logger,
    startThread,
  );
  setInterval(() => void service.tick(), TICK_MS);
}

class SimulatedThread implements DayThread {
  readonly process: SimulatedProcess;
  private end: (reply: SealReply) => void = () => undefined;
  private readonly ended = new Promise<SealReply>((resolve) => {
    this.end = resolve;
  });

  constructor(
    private readonly sealer: DaySealer,
    private readonly scheduler: Scheduler,
    signal: AbortSignal,
  ) {
    this.process = scheduler.start(`${scheduler.process?.name ?? ''} thread`, () => undefined);
    signal.addEventListener('abort', this.terminate, { once: true });
  }

  async seal(work: DayToSeal): Promise<SealOutcome> {
    const replied = this.scheduler.within(this.process, () => replyOf(this.sealer, work));
    return outcomeOf(work, await Promise.race([replied, this.ended]));
  }

  stop(): Promise<void> {
    this.terminate();
    return Promise.resolve();
  }

  private readonly terminate = (): void => {
    if (!this.process.isAlive) return;
    this.scheduler.kill(this.process);
    this.end({
      failure: { code: 'SEAL_THREAD_ENDED', message: 'The thread that seals days ended' },
    });
  };
}
