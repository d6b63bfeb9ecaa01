import { type Clock, SingleFlight } from '#libs/platform';
import { type IndexPhase, type IndexStatus, type Lead } from './index-status.js';

/**
 * Work beside the loop: of the process that leads, by default while it follows the chain, one run at a time. It ends with the lead and with the
 * process.
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

  /** Does nothing where it is not its turn. @param work is given the signal that ends it */
  run(work: (lead: Lead) => Promise<void>): Promise<void> {
    return this.runs.run(async () => {
      const { lead, phase } = this.status;
      if (lead === undefined || !this.phases.includes(phase)) return;
      if (this.clock.nowMs() < this.notBeforeMs || this.stopping.signal.aborted) return;
      await work({ ...lead, signal: AbortSignal.any([lead.signal, this.stopping.signal]) });
    });
  }

  /** Until then there is no run. */
  rest(ms: number): void {
    this.notBeforeMs = this.clock.nowMs() + ms;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.runs.underWay();
  }
}
