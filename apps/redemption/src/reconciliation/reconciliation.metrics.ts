import { Inject, Injectable } from '@nestjs/common';
import { type LastRun, ReconciliationStore } from '#libs/db';
import { type Logger } from '#libs/platform';
import { Gauge, LOGGER, oneReading, Registry } from '#libs/service';
import { ChainLink } from '../chain/chain-link.js';

/** How the last comparison ended, whichever process made it: read from the database when the metrics are. In whole tokens. */
@Injectable()
export class ReconciliationMetrics {
  constructor(
    private readonly registry: Registry,
    private readonly store: ReconciliationStore,
    private readonly chain: ChainLink,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.register();
  }

  private register(): void {
    const { registry, store, logger, chain } = this;
    const read = oneReading<{ readonly last: LastRun | undefined }>(
      async () => ({ last: await store.lastRun() }),
      (err) => {
        logger.warn({ err }, 'The last reconciliation could not be read');
      },
    );
    const gauge = (
      named: { readonly name: string; readonly help: string; readonly labelNames?: string[] },
      fill: (run: LastRun | undefined, gauge: Gauge) => void,
    ): void => {
      new Gauge({
        ...named,
        registers: [registry],
        async collect() {
          const reading = await read();
          // An old figure is worse than none. In one go with the new one: two scrapes share a reading.
          this.reset();
          if (named.labelNames === undefined) this.remove();
          if (reading) fill(reading.last, this);
        },
      });
    };
    gauge(
      {
        name: 'lowmark_reconciliation_last_success_timestamp_seconds',
        help: 'When the ledger was last compared with the chain, with whatever result; 0 where never',
      },
      (run, one) => {
        one.set((run?.at.getTime() ?? 0) / 1000);
      },
    );
    gauge(
      {
        name: 'lowmark_reconciliation_differences',
        help: 'What the last comparison found, by kind and severity; an alert belongs on anything above 0',
        labelNames: ['kind', 'severity'],
      },
      (run, one) => {
        one.set({ kind: 'any', severity: 'critical' }, 0);
        for (const { kind, severity } of run?.differences ?? []) {
          one.inc({ kind, severity });
          one.inc({ kind: 'any', severity });
        }
      },
    );
    gauge(
      {
        name: 'lowmark_reconciliation_tokens',
        help: 'Tokens paid by claims, as the chain has it and as the redemptions say, at the last comparison',
        labelNames: ['side'],
      },
      (run, one) => {
        const decimals = chain.tokenDecimals;
        if (!run || decimals === undefined) return;
        const whole = 10 ** decimals;
        const { chain: paid, ledger } = run;
        one.set({ side: 'chain' }, Number(paid.tokens) / whole);
        one.set({ side: 'ledger' }, Number(ledger.tokens) / whole);
      },
    );
  }
}
