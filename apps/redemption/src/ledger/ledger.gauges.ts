import { type LedgerRestoreStore } from '#libs/db';
import { type Logger } from '#libs/platform';
import { gaugesOfOneRead, type Registry } from '#libs/service';

/** Adds a gauge that is read from the database at each scrape. */
export function gaugeLedger(registry: Registry, store: LedgerRestoreStore, logger: Logger): void {
  const add = gaugesOfOneRead(
    { registry, logger },
    () => store.standing(),
    'Whether the ledger went back could not be read',
  );
  add(
    {
      name: 'lowmark_ledger_restore_not_noted',
      help: '1 while the ledger went back in time and this is not noted: nothing is paid, deducted or given back',
    },
    ({ unnoted }, gauge) => {
      gauge.set(unnoted === undefined ? 0 : 1);
    },
  );
}
