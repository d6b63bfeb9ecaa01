import { ClaimReader, type RpcPool, type VaultAccount, type VaultPlace } from '#libs/chain';
import { ClaimWatchStore, type Database, type WatchState } from '#libs/db';
import { type Clock, type Logger } from '#libs/platform';
import { Gauge, oneReading, type Registry } from '#libs/service';
import { type Alerts } from '../observe/alerts.js';
import { ClaimWatch } from './claim-watch.js';
import { ClaimWatchService } from './claim-watch.service.js';

export interface ClaimWatchSetup {
  readonly pool: RpcPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly alerts: Alerts;
  readonly pauser: VaultAccount | undefined;
  readonly place: VaultPlace;
  readonly startBlock: bigint;
  /** FINALITY: `finalized`, `safe` or `depth:<blocks>`. */
  readonly finality: string;
}

/** The watch over claims as a provider, with its metrics. */
export function createClaimWatch(setup: ClaimWatchSetup): ClaimWatchService {
  const { pool, database, clock, logger, registry, alerts, pauser } = setup;
  const { place, startBlock, finality } = setup;
  const store = new ClaimWatchStore(database);
  gaugeClaimWatch(registry, { store, logger, chainId: place.chainId });
  const reader = new ClaimReader(pool, finality);
  const watch = new ClaimWatch(
    {
      ...{ pool, reader, store, pauser, clock, logger },
      raise: (alert) => {
        alerts.raise(alert);
      },
    },
    { place, startBlock },
  );
  return new ClaimWatchService({ watch, logger });
}

/** What was found and when it was looked for, by whichever process: read from the database when the metrics are. */
export function gaugeClaimWatch(
  registry: Registry,
  parts: {
    readonly store: Pick<ClaimWatchStore, 'state'>;
    readonly logger: Logger;
    readonly chainId: number;
  },
): void {
  const { store, logger, chainId } = parts;
  const read = oneReading(
    () => store.state(chainId),
    (err) => {
      logger.warn({ err }, 'The state of the watch over claims could not be read');
    },
  );
  const gauge = (name: string, help: string, figure: (state: WatchState) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const state = await read();
        // An old figure is worse than none.
        this.remove();
        if (state) this.set(figure(state));
      },
    });
  };
  gauge(
    'lowmark_claims_unauthorised',
    'Claims that nothing had authorised and that no person has acknowledged; an alert belongs on anything above 0',
    ({ alarms }) => alarms,
  );
  gauge(
    'lowmark_claim_watch_timestamp_seconds',
    'When the claims of all vaults were last looked at; 0 where one of them never was',
    ({ lookedAtMs }) => lookedAtMs / 1000,
  );
}
