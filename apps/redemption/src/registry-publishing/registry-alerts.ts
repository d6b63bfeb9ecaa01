import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, TtlCache } from '#libs/platform';
import { type Alert, Alerts } from '../observe/alerts.js';

/** Milliseconds until the same alert is raised again. */
const AGAIN_MS = 3_600_000;

/** Alerts about publishing, each raised once an hour at most and not at every poll. */
@Injectable()
export class RegistryAlerts {
  private readonly raised: TtlCache<string, true>;

  constructor(
    private readonly alerts: Alerts,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.raised = new TtlCache({ clock, ttlMs: AGAIN_MS });
  }

  /** @param about distinguishes alerts of the same code */
  raise(alert: Alert, about = ''): void {
    const key = `${alert.code} ${about}`;
    if (this.raised.get(key)) return;
    this.raised.set(key, true);
    this.alerts.raise(alert);
  }
}
