import { type LastRun, type ReconciliationStore } from '#libs/db';
import { Gauge, type Logger, type Registry } from '#libs/platform';

/**
 * How the last comparison ended, whichever process made it: read from the database when the metrics are.
 * @param parts `tokenDecimals`: figures are in whole tokens; undefined until the chain was reached
 */
export function gaugeReconciliation(
  registry: Registry,
  parts: {
    readonly store: Pick<ReconciliationStore, 'lastRun'>;
    readonly logger: Logger;
    readonly tokenDecimals: () => number | undefined;
  },
): void {
  const read = sharedReading(parts.store, parts.logger);
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    fill: (run: LastRun | undefined, gauge: Gauge) => void,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const reading = await read();
        // An old figure is worse than none. In one go with the new one: two scrapes share a reading.
        this.reset();
        if (labelNames.length === 0) this.remove();
        if (reading) fill(reading.last, this);
      },
    });
  };
  gauge(
    'lowmark_reconciliation_last_success_timestamp_seconds',
    'When the ledger was last compared with the chain, with whatever result; 0 where never',
    [],
    (run, one) => {
      one.set((run?.at.getTime() ?? 0) / 1000);
    },
  );
  gauge(
    'lowmark_reconciliation_differences',
    'What the last comparison found, by kind and severity; an alert belongs on anything above 0',
    ['kind', 'severity'],
    (run, one) => {
      one.set({ kind: 'any', severity: 'critical' }, 0);
      for (const { kind, severity } of run?.differences ?? []) {
        one.inc({ kind, severity });
        one.inc({ kind: 'any', severity });
      }
    },
  );
  gauge(
    'lowmark_reconciliation_tokens',
    'Tokens paid by claims, as the chain has it and as the redemptions say, at the last comparison',
    ['side'],
    (run, one) => {
      const decimals = parts.tokenDecimals();
      if (!run || decimals === undefined) return;
      const whole = 10 ** decimals;
      const { chain, ledger } = run;
      one.set({ side: 'chain' }, Number(chain.tokens) / whole);
      one.set({ side: 'ledger' }, Number(ledger.tokens) / whole);
    },
  );
}

/** One reading serves all gauges of a scrape; undefined where the database does not answer. */
function sharedReading(store: Pick<ReconciliationStore, 'lastRun'>, logger: Logger) {
  let current: Promise<{ readonly last: LastRun | undefined } | undefined> | undefined;
  return () =>
    (current ??= store
      .lastRun()
      .then((last) => ({ last }))
      .catch((error: unknown) => {
        logger.warn({ err: error }, 'The last reconciliation could not be read');
        return undefined;
      })
      .finally(() => {
        current = undefined;
      }));
}
