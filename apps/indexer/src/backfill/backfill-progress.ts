import { type RangeAnswer } from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';

/** How often a line is written while many blocks are missing. */
const LINE_EVERY_MS = 5_000;

/** Tells an operator how far the backfill is, how fast it goes and when it will be done. */
export class BackfillProgress {
  private startedAtMs: number | undefined;
  private lineAtMs = 0;
  private blocks = 0;
  private events = 0;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  applied(answer: RangeAnswer, chainHead: bigint): void {
    const now = this.clock.nowMs();
    if (this.startedAtMs === undefined) {
      this.startedAtMs = now;
      this.lineAtMs = now;
    }
    this.blocks += Number(answer.to - answer.from) + 1;
    this.events += answer.events;
    const missing = Number(chainHead - answer.to);
    if (missing > 0 && now - this.lineAtMs < LINE_EVERY_MS) return;
    const seconds = Math.max(0.001, (now - this.startedAtMs) / 1000);
    // A block or two at the head is the normal course of things and not worth a line.
    if (now - this.startedAtMs >= LINE_EVERY_MS || this.blocks > 1000) {
      this.lineAtMs = now;
      const blocksPerSecond = this.blocks / seconds;
      this.logger.info(
        {
          block: answer.to,
          ofBlock: chainHead,
          blocksPerSecond: Math.round(blocksPerSecond),
          eventsPerSecond: Math.round(this.events / seconds),
          secondsLeft: Math.ceil(missing / blocksPerSecond),
        },
        missing > 0 ? 'Backfilling' : 'Caught up with the chain',
      );
    }
    if (missing === 0) {
      this.startedAtMs = undefined;
      this.blocks = 0;
      this.events = 0;
    }
  }
}
