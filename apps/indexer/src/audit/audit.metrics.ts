import { Inject, Injectable } from '@nestjs/common';
import { type AuditComparison, AuditRunStore, type IndexState, IndexStore } from '#libs/db';
import { tokensToNumber } from '#libs/domain';
import { type Logger } from '#libs/platform';
import { type Gauge, LOGGER, type NamedGauge, gaugesOfOneRead, Registry } from '#libs/service';

interface Reading {
  /** The last audit that completed a comparison. */
  readonly last: AuditComparison | undefined;
  readonly state: IndexState | undefined;
}

interface AuditGauge extends NamedGauge {
  readonly fill: (reading: Reading, gauge: Gauge) => void;
}

/** Metrics of the last audit by any process, read from the database at each scrape. */
@Injectable()
export class AuditMetrics {
  constructor(
    @Inject(Registry) registry: Registry,
    @Inject(AuditRunStore) runs: AuditRunStore,
    @Inject(IndexStore) index: IndexStore,
    @Inject(LOGGER) logger: Logger,
  ) {
    const add = gaugesOfOneRead<Reading>(
      { registry, logger },
      async () => {
        const [last, state] = await Promise.all([runs.lastComparison(), index.state()]);
        return { last, state };
      },
      'The last audit could not be read',
    );
    for (const { fill, ...named } of GAUGES) add(named, fill);
  }
}

const GAUGES: readonly AuditGauge[] = [
  {
    name: 'lowmark_audit_last_success_timestamp_seconds',
    help: 'When the index was last compared with the contract, with whatever result; 0 where never',
    fill: ({ last }, one) => {
      one.set((last?.finishedAt.getTime() ?? 0) / 1000);
    },
  },
  {
    name: 'lowmark_audit_differences',
    help: 'Wallets whose balance in the index was not the contract’s at the last audit',
    fill: ({ last }, one) => {
      if (last) one.set(last.differences);
    },
  },
  {
    name: 'lowmark_audit_wallets_compared',
    help: 'Wallets that the last audit held against the contract; 0 where it tells no balances',
    fill: ({ last }, one) => {
      if (last) one.set(last.compared ?? 0);
    },
  },
  {
    name: 'lowmark_audit_total_tokens',
    help: 'The sum of all balances and the contract’s total at the last audit, in tokens, rounded to 15 digits or so',
    labelNames: ['side'],
    fill: ({ last, state }, one) => {
      if (!last || !state) return;
      const { indexedTotal, contractTotal } = last;
      one.set({ side: 'index' }, tokensToNumber(indexedTotal, state.tokenDecimals));
      if (contractTotal === undefined) return;
      one.set({ side: 'contract' }, tokensToNumber(contractTotal, state.tokenDecimals));
    },
  },
  {
    name: 'lowmark_audit_total_difference_tokens',
    help: 'What the index had more than the contract in all at the last audit, in tokens; exactly 0 where they agreed',
    fill: ({ last, state }, one) => {
      if (last?.contractTotal === undefined || !state) return;
      one.set(signedTokens(last.indexedTotal - last.contractTotal, state));
    },
  },
  {
    name: 'lowmark_audit_sum_difference_tokens',
    help: 'What the closings of the days, and the balance changes, added up to more than the stored total at the last audit, in tokens; exactly 0 where they agreed',
    labelNames: ['of'],
    fill: ({ last, state }, one) => {
      if (!last || !state) return;
      const { stored, closings, balances } = last.sums;
      one.set({ of: 'closings' }, signedTokens(closings - stored, state));
      one.set({ of: 'changes' }, signedTokens(balances - stored, state));
    },
  },
];

function signedTokens(amount: bigint, { tokenDecimals }: IndexState): number {
  const tokens = tokensToNumber(amount < 0n ? -amount : amount, tokenDecimals);
  return amount < 0n ? -tokens : tokens;
}
