import { describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { type AuditComparison, type AuditRun, type AuditRunStore } from '#libs/db';
import { createLogger } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { aBlock } from '#libs/testing/database';
import { type NightlyAudit } from '#libs/verification';
import { type IndexPhase, IndexStatus } from '../health/index-status.js';
import { type IndexerSettings } from '../settings/indexer.env.js';
import { AuditService, isAuditDue } from './audit.service.js';

const HOUR_MS = 3_600_000;
const NOON_MS = Date.parse('2026-11-20T12:00:00Z');

function aRun(atMs: number, result: 'ok' | 'different' = 'ok'): AuditComparison {
  return {
    startedAt: new Date(atMs),
    finishedAt: new Date(atMs),
    result,
    blockNumber: 1n,
    blockHash: aBlock(1).hash,
    wallets: 0,
    compared: 0,
    differences: 0,
    different: [],
    indexedTotal: 0n,
    contractTotal: 0n,
    sums: { stored: 0n, closings: 0n, balances: 0n },
  };
}

/** A service with an audit due since 03:00. `work` decides how its audits end. */
function aService(work: (signal: AbortSignal) => Promise<AuditRun['result']>) {
  const clock = new FakeClock(NOON_MS);
  const leading = new AbortController();
  const status = new IndexStatus();
  status.phase = 'following';
  status.leads({ fence: 1n, signal: leading.signal });
  const seen = { runs: 0, last: undefined as AuditComparison | Error | undefined };
  const audit = {
    audit: async ({ signal }: { readonly signal: AbortSignal }): Promise<AuditRun> => {
      seen.runs++;
      const startedAt = new Date(clock.nowMs());
      const result = await work(signal);
      if (result === 'impossible') {
        return { startedAt, finishedAt: startedAt, result, reason: '' };
      }
      return (seen.last = aRun(startedAt.getTime(), result));
    },
  } as unknown as NightlyAudit;
  const runs = {
    lastComparison: () =>
      seen.last instanceof Error ? Promise.reject(seen.last) : Promise.resolve(seen.last),
  } as Partial<AuditRunStore> as AuditRunStore;
  const settings = { auditHourUtc: 3 } as IndexerSettings;
  const log: string[] = [];
  const destination = {
    write: (line: string) => void log.push((JSON.parse(line) as { msg: string }).msg),
  };
  const logger = createLogger({ app: 'test', destination });
  const service = new AuditService(audit, runs, status, settings, clock, logger);
  return { service, clock, status, leading, seen, log };
}

const ok = (): Promise<'ok'> => Promise.resolve('ok');

describe('AuditService', () => {
  it('audits once a night', async () => {
    const { service, clock, seen } = aService(ok);
    const runs: number[] = [];
    for (let hour = 0; hour < 48; hour++) {
      await service.tick();
      if (seen.runs > runs.length) runs.push(new Date(clock.nowMs()).getUTCHours());
      clock.advance(HOUR_MS);
    }
    expect(runs).toEqual([12, 3, 3]);
  });

  it.each<[string, IndexPhase, boolean]>([
    ['standby', 'standby', false],
    ['another leads, and nobody has noticed', 'following', false],
    ['catching up', 'backfilling', true],
    ['halted', 'halted', true],
  ])('does not while %s', async (_case, phase, leads) => {
    const { service, status, leading, seen } = aService(ok);
    status.phase = phase;
    if (!leads) leading.abort();
    await service.tick();
    leading.abort();
    await service.tick();
    expect(seen.runs).toBe(0);
  });

  it('tries again within the hour where it fails or cannot be made', async () => {
    let work: 'impossible' | Error = 'impossible';
    const { service, clock, seen } = aService(() =>
      work instanceof Error ? Promise.reject(work) : Promise.resolve(work),
    );
    await service.tick();
    work = new Error('the database is away');
    for (let minutes = 0; minutes < 120; minutes += 10) {
      await service.tick();
      clock.advance(10 * 60_000);
    }
    expect(seen.runs).toBe(3);
    seen.last = work;
    clock.advance(HOUR_MS);
    await service.tick();
    expect(seen.runs).toBe(3);
  });

  it('looks at once after a restart where there was a difference, and then nightly again', async () => {
    const { service, clock, seen } = aService(() => Promise.resolve('different'));
    seen.last = aRun(NOON_MS - HOUR_MS, 'different');
    await service.tick();
    expect(seen.runs).toBe(1);
    clock.advance(HOUR_MS);
    await service.tick();
    expect(seen.runs).toBe(1);
  });

  it('is not made twice at a time, and ends with the lead', async () => {
    let began: () => void;
    const beginning = new Promise<void>((resolve) => (began = resolve));
    const { service, leading, seen, log } = aService((signal) => {
      began();
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    });
    const ticks = [service.tick(), service.tick()];
    await beginning;
    leading.abort();
    await Promise.all(ticks);
    expect(seen.runs).toBe(1);
    expect(log).toEqual(['Stopped the audit of the index; the next one begins again']);
  });

  it('is looked up every minute by the schedule, and stops with the application', async () => {
    let began: () => void;
    const beginning = new Promise<void>((resolve) => (began = resolve));
    let isEnded = false;
    const { service, seen } = aService(async (signal) => {
      began();
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      isEnded = true;
      signal.throwIfAborted();
      return 'ok';
    });

    @Module({
      imports: [ScheduleModule.forRoot()],
      providers: [{ provide: AuditService, useFactory: () => service }],
    })
    class Root {}

    const application = await NestFactory.createApplicationContext(Root, { logger: false });
    const jobs = application.get(SchedulerRegistry).getCronJobs();
    expect([...jobs.keys()]).toEqual(['audit']);
    const [first, second] = jobs.get('audit')?.nextDates(2) ?? [];
    expect(second?.diff(first ?? second).as('minutes')).toBe(1);
    void service.tick();
    await beginning;
    await application.close();
    expect(isEnded).toBe(true);
    await service.tick();
    expect(seen.runs).toBe(1);
  });
});

describe('isAuditDue', () => {
  const at = (text: string): number => Date.parse(`2026-11-${text}Z`);

  it.each([
    ['where there was none ever', undefined, '20T12:00:00', true],
    ['from the hour on', '19T03:00:00', '20T03:00:00', true],
    ['not a moment before', '19T03:00:00', '20T02:59:59.999', false],
    ['not twice', '20T03:00:00', '20T03:00:00', false],
    ['not until the next night', '20T03:00:01', '21T02:59:00', false],
    ['later, where it was missed', '19T03:00:00', '20T17:20:00', true],
    ['in the hour, after one that was made up for late', '20T02:50:00', '20T03:00:00', true],
    ['not where the clock went back', '20T03:00:00', '19T23:00:00', false],
  ])('is one %s', (_case, last, now, due) => {
    expect(isAuditDue(3, last === undefined ? undefined : at(last), at(now))).toBe(due);
  });
});
