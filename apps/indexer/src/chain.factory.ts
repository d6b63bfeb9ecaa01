import {
  ChainReader,
  loadStakeEvents,
  LogSource,
  type RpcObserver,
  RpcPool,
  type StakeEventSpec,
} from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { type IndexerSettings } from './indexer.env.js';

export interface ChainParts {
  readonly reader: ChainReader;
  readonly source: LogSource;
  /** Ranges that are worth fetching at once. */
  readonly concurrency: () => number;
  /** With connections and a health of its own: an endpoint that has enough of the audit is not set aside for the index. */
  readonly auditReader: ChainReader;
  readonly events: readonly StakeEventSpec[];
}

const CONCURRENCY = 4;

/** The indexer's view of the chain. @throws PermanentError where STAKE_EVENTS, FINALITY or a view is wrong, with the reason */
export async function connectChain(
  settings: IndexerSettings,
  tools: { clock: Clock; logger: Logger; observer: RpcObserver },
): Promise<ChainParts> {
  const events = await loadStakeEvents(settings.stakeEvents);
  const contracts = settings.stakeContract;
  const newPool = (): RpcPool =>
    new RpcPool({ urls: settings.rpcUrls, clock: tools.clock, observer: tools.observer });
  const pool = newPool();
  const options = {
    finality: settings.finality,
    contracts,
    ...viewsFor(settings, events, tools.logger),
  };
  return {
    events,
    reader: new ChainReader(pool, options),
    source: new LogSource(pool, { contracts, events }),
    concurrency: () => CONCURRENCY,
    auditReader: new ChainReader(newPool(), options),
  };
}

/** A filter on an argument picks a part of the stakes: the contract's figures speak of the whole and cannot be compared. */
function viewsFor(
  settings: IndexerSettings,
  events: readonly StakeEventSpec[],
  logger: Logger,
): { totalView?: string; balanceView?: string } {
  const partial = events.some(({ where }) => where.length > 0);
  const { stakeTotalView: totalView, stakeBalanceView: balanceView } = settings;
  if (partial && totalView === undefined)
    logger.warn(
      'STAKE_EVENTS filters events: set STAKE_TOTAL_VIEW for checks against the contract',
    );
  const fallback = partial ? { totalView: 'none', balanceView: 'none' } : {};
  return {
    ...fallback,
    ...(totalView !== undefined && { totalView }),
    ...(balanceView !== undefined && { balanceView }),
  };
}
