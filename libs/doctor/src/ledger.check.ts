import { LedgerRestoreStore, RestoreNotNotedError } from '#libs/db';
import { check, fault, ok, SCHEMA } from './checks.js';

/** Whether the ledger went back in time without a note. */
export const ledgerCheck = check({
  title: 'ledger',
  needs: SCHEMA,
  async ask(subject) {
    const { unnoted } = await new LedgerRestoreStore(await subject.database()).standing();
    return unnoted === undefined
      ? ok('no restore without its note')
      : fault(`since ${new Date(unnoted.atMs).toISOString()}: ${unnoted.noticed}`);
  },
  remedy: new RestoreNotNotedError().message,
});
