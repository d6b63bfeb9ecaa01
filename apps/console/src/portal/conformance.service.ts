import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type PartnerId } from '#libs/domain';
import { RedemptionViews } from '#libs/db';
import { type Progress, type Report, runConformance } from '#libs/partner-sdk/conformance';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { HttpProblem, LOGGER } from '#libs/service';
import { type ConsoleMember } from '../auth/audience.js';
import { type ConformanceDto, type ConformanceRun } from './conformance.dto.js';
import { OpenDeductions } from './open-deductions.js';
import { memberActor } from './own-rows.js';
import { PartnerEndpoints } from './partner-endpoints.js';

/** A run begins no new check after this time. Points that it deducted are still given back. */
const MAX_RUN_MS = 120_000;
/** Maximum points of one deduction. A player who has more is not a test player. */
const MAX_POINTS = 1000;
const KEPT_MS = 3_600_000;
/** Maximum number of runs of all partners together. */
const MOST_AT_ONCE = 3;
/** Time for giving points back while the console stops. */
const SHUTDOWN_MS = 10_000;

interface Kept {
  readonly run: ConformanceRun;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** Tests the endpoints of partners, one run at a time for each. A report is kept for an hour or until the next run. */
@Injectable()
export class ConformanceService implements OnApplicationShutdown {
  private readonly runs = new Map<string, Kept>();

  constructor(
    private readonly endpoints: PartnerEndpoints,
    private readonly deductions: OpenDeductions,
    private readonly views: RedemptionViews,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The current run, or the last one. */
  find({ partnerId }: ConsoleMember): ConformanceRun | undefined {
    this.forgetOld();
    return this.runs.get(partnerId)?.run;
  }

  /** @throws HttpProblem 404 CALLBACK_MISSING, 409 RUN_UNDER_WAY or CALLBACK_REFUSED, 429 */
  async start(member: ConsoleMember, wish: ConformanceDto): Promise<ConformanceRun> {
    const { partnerId } = member;
    const { target, hasConfirm } = await this.endpoints.find(partnerId);
    this.forgetOld();
    this.requireFree(partnerId);
    const run = newRun(target.baseUrl, wish.address, new Date(this.clock.nowMs()));
    const abort = new AbortController();
    const journal = this.deductions.begin(partnerId);
    const options = {
      ...{ ...target, address: wish.address, mayClaim: wish.mayClaim, hasConfirm },
      ...(wish.emptyAddress !== undefined && { emptyAddress: wish.emptyAddress }),
      ...{ maxRunMs: MAX_RUN_MS, maxPoints: MAX_POINTS, journal, signal: abort.signal },
      onProgress: (progress: Progress) => {
        run.progress = progress;
      },
    };
    const done = this.finish(run, async () => {
      await this.note(member, wish);
      return runConformance(options);
    }).finally(() => {
      journal.end();
    });
    this.runs.set(partnerId, { run, abort, done });
    return run;
  }

  /** Ends the current run early, if there is one. Deducted points are given back first. */
  stop({ partnerId }: ConsoleMember): void {
    this.runs.get(partnerId)?.abort.abort();
  }

  async onApplicationShutdown(): Promise<void> {
    const open = [...this.runs.values()].filter(({ run }) => run.endedAt === null);
    for (const { abort } of open) abort.abort();
    const late = new Promise<void>((resolve) => setTimeout(resolve, SHUTDOWN_MS).unref());
    await Promise.race([Promise.all(open.map(({ done }) => done)), late]);
  }

  private async finish(run: ConformanceRun, work: () => Promise<Report>): Promise<void> {
    try {
      run.report = await work();
    } catch (error) {
      const isExplained = error instanceof Error && error.name === 'OptionsError';
      run.failure = isExplained ? error.message : 'The run failed. Tell your operator.';
      if (!isExplained) this.logger.error({ err: error }, 'A conformance run failed');
    } finally {
      run.endedAt = new Date(this.clock.nowMs());
    }
  }

  /** Writes to the audit log who started the run, since the run moves points. */
  private async note(member: ConsoleMember, { address, mayClaim }: ConformanceDto): Promise<void> {
    const { partnerId: partner } = member;
    const note = {
      ...{ command: 'partner conformance', arguments: { address, mayClaim } },
      outcome: 'begun',
    };
    await this.views.audit(memberActor(member), note, { partner });
  }

  private requireFree(partnerId: PartnerId): void {
    const open = [...this.runs].filter(([, { run }]) => run.endedAt === null);
    if (open.some(([id]) => id === partnerId)) {
      const message = 'A run is under way: wait for its end, or stop it.';
      throw new HttpProblem(409, message, { code: 'RUN_UNDER_WAY' });
    }
    if (open.length >= MOST_AT_ONCE) throw HttpProblem.tooManyRequests(30);
  }

  private forgetOld(): void {
    const nowMs = this.clock.nowMs();
    for (const [id, { run }] of this.runs) {
      if (run.endedAt !== null && nowMs - run.endedAt.getTime() > KEPT_MS) this.runs.delete(id);
    }
  }
}

function newRun(baseUrl: string, address: string, startedAt: Date): ConformanceRun {
  const progress = { judged: 0, checks: 0, calls: 0, now: 'starting' };
  return { baseUrl, address, startedAt, progress, endedAt: null, report: null, failure: null };
}
