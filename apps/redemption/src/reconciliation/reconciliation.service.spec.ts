import { describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type LastRun, type ReconciliationStore } from '#libs/db';
import { createLogger, Registry } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { type ChainLink } from '../chain/chain-link.js';
import { ReconciliationMetrics } from './reconciliation.metrics.js';
import { type Reconciler } from './reconciler.js';
import { ReconciliationService } from './reconciliation.service.js';

const NOW_MS = 1_760_000_000_000;
const HOUR_MS = 3_600_000;
const logger = createLogger({ app: 'test', level: 'silent' });

function aRun(change: Partial<LastRun> = {}): LastRun {
  const at = new Date(NOW_MS);
  const sum = { count: 0, tokens: 0n };
  return {
    at,
    ledgers: [],
    chain: sum,
    ledger: sum,
    differences: [],
    isOutdated: false,
    ...change,
  };
}

/** @returns the service, and the number of its runs */
function aService(
  last: LastRun | Error | undefined,
  work: (signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
) {
  const count = { runs: 0 };
  const reconciler = {
    reconcile: async (signal: AbortSignal) => {
      count.runs++;
      await work(signal);
      return [];
    },
  };
  const store = {
    lastRun: () => (last instanceof Error ? Promise.reject(last) : Promise.resolve(last)),
  };
  const service = new ReconciliationService(
    reconciler as unknown as Reconciler,
    store as ReconciliationStore,
    new FakeClock(NOW_MS),
    logger,
  );
  return { count, service };
}

describe('ReconciliationService', () => {
  const youngest = new Date(NOW_MS - 25 * HOUR_MS);

  it.each([
    ['where none was ever made', undefined, 1],
    ['where the last one is older than 25 hours', aRun({ at: new Date(+youngest - 1) }), 1],
    ['where a finding was acknowledged since', aRun({ isOutdated: true }), 1],
    ['not where it is younger', aRun({ at: youngest }), 0],
  ])('makes up for a missed run %s', async (_case, last, runs) => {
    const { count, service } = aService(last);
    await service.catchUp();
    expect(count.runs).toBe(runs);
  });

  it('runs daily however young the last run is, and never twice at the same time', async () => {
    const { count, service } = aService(aRun());
    await Promise.all([service.daily(), service.daily()]);
    expect(count.runs).toBe(1);
    await service.daily();
    expect(count.runs).toBe(2);
  });

  it('survives a run that fails, and a database that does not answer', async () => {
    const failing = aService(undefined, () => Promise.reject(new Error('the node is away')));
    await failing.service.daily();
    await failing.service.daily();
    expect(failing.count.runs).toBe(2);
    const silent = aService(new Error('the database is away'));
    await silent.service.catchUp();
    expect(silent.count.runs).toBe(0);
  });

  it('begins with the process, by the schedule after that, and stops with it', async () => {
    let began: () => void;
    const beginning = new Promise<void>((resolve) => (began = resolve));
    let isEnded = false;
    const { count, service } = aService(undefined, async (signal) => {
      began();
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      isEnded = true;
      signal.throwIfAborted();
    });

    @Module({
      imports: [ScheduleModule.forRoot()],
      providers: [{ provide: ReconciliationService, useFactory: () => service }],
    })
    class Root {}

    const application = await NestFactory.createApplicationContext(Root, { logger: false });
    const jobs = application.get(SchedulerRegistry).getCronJobs();
    expect([...jobs.keys()]).toEqual(['reconciliation', 'reconciliation-missed']);
    expect(jobs.get('reconciliation')?.nextDate().toUTC().toFormat('HH:mm')).toBe('00:20');
    await beginning;
    await application.close();
    expect(isEnded).toBe(true);
    await service.daily();
    expect(count.runs).toBe(1);
  });
});

describe('the metrics of the reconciliation', () => {
  async function lines(lastRun: () => Promise<LastRun | undefined>): Promise<string[]> {
    const registry = new Registry();
    const store = { lastRun } as ReconciliationStore;
    new ReconciliationMetrics(registry, store, { tokenDecimals: 2 } as ChainLink, logger);
    // Two scrapes at once share one read of the database.
    const [text] = await Promise.all([registry.metrics(), registry.metrics()]);
    return text.split('\n').filter((line) => line.startsWith('lowmark_'));
  }

  it('tell the time, the sums and the differences of the last run', async () => {
    const difference = { kind: 'sums-differ', severity: 'critical', text: '' } as const;
    const run = aRun({
      chain: { count: 2, tokens: 350n },
      ledger: { count: 1, tokens: 100n },
      differences: [difference, difference],
    });
    expect(await lines(() => Promise.resolve(run))).toEqual([
      'lowmark_reconciliation_last_success_timestamp_seconds 1760000000',
      'lowmark_reconciliation_differences{kind="any",severity="critical"} 2',
      'lowmark_reconciliation_differences{kind="sums-differ",severity="critical"} 2',
      'lowmark_reconciliation_tokens{side="chain"} 3.5',
      'lowmark_reconciliation_tokens{side="ledger"} 1',
    ]);
  });

  it('tell where there was never a run, with a zero for the alert rule, and say nothing while the database is away', async () => {
    expect(await lines(() => Promise.resolve(undefined))).toEqual([
      'lowmark_reconciliation_last_success_timestamp_seconds 0',
      'lowmark_reconciliation_differences{kind="any",severity="critical"} 0',
    ]);
    expect(await lines(() => Promise.reject(new Error('away')))).toEqual([]);
  });
});
