import { ChainReader, RpcPool } from '#libs/chain';
import { type Database, IndexStore, SealedDayStore, SealedListStore, SealWriter } from '#libs/db';
import { systemClock } from '#libs/platform';
import { createLogger, Registry } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { type IndexStatus } from '../src/health/index-status.js';
import { type IndexOptions } from '../src/settings/index-options.js';
import { type IndexerSettings } from '../src/settings/indexer.env.js';
import { SealMetrics } from '../src/seal/seal.metrics.js';
import { SealService } from '../src/seal/seal.service.js';
import { SealThread } from '../src/seal/seal-thread.js';
import { NOON_MS } from './audit-bench.js';

export interface SealBenchOptions {
  readonly database: Database;
  /** URL for the indexer's database user. */
  readonly databaseUrl: string;
  readonly rpcUrls: readonly string[];
  readonly firstBlock: bigint;
  readonly status: IndexStatus;
  readonly keptDays?: number;
  /** Runs before the node answers the question of this number, from 1 on. */
  readonly hook?: (question: number) => unknown;
  /** How much later than it is the node dates the first block. */
  readonly firstBlockLateSeconds?: number;
}

/** Sealing of days beside an index. Each bench stands for a process of its own. */
export class SealBench {
  readonly log: { level: string; msg: string; [field: string]: unknown }[] = [];
  readonly clock = new FakeClock(NOON_MS);
  readonly days: SealedDayStore;
  readonly lists: SealedListStore;
  readonly service: SealService;
  private readonly registry = new Registry();
  private readonly status: IndexStatus;

  constructor({ database, ...options }: SealBenchOptions) {
    this.status = options.status;
    const { databaseUrl, status, firstBlock, keptDays = 35 } = options;
    const destination = {
      write: (line: string) => void this.log.push(JSON.parse(line) as SealBench['log'][number]),
    };
    const logger = createLogger({ app: 'test', destination });
    this.days = new SealedDayStore(database);
    this.lists = new SealedListStore(database);
    this.service = new SealService(
      new IndexStore(database),
      this.days,
      new SealWriter(database),
      this.reader(options),
      status,
      { databaseUrl, stakeSet: 'default', sealKeptDays: keptDays } as IndexerSettings,
      { firstBlock } as IndexOptions,
      new SealMetrics(this.registry, this.days, logger),
      this.clock,
      logger,
      (data, signal) => new SealThread(data, signal),
    );
  }

  private reader(options: Omit<SealBenchOptions, 'database'>): ChainReader {
    const { rpcUrls, hook, firstBlock, firstBlockLateSeconds = 0 } = options;
    let questions = 0;
    const reader = new ChainReader(new RpcPool({ urls: rpcUrls, clock: systemClock }));
    const ask = reader.headers.bind(reader);
    reader.headers = async (...question) => {
      await hook?.(++questions);
      const headers = await ask(...question);
      return headers.map((header) =>
        header?.number === firstBlock
          ? { ...header, timestampSeconds: header.timestampSeconds + firstBlockLateSeconds }
          : header,
      );
    };
    return reader;
  }

  get isLeading(): boolean {
    return this.status.lead !== undefined;
  }

  /** How often a run ended because the lead was lost. */
  get stops(): number {
    return this.messages().filter((message) => message.startsWith('Stopped sealing')).length;
  }

  messages(): string[] {
    return this.log.map(({ msg }) => msg);
  }

  async metrics(): Promise<string[]> {
    const text = await this.registry.metrics();
    return text.split('\n').filter((line) => line.startsWith('lowmark_'));
  }
}
