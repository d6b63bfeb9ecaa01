import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock, TtlCache } from '#libs/platform';
import { type Alert, Alerts } from '../observe/alerts.js';

/** The same is raised again after so long. */
const AGAIN_MS = 3_600_000;

/** What an operator should hear of publishing: each thing once an hour, not with every look. */
@Injectable()
export class RegistryAlerts {
  private readonly raised: TtlCache<string, true>;

  constructor(
    private readonly alerts: Alerts,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.raised = new TtlCache({ clock, ttlMs: AGAIN_MS });
  }

  /** @param about what tells it from others of the same code */
  raise(alert: Alert, about = ''): void {
    const key = `${alert.code} ${about}`;
    if (this.raised.get(key)) return;
    this.raised.set(key, true);
    this.alerts.raise(alert);
  }
}
