import { type SealedDayStore, type SealOutcome, type SealSummary } from '#libs/db';
import { dayText, SECONDS_PER_DAY } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { Counter, Gauge, gaugesOfOneRead, type Registry } from '#libs/service';

const KINDS = ['sealed', 'revised', 'same'] as const;

/**
 * Metrics of sealed days. The counts of sealed days come from the database, whichever process sealed them; durations
 * and results are those of this process.
 */
export class SealMetrics {
  private readonly left: Gauge;
  private readonly seconds: Gauge;
  private readonly results: Counter<'result'>;
  private readonly difference: Gauge<'day'>;

  constructor(registry: Registry, days: SealedDayStore, logger: Logger) {
    const registers = [registry];
    this.left = new Gauge({
      name: 'lowmark_seal_days_left',
      help: 'Days that are still to be worked out in this run; 0 while none is',
      registers,
    });
    this.seconds = new Gauge({
      name: 'lowmark_seal_seconds',
      help: 'What the last day took that this process worked out',
      registers,
    });
    this.results = new Counter({
      name: 'lowmark_seal_days_total',
      help: 'Days that this process worked out: sealed, revised where a sealed one came out differently, or the same',
      labelNames: ['result'],
      registers,
    });
    for (const result of KINDS) this.results.inc({ result }, 0);
    this.difference = new Gauge({
      name: 'lowmark_seal_sum_difference',
      help: 'The balances at the end of a day, added up, less the stored total, in the smallest unit of the token; only of a day that is not sealed because of it',
      labelNames: ['day'],
      registers,
    });
    const failure = 'The sealed days could not be read';
    const add = gaugesOfOneRead({ registry, logger }, () => days.summary(), failure);
    const gauge = (name: string, help: string, figure: (of: SealSummary) => number): void => {
      add({ name, help }, (summary, one) => {
        one.set(figure(summary));
      });
    };
    gauge('lowmark_sealed_days', 'Days that are sealed', (of) => of.days);
    gauge(
      'lowmark_sealed_until_timestamp_seconds',
      'The end of the newest sealed day; 0 where none is',
      ({ last }) => (last === null ? 0 : (last + 1) * SECONDS_PER_DAY),
    );
    gauge(
      'lowmark_sealed_revisions',
      'How often a sealed day came out differently',
      (of) => of.revisions,
    );
    gauge(
      'lowmark_sealed_revised_timestamp_seconds',
      'When a sealed day last came out differently; 0 where none did',
      ({ revisedAt }) => (revisedAt?.getTime() ?? 0) / 1000,
    );
    gauge(
      'lowmark_sealed_recheck_days',
      'Sealed days that have to be worked out again',
      ({ last, recheckFrom }) =>
        last === null || recheckFrom === null ? 0 : Math.max(0, last - recheckFrom + 1),
    );
  }

  daysLeft(days: number): void {
    this.left.set(days);
  }

  /** @param difference in the token's smallest unit */
  sumDiffers(day: number, difference: bigint): void {
    this.difference.set({ day: dayText(day) }, Number(difference));
  }

  sumAgrees(day: number): void {
    this.difference.remove({ day: dayText(day) });
  }

  forgetSums(): void {
    this.difference.reset();
  }

  worked(result: SealOutcome['kind'], seconds: number): void {
    this.results.inc({ result });
    this.seconds.set(seconds);
  }
}
