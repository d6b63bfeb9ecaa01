/**
 * The balances of the index held against the contract's own view of them, and their sum against the contract's total, at one final
 * block. It reads only.
 *
 * A difference counts where a second endpoint finds it too, or the only one does twice, and the index did not go back while it was
 * compared. Where it did, and everything agrees all the same, that is good enough: what was read was right. Where it did and something
 * differs, those wallets and the sum are compared once more.
 */
import { type ChainReader } from '#libs/chain';
import { type Database, type IndexState, IndexStore } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { type AuditQuestion, type AuditResult, compareBalances } from './compare-balances.js';
import { indexedContracts } from './indexed-contracts.js';
import { agrees, AuditImpossibleError } from './verdict.js';

/** Comparisons in all, where the index goes back under each of them. */
const MOST_ROUNDS = 3;

/**
 * Whether the result is a comparison at all, `requireComparison` says.
 * @throws AuditImpossibleError, AllEndpointsFailedError, DatabaseUnavailableError, or the reason of `signal`
 */
export async function auditIndex(question: AuditQuestion): Promise<AuditResult> {
  const { database, reader } = question;
  let before = await requireIndex(database);
  const first = await compareBalances(question, await auditBlock(before, question.block, reader));
  let result = first;
  for (let round = 1; !agrees(result); round++) {
    const after = await requireIndex(database);
    if (after.fingerprint === before.fingerprint && after.rollbacks === before.rollbacks) break;
    if (round === MOST_ROUNDS || after.fingerprint !== before.fingerprint) throw wentBack();
    before = after;
    const always = first.differences.map(({ wallet }) => wallet);
    const block = await auditBlock(before, question.block, reader);
    const again = await compareBalances({ ...question, sample: 0, always }, block);
    result = {
      ...again,
      compared: again.compared === undefined ? undefined : first.compared,
      isWhole: first.isWhole && again.isWhole,
    };
  }
  return result;
}

/** @throws AuditImpossibleError where there is none */
export async function requireIndex(database: Database): Promise<IndexState> {
  const state = await new IndexStore(database).state();
  if (state === undefined) throw new AuditImpossibleError('There is no index yet.');
  return state;
}

/**
 * The block that both sides are read at: final, so that neither changes meanwhile.
 * @param wanted a number, or the newest final block that is indexed
 * @throws AuditImpossibleError where it is not final, not indexed, or not there
 */
async function auditBlock(
  state: IndexState,
  wanted: bigint | 'finalised',
  reader: ChainReader,
): Promise<BlockRef> {
  const { finalised, head } = state;
  if (finalised === undefined) {
    throw new AuditImpossibleError('No indexed block is final yet: wait for the first sync.');
  }
  const newest = finalised.number > head.number ? head : finalised;
  if (wanted === 'finalised' || wanted === newest.number) return newest;
  const { startBlock = 0n } = indexedContracts(state);
  if (wanted < startBlock || wanted > newest.number) {
    throw new AuditImpossibleError(
      `Block ${wanted} is not among the final blocks of the index: --block takes ${startBlock} to ${newest.number}, or finalised.`,
    );
  }
  const [header] = await reader.headers([wanted]);
  if (header === undefined) {
    throw new AuditImpossibleError(`No endpoint has block ${wanted}: add another to RPC_URLS.`);
  }
  return header;
}

/** The indexer itself goes back below what is final where the contract's figures prove it wrong. */
function wentBack(): AuditImpossibleError {
  return new AuditImpossibleError(
    'The index went back while it was looked at: run the audit again once the indexer is level with the chain.',
  );
}
