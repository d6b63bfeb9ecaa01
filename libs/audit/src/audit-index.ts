/**
 * The balances of the index held against the contract's own view of them, and their sum against the contract's total, at one final
 * block. It reads only.
 *
 * A difference counts where a second endpoint finds it too, or the only one does twice, and the index did not go back while it was
 * looked at. Where it did, and everywhere agrees all the same, that is good enough: what was read was right. Where it did and something
 * differs, those wallets and the sum are looked at once more.
 */
import { type Database, IndexStore, type IndexState } from '#libs/db';
import { auditBlock } from './audit-block.js';
import { type AuditParts } from './audit-parts.js';
import { type AuditResult } from './audit-result.js';
import { AuditImpossibleError } from './audit.error.js';
import { compareBalances } from './compare-balances.js';
import { agrees } from './verdict.js';

/** Looks in all, where the index goes back under each of them. */
const LOOKS = 3;

/**
 * Nobody knows yet whether the result is a comparison at all: see `requireComparison`.
 * @throws AuditImpossibleError, AllEndpointsFailedError, DatabaseUnavailableError, or the reason of `signal`
 */
export async function auditIndex(parts: AuditParts): Promise<AuditResult> {
  let before = await stateOf(parts.database);
  const first = await compareBalances(parts, await auditBlock(before, parts.block, parts.reader));
  let result = first;
  for (let looks = 1; !agrees(result); looks++) {
    const after = await stateOf(parts.database);
    if (after.fingerprint === before.fingerprint && after.rollbacks === before.rollbacks) break;
    if (looks === LOOKS || after.fingerprint !== before.fingerprint) throw wentBack();
    before = after;
    const always = first.differences.map(({ wallet }) => wallet);
    const block = await auditBlock(before, parts.block, parts.reader);
    const again = await compareBalances({ ...parts, sample: 0, always }, block);
    result = {
      ...again,
      compared: again.compared === undefined ? undefined : first.compared,
      isWhole: first.isWhole && again.isWhole,
    };
  }
  return result;
}

async function stateOf(database: Database): Promise<IndexState> {
  const state = await new IndexStore(database).state();
  if (state === undefined) throw new AuditImpossibleError('There is no index yet.');
  return state;
}

/** The indexer itself goes back below what is final where the contract's figures prove it wrong. */
function wentBack(): AuditImpossibleError {
  return new AuditImpossibleError(
    'The index went back while it was looked at: run the audit again once the indexer is level with the chain.',
  );
}
