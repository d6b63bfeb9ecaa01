import {
  ChainReader,
  loadStakeDescription,
  LogSource,
  multicallOf,
  resolveStakeViews,
  type RpcObserver,
  RpcPool,
  type RpcWaiting,
  type StakeDescription,
  type StakeEventSpec,
  type StakeViewSettings,
} from '#libs/chain';
import { type Clock, type Logger } from '#libs/platform';
import { type IndexerSettings } from './indexer.env.js';

export interface ChainParts {
  readonly reader: ChainReader;
  readonly source: LogSource;
  /** What the endpoints take at once. */
  readonly concurrency: () => number;
  /** Is told when a question has to wait because no endpoint answers. */
  readonly onWaiting: (listener: (event: RpcWaiting) => void) => void;
  /** With connections and a health of its own: an endpoint that has enough of the audit is not set aside for the index. */
  readonly auditReader: ChainReader;
  readonly events: readonly StakeEventSpec[];
  /** Ends every question to an endpoint, under way or to come: the process is to stop. */
  readonly stopAsking: () => void;
}

/** The indexer's view of the chain. @throws PermanentError where STAKE_EVENTS, FINALITY or a view is wrong, with the reason */
export async function connectChain(
  settings: IndexerSettings,
  tools: { clock: Clock; logger: Logger; observer: RpcObserver },
): Promise<ChainParts> {
  const description = await loadStakeDescription(settings.stakeEvents);
  const { events } = description;
  const contracts = settings.stakeContract;
  const { clock, observer } = tools;
  const listeners: ((event: RpcWaiting) => void)[] = [];
  const waiting = (event: RpcWaiting): void => {
    observer.waiting?.(event);
    for (const listener of listeners) listener(event);
  };
  const urls = settings.rpcUrls;
  const pool = new RpcPool({ urls, clock, observer: { ...observer, waiting } });
  const auditPool = new RpcPool({ urls, clock, observer });
  const options = {
    finality: settings.finality,
    contracts,
    multicall: multicallOf(settings.chainId),
    ...viewsFor(settings, description, tools.logger),
  };
  return {
    events,
    reader: new ChainReader(pool, options),
    source: new LogSource(pool, { contracts, events }),
    concurrency: () => pool.parallelism(),
    onWaiting: (listener) => listeners.push(listener),
    auditReader: new ChainReader(auditPool, options),
    stopAsking: () => {
      pool.stop();
      auditPool.stop();
    },
  };
}

/** Says where nothing is left to compare the index with. */
function viewsFor(
  settings: IndexerSettings,
  description: StakeDescription,
  logger: Logger,
): StakeViewSettings {
  const { stakeTotalView, stakeBalanceView } = settings;
  const variables = { totalView: stakeTotalView, balanceView: stakeBalanceView };
  const views = resolveStakeViews(description, variables);
  const isUnset = stakeTotalView === undefined && stakeBalanceView === undefined;
  if (isUnset && views.totalView === 'none' && views.balanceView === 'none') {
    logger.warn(
      'STAKE_EVENTS counts a part of the events: set STAKE_TOTAL_VIEW or STAKE_BALANCE_VIEW for checks against the contract (docs/operating/contracts.md)',
    );
  }
  return views;
}
