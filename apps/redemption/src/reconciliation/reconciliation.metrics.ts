import { Inject, Injectable } from '@nestjs/common';
import { ReconciliationStore } from '#libs/db';
import { type Logger } from '#libs/platform';
import { LOGGER, gaugesOfOneRead, Registry } from '#libs/service';
import { ChainLink } from '../chain/chain-link.js';

/** Results of the last comparison by any process, read from the database at each scrape. In whole tokens. */
@Injectable()
export class ReconciliationMetrics {
  constructor(
    registry: Registry,
    store: ReconciliationStore,
    chain: ChainLink,
    @Inject(LOGGER) logger: Logger,
  ) {
    const gauge = gaugesOfOneRead(
      { registry, logger },
      () => store.lastRun(),
      'The last reconciliation could not be read',
    );
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
