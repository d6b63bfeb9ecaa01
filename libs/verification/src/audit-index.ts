/**
 * The audit: compares the sums of the index with its stored total, without any node; then the balances of the index with
 * the contract's own view of them, and their sum with the contract's total, at one final block. It only reads.
 *
 * A difference counts where a second endpoint finds it too, or the only endpoint finds it twice, and no rollback of the
 * index happened during the comparison. After a rollback, a result without differences stands, because what was read
 * was right. Where something differs, the differing wallets and the sum are compared once more.
 */
import { type ChainReader } from '#libs/chain';
import {
  DatabaseRefusedError,
  DatabaseUnavailableError,
  type IndexReader,
  type IndexState,
  type IndexSums,
} from '#libs/db';
import { type BlockRef, LowmarkError } from '#libs/domain';
import {
  type AuditQuestion,
  compareBalances,
  type ContractComparison,
} from './compare-balances.js';
import { indexedContracts } from './indexed-contracts.js';
import {
  agreesWithContract,
  AuditImpossibleError,
  type AuditResult,
  sumsAgree,
} from './verdict.js';

/** Comparisons in one audit at most, where a rollback happens during each of them. */
const MOST_ROUNDS = 3;

/**
 * `requireComparison` decides whether the result is a comparison at all. Where the contract cannot be asked, sums that
 * differ are the result.
 * @throws AuditImpossibleError, AllEndpointsFailedError, DatabaseUnavailableError, or the reason of `signal`
 */
export async function auditIndex(question: AuditQuestion): Promise<AuditResult> {
  const { index, signal, onProgress } = question;
  const sums = await index.sums((wallets) => {
    signal?.throwIfAborted();
    onProgress(`${wallets} wallets added up`);
  });
  if (sums === undefined) throw noIndex();
  try {
    return { ...(await compareWithContract(question)), sums };
  } catch (error) {
    const isOfChain = error instanceof LowmarkError && !isOfDatabase(error);
    if (sumsAgree(sums) || signal?.aborted === true || !isOfChain) throw error;
    return onlySums(sums, error.message);
  }
}

function onlySums(sums: IndexSums, notAsked: string): AuditResult {
  const { head: block, wallets, balances: indexed } = sums;
  const nothing = { compared: undefined, isComplete: true, differences: [] };
  return { block, wallets, ...nothing, total: { indexed, contract: undefined }, sums, notAsked };
}

export function isOfDatabase(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || error instanceof DatabaseRefusedError;
}

async function compareWithContract(question: AuditQuestion): Promise<ContractComparison> {
  const { index, reader } = question;
  let before = await requireIndex(index);
  await reader.verifyChainId(before.chainId);
  const first = await compareBalances(question, await auditBlock(before, question.block, reader));
  let result = first;
  for (let round = 1; !agreesWithContract(result); round++) {
    const after = await requireIndex(index);
    if (after.fingerprint === before.fingerprint && after.rollbacks === before.rollbacks) break;
    if (round === MOST_ROUNDS || after.fingerprint !== before.fingerprint) throw wentBack();
    before = after;
    const always = first.differences.map(({ wallet }) => wallet);
    const block = await auditBlock(before, question.block, reader);
    const again = await compareBalances({ ...question, sample: 0, always }, block);
    result = {
      ...again,
      compared: again.compared === undefined ? undefined : first.compared,
      isComplete: first.isComplete && again.isComplete,
    };
  }
  return result;
}

/** @throws AuditImpossibleError where there is no index */
export async function requireIndex(index: IndexReader): Promise<IndexState> {
  const state = await index.state();
  if (state === undefined) throw noIndex();
  return state;
}

function noIndex(): AuditImpossibleError {
  return new AuditImpossibleError('There is no index yet.');
}

/**
 * The block at which index and contract are read. The block is final, so neither changes during the audit.
 * @param wanted a number, or `finalised` for the newest final block that is indexed
 * @throws AuditImpossibleError where the block is not final, not indexed, or not available
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

/**
 * A rollback can reach below the finalised block: the indexer makes one where the contract's figures prove the index
 * wrong.
 */
function wentBack(): AuditImpossibleError {
  return new AuditImpossibleError(
    'The index went back while it was looked at: run the audit again once the indexer is level with the chain.',
  );
}
