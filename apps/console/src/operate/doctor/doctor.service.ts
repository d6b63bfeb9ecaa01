import { Inject, Injectable } from '@nestjs/common';
import { type SettingsSource } from '#libs/config';
import { examine, type Finding } from '#libs/doctor';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { SETTINGS_SOURCE } from '../../console.env.js';

/**
 * Minimum time between the starts of two runs, for all operators together, since a run costs calls to the providers.
 */
const EVERY_MS = 60_000;

interface Placed {
  readonly at: number;
  readonly finding: Finding;
}

export interface DoctorReport {
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** The earliest start of the next run; null before the first run. */
  readonly nextAt: Date | null;
  /** Titles of the checks that still run. */
  readonly waiting: readonly string[];
  /** The findings so far, in the order of the report. */
  readonly findings: readonly Finding[];
}

/** Runs the checks of `doctor` with the settings of the console. One run at a time, whose report all operators read. */
@Injectable()
export class DoctorService {
  private startedAt: Date | null = null;
  private finishedAt: Date | null = null;
  private placed: Placed[] = [];
  private waiting: readonly string[] = [];
  private running: Promise<void> | undefined;

  constructor(
    @Inject(SETTINGS_SOURCE) private readonly source: SettingsSource,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Starts a run, unless one is running or was started within the last minute. */
  start(): void {
    const now = new Date(this.clock.nowMs());
    if (this.running !== undefined || (this.nextAt !== null && now < this.nextAt)) return;
    [this.startedAt, this.finishedAt, this.placed, this.waiting] = [now, null, [], []];
    this.running = this.look().finally(() => {
      this.running = undefined;
    });
  }

  report(): DoctorReport {
    const { startedAt, finishedAt, nextAt, waiting } = this;
    const findings = this.placed.toSorted((a, b) => a.at - b.at).map(({ finding }) => finding);
    return { startedAt, finishedAt, nextAt, waiting, findings };
  }

  private get nextAt(): Date | null {
    return this.startedAt && new Date(this.startedAt.getTime() + EVERY_MS);
  }

  private async look(): Promise<void> {
    try {
      await examine(this.source, this.clock, {
        onFinding: (finding, at) => {
          this.placed.push({ at, finding });
        },
        onWaiting: (titles) => {
          this.waiting = titles;
        },
      });
    } catch (error) {
      this.logger.error({ err: error }, 'The doctor could not look at everything');
      const found = 'an error of the program: its log has it';
      const finding = { what: 'doctor', state: 'fault', found, mend: 'Report it.' } as const;
      this.placed.push({ at: Number.MAX_SAFE_INTEGER, finding });
    }
    [this.finishedAt, this.waiting] = [new Date(this.clock.nowMs()), []];
  }
}
