import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type ConformanceOutcome, ConformanceRunStore, RedemptionViews } from '#libs/db';
import {
  type ConformanceOptions,
  type Progress,
  runConformance,
} from '#libs/partner-sdk/conformance';
import { type Logger, messageOf } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { type ConsoleMember } from '../auth/audience.js';
import { type ConformanceDto } from './conformance.dto.js';
import { OpenDeductions } from './open-deductions.js';
import { memberActor } from './own-rows.js';
import { PartnerEndpoints } from './partner-endpoints.js';

/** A run begins no new check after this time. Points that it deducted are still given back. */
const MAX_RUN_MS = 120_000;
/** Maximum points of one deduction. A player who has more is not a test player. */
const MAX_POINTS = 1000;
/** Maximum number of runs of all partners together in this process. */
const MOST_AT_ONCE = 3;
/** Time for giving points back while the console stops. */
const SHUTDOWN_MS = 10_000;
const PROGRESS_MS = 1000;

interface Run {
  readonly id: string;
  readonly abort: AbortController;
  progress: Progress;
  /** Undefined until the run has its row. */
  done?: Promise<void>;
}

/**
 * Tests the endpoints of partners, one run at a time for each. The console that was asked makes the run and writes it
 * into its row, which any console reads.
 */
@Injectable()
export class ConformanceService implements OnApplicationShutdown {
  private readonly running = new Set<Run>();

  constructor(
    private readonly endpoints: PartnerEndpoints,
    private readonly deductions: OpenDeductions,
    private readonly store: ConformanceRunStore,
    private readonly views: RedemptionViews,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws HttpProblem 404 CALLBACK_MISSING, 409 RUN_UNDER_WAY or CALLBACK_REFUSED, 429 */
  async start(member: ConsoleMember, wish: ConformanceDto): Promise<void> {
    const { partnerId } = member;
    const { target, hasConfirm } = await this.endpoints.find(partnerId);
    if (this.running.size >= MOST_AT_ONCE) throw HttpProblem.tooManyRequests(30);
    const { address, mayClaim, emptyAddress } = wish;
    const run = newRun();
    this.running.add(run);
    try {
      const { id, progress } = run;
      const row = { id, partnerId, baseUrl: target.baseUrl, address, progress };
      if (!(await this.store.begin(row))) {
        const message = 'A run is under way: wait for its end, or stop it.';
        throw new HttpProblem(409, message, { code: 'RUN_UNDER_WAY' });
      }
      run.done = this.perform(run, member, {
        ...{ ...target, address, mayClaim, hasConfirm },
        ...(emptyAddress !== undefined && { emptyAddress }),
      });
    } finally {
      if (run.done === undefined) this.running.delete(run);
    }
  }

  /** Ends the current run early, if there is one, at whatever console. Deducted points are given back first. */
  async stop({ partnerId }: ConsoleMember): Promise<void> {
    await this.store.requestStop(partnerId);
  }

  @Interval('note-conformance-progress', PROGRESS_MS)
  async noteProgress(): Promise<void> {
    const begun = [...this.running].filter(({ done }) => done !== undefined);
    await Promise.all(
      begun.map(async ({ id, progress, abort }) => {
        try {
          if (await this.store.noteProgress(id, progress)) abort.abort();
        } catch (error) {
          const reason = messageOf(error);
          this.logger.warn({ reason }, 'The progress of a conformance run could not be noted');
        }
      }),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    const open = [...this.running];
    for (const { abort } of open) abort.abort();
    const late = new Promise<void>((resolve) => setTimeout(resolve, SHUTDOWN_MS).unref());
    await Promise.race([Promise.all(open.map(async ({ done }) => done)), late]);
  }

  private async perform(
    run: Run,
    member: ConsoleMember,
    options: ConformanceOptions,
  ): Promise<void> {
    const journal = this.deductions.begin(run.id, member.partnerId);
    try {
      const outcome = await this.outcomeOf(async () => {
        await this.note(member, options);
        return runConformance({
          ...options,
          ...{ maxRunMs: MAX_RUN_MS, maxPoints: MAX_POINTS, journal, signal: run.abort.signal },
          onProgress: (progress) => {
            run.progress = progress;
          },
        });
      });
      await this.store.end(run.id, run.progress, outcome);
    } catch (error) {
      this.logger.error({ err: error }, 'The end of a conformance run could not be noted');
    } finally {
      journal.end();
      this.running.delete(run);
    }
  }

  private async outcomeOf(work: () => Promise<object>): Promise<ConformanceOutcome> {
    try {
      return { report: await work(), failure: null };
    } catch (error) {
      const isExplained = error instanceof Error && error.name === 'OptionsError';
      if (isExplained) return { report: null, failure: error.message };
      this.logger.error({ err: error }, 'A conformance run failed');
      return { report: null, failure: 'The run failed. Tell your operator.' };
    }
  }

  /** Writes to the audit log who started the run, since the run moves points. */
  private async note(
    member: ConsoleMember,
    { address, mayClaim }: Pick<ConformanceOptions, 'address' | 'mayClaim'>,
  ): Promise<void> {
    const { partnerId: partner } = member;
    const note = {
      ...{ command: 'partner conformance', arguments: { address, mayClaim } },
      outcome: 'begun',
    };
    await this.views.audit(memberActor(member), note, { partner });
  }
}

function newRun(): Run {
  const progress = { judged: 0, checks: 0, calls: 0, now: 'starting' };
  return { id: randomUUID(), abort: new AbortController(), progress };
}
