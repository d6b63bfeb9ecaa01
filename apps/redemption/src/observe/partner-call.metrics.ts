import { type PartnerStep } from '#libs/domain';
import { Histogram, type Registry } from '#libs/service';

export interface CountedCall {
  readonly partner: string;
  readonly step: PartnerStep;
  /** What is known after it. */
  readonly outcome: string;
  readonly seconds: number;
}

/** Every call to a partner: the engine's, and those that a user waits for. */
export class PartnerCallMetrics {
  private readonly calls: Histogram<'partner' | 'step' | 'outcome'>;

  constructor(registry: Registry) {
    this.calls = new Histogram({
      name: 'lowmark_partner_call_seconds',
      help: 'Calls to partners, by what is known after them',
      labelNames: ['partner', 'step', 'outcome'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers: [registry],
    });
  }

  called({ seconds, ...labels }: CountedCall): void {
    this.calls.observe(labels, seconds);
  }
}
