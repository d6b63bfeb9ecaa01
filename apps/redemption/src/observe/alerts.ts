import { type PartnerStep } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { Counter, type Registry } from '#libs/service';

export interface Alert {
  /** `critical`: the books of two parties may disagree; an operator has to look now. */
  readonly severity: 'warning' | 'critical';
  readonly code: string;
  readonly redemptionId?: string;
  readonly partner?: string;
  readonly step?: PartnerStep;
  /** `X-API-REQUEST` of the call that the alert is about. */
  readonly apiRequest?: string;
  /** Text for a person, without secrets. */
  readonly detail?: string;
}

/** Reports to operators, as a log event with the field `alert` and as a count. */
export class Alerts {
  private readonly raised: Counter<'code' | 'severity'>;

  constructor(
    registry: Registry,
    private readonly logger: Logger,
  ) {
    this.raised = new Counter({
      name: 'lowmark_alerts_total',
      help: 'What an operator should look at, by code; critical: the books of two parties may disagree',
      labelNames: ['code', 'severity'],
      registers: [registry],
    });
  }

  raise({ code, severity, ...fields }: Alert): void {
    this.raised.inc({ code, severity });
    const record = { alert: code, severity, ...fields };
    if (severity === 'critical') this.logger.error(record, `Alert: ${code}`);
    else this.logger.warn(record, `Alert: ${code}`);
  }
}
