import { ChainReader, RpcPool, type StakeView } from '#libs/chain';
import { AuditRunStore, type Database, IndexStore } from '#libs/db';
import { type Address } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { createLogger, Registry } from '#libs/service';
import { type TestChain } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { NightlyAudit } from '#libs/verification';
import { AuditMetrics } from '../src/audit/audit.metrics.js';
import { AuditService } from '../src/audit/audit.service.js';
import { type IndexerSettings } from '../src/settings/indexer.env.js';
import { type IndexerUnderTest } from './harness.js';
import { type IndexerSuite } from './suite.js';

/** Start of a bench's clock; Unix time in milliseconds. */
export const NOON_MS = Date.parse('2026-11-20T12:00:00Z');

export interface AuditBenchOptions {
  readonly sample?: number | 'all';
  /** Default: the URL of the chain. */
  readonly urls?: readonly string[];
  readonly balanceView?: readonly StakeView[];
}

/**
 * The nightly audit of all wallets, or of a sample, beside an indexer under test. Each call of `of` stands for a
 * process of its own.
 */
export class AuditBench {
  readonly log: { level: string; msg: string; [field: string]: unknown }[] = [];
  readonly clock = new FakeClock(NOON_MS);
  readonly runs: AuditRunStore;
  readonly service: AuditService;

  private constructor(
    readonly database: Database,
    suite: IndexerSuite,
    { status }: IndexerUnderTest,
    { sample = 'all', ...options }: AuditBenchOptions,
  ) {
    const logger = createLogger({
      app: 'test',
      destination: {
        write: (line) => void this.log.push(JSON.parse(line) as AuditBench['log'][number]),
      },
    });
    const { clock } = this;
    const runs = (this.runs = new AuditRunStore(database));
    const reader = this.reader(suite.chain, options);
    const audit = new NightlyAudit(new IndexStore(database), reader, runs, clock, logger);
    const settings = { auditHourUtc: 3, auditSample: sample } as IndexerSettings;
    this.service = new AuditService(audit, runs, status, settings, clock, logger);
  }

  static async of(
    suite: IndexerSuite,
    indexer: IndexerUnderTest,
    options: AuditBenchOptions = {},
  ): Promise<AuditBench> {
    return new AuditBench(await suite.database.open(), suite, indexer, options);
  }

  private reader(
    { contracts, rpc }: TestChain,
    { urls = [rpc.url], balanceView }: AuditBenchOptions,
  ): ChainReader {
    const pool = new RpcPool({ urls, clock: systemClock });
    const views = balanceView === undefined ? {} : { balanceView };
    return new ChainReader(pool, { contracts: [contracts.staking], ...views });
  }

  /** Changes a wallet's stored balance without the indexer's knowledge. */
  async tamper(wallet: Address, balance: bigint): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query('ALTER TABLE staking.balance_change DISABLE TRIGGER edited');
      await client.query('UPDATE staking.balance_change SET balance = $2 WHERE wallet = $1', [
        Buffer.from(wallet.slice(2), 'hex'),
        balance,
      ]);
      await client.query('ALTER TABLE staking.balance_change ENABLE TRIGGER edited');
    });
  }

  /** Changes a wallet's stored closings without the indexer's knowledge. */
  async tamperClosing(wallet: Address, by: bigint): Promise<void> {
    await this.database.query(
      { text: 'UPDATE staking.balance_day SET closing = closing + $2 WHERE wallet = $1' },
      [Buffer.from(wallet.slice(2), 'hex'), by],
    );
  }

  async count(): Promise<number> {
    const text = 'SELECT count(*)::int AS count FROM staking.audit_run';
    const [row] = await this.database.query<{ count: number }>({ text });
    return row?.count ?? 0;
  }

  async metrics(): Promise<string[]> {
    const registry = new Registry();
    const logger = createLogger({ app: 'test', level: 'silent' });
    new AuditMetrics(registry, this.runs, new IndexStore(this.database), logger);
    const text = await registry.metrics();
    return text.split('\n').filter((line) => line.startsWith('lowmark_'));
  }

  errors(): AuditBench['log'] {
    return this.log.filter(({ level }) => level === 'error');
  }
}
