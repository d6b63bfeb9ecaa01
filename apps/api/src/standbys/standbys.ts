import { type Database, readWalPosition } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { Standby } from './standby.js';
import { WalHistory } from './wal-history.js';

const LOOK_EVERY_MS = 250;

export interface StandbysOptions {
  readonly urls: readonly string[];
  readonly maxLagMs: number;
  readonly primary: Database;
  readonly open: (url: string) => Promise<Database>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The standbys that serve reads. Four times a second the primary is asked for the length of its log, and each standby
 * for the position that it has replayed. A standby that lags too much, fails, or follows another primary is not used
 * until it recovers.
 */
export class Standbys {
  readonly all: readonly Standby[];
  primaryReads = 0;
  private readonly history: WalHistory;
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly used = new Set<Standby>();
  /** The primary's system identifier. */
  private system: string | undefined;
  private isAskingPrimary = false;
  private turn = Math.floor(Math.random() * 1000);

  constructor(private readonly options: StandbysOptions) {
    const { urls, open, clock, maxLagMs } = options;
    this.history = new WalHistory(maxLagMs);
    const { history } = this;
    const primarySystem = (): string | undefined => this.system;
    this.all = urls.map((url) => new Standby({ url, open, history, primarySystem, clock }));
    if (urls.length > 0) this.timer = setInterval(this.look, LOOK_EVERY_MS);
  }

  /**
   * Whether the primary answered recently. Without the primary, only the index itself shows how old a standby's data
   * is.
   */
  get isPrimaryAnswering(): boolean {
    const { answeredAtMs } = this.history;
    const { clock, maxLagMs } = this.options;
    return answeredAtMs !== undefined && clock.nowMs() - answeredAtMs <= maxLagMs;
  }

  /**
   * The standbys to read from, best first; none: read from the primary. While the primary answers, this is one standby
   * within the allowed lag, in rotation, because the primary serves as its fallback. Otherwise it is all standbys that
   * answer, in descending order of their replayed positions.
   */
  choose(): readonly Standby[] {
    const usable = this.all.filter((one) => this.isUsable(one));
    if (!this.isPrimaryAnswering) return usable.sort((a, b) => Number(b.bytes - a.bytes));
    const next = usable[this.turn++ % usable.length];
    return next === undefined ? [] : [next];
  }

  isUsable(standby: Standby): boolean {
    const { maxLagMs } = this.options;
    if (!this.isPrimaryAnswering) return standby.hasAnsweredWithin(maxLagMs);
    return standby.lagMs !== undefined && standby.lagMs <= maxLagMs;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.all.map((standby) => standby.close()));
  }

  private readonly look = (): void => {
    void this.askPrimary();
    for (const standby of this.all) {
      standby.probe();
      this.logChange(standby);
    }
  };

  private async askPrimary(): Promise<void> {
    if (this.isAskingPrimary) return;
    this.isAskingPrimary = true;
    const answered = this.history.ask(this.options.clock.nowMs());
    try {
      const { bytes, system } = await readWalPosition(this.options.primary);
      this.system = system;
      answered(bytes);
    } catch {
      // The primary counts as silent. Requests that need the primary report the failure themselves.
    } finally {
      this.isAskingPrimary = false;
    }
  }

  private logChange(standby: Standby): void {
    const { name, reason } = standby;
    const isUsable = this.isUsable(standby);
    if (isUsable === this.used.has(standby)) return;
    if (isUsable) {
      this.used.add(standby);
      this.options.logger.info({ standby: name }, 'Reads use a standby');
    } else {
      this.used.delete(standby);
      const why = reason ?? 'lags more than READ_MAX_LAG_SECONDS';
      this.options.logger.warn({ standby: name, reason: why }, 'A standby is left aside');
    }
  }
}
