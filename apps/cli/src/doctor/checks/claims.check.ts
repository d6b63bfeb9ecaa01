import { ClaimStore } from '#libs/db';
import { type Check } from '../check.js';
import { fault, ok } from '../finding.js';

const NAME = 'claims';
/** As `reconciliation list` has it: by then a claim is recorded. */
const OVERDUE_MS = 3_600_000;
const MOST = 5;

/** Whether the vault paid a claim that the ledger does not explain and no operator has acknowledged. */
export const claimsCheck: Check = {
  name: NAME,
  needs: ['DATABASE_URL'],
  needsDatabase: true,
  needsSchema: true,
  async *look(subject) {
    const store = new ClaimStore(await subject.database());
    const overdueBeforeMs = subject.clock.nowMs() - OVERDUE_MS;
    const claims = await store.list(overdueBeforeMs, { all: false, limit: MOST });
    if (claims.length === 0) {
      yield ok(NAME, 'none that the ledger does not explain');
      return;
    }
    const list = claims.map(({ id, kind }) => `${id} (${kind})`).join(', ');
    yield fault(
      NAME,
      `not explained by the ledger: ${list}${claims.length === MOST ? ' and perhaps more' : ''}`,
      'See `reconciliation list`; what to do is in docs/operating/alerts.md, ClaimUnauthorised.',
    );
  },
};
