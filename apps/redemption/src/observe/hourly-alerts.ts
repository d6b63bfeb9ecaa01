import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, TtlCache } from '#libs/platform';
import { type Alert, Alerts } from './alerts.js';

/** Milliseconds until the same alert is raised again. */
const AGAIN_MS = 3_600_000;
/** Alerts that are remembered; of more, some are raised more often. */
const MAX = 10_000;

/** Alerts about what goes on, each raised once an hour at most and not at every poll or request. */
@Injectable()
export class HourlyAlerts {
  private readonly raised: TtlCache<string, true>;

  constructor(
    private readonly alerts: Alerts,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.raised = new TtlCache({ clock, ttlMs: AGAIN_MS, max: MAX });
  }

  /** @param about distinguishes alerts of the same code */
  raise(alert: Alert, about = ''): void {
    const key = `${alert.code} ${about}`;
    if (this.raised.get(key)) return;
    this.raised.set(key, true);
    this.alerts.raise(alert);
  }
}
