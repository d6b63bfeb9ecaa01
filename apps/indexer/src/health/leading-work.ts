import { type Clock, SingleFlight } from '#libs/platform';
import { type IndexPhase, type IndexStatus, type Lead } from './index-status.js';

/**
 * Work beside the loop, done only by the leader and, by default, only while it follows the chain. One run at a time. A
 * run ends with the lead and with the process.
 */
export class LeadingWork {
  private readonly stopping = new AbortController();
  private readonly runs = new SingleFlight<void>();
  private notBeforeMs = 0;

  constructor(
    private readonly status: IndexStatus,
    private readonly clock: Clock,
    private readonly phases: readonly IndexPhase[] = ['following'],
  ) {}

  /**
   * Runs the work, unless this process does not lead, the phase is another one, or a rest or a stop is in force.
   * @param work gets a signal that aborts with the lead and with the process
   */
  run(work: (lead: Lead) => Promise<void>): Promise<void> {
    return this.runs.run(async () => {
      const { lead, phase } = this.status;
      if (lead === undefined || !this.phases.includes(phase)) return;
      if (this.clock.nowMs() < this.notBeforeMs || this.stopping.signal.aborted) return;
      await work({ ...lead, signal: AbortSignal.any([lead.signal, this.stopping.signal]) });
    });
  }

  /** Skips all runs for this time. */
  pauseFor(ms: number): void {
    this.notBeforeMs = this.clock.nowMs() + ms;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.runs.underWay();
  }
}
