import { type ChainReader } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type BlockRef } from '#libs/domain';
import { AuditImpossibleError } from './audit.error.js';
import { indexedContracts } from './indexed-contracts.js';

/**
 * The block that both sides are read at: final, so that neither changes meanwhile.
 * @param wanted a number, or the newest final block that is indexed
 * @throws AuditImpossibleError where it is not final, not indexed, or not there
 */
export async function auditBlock(
  state: IndexState,
  wanted: bigint | 'finalised',
  reader: Pick<ChainReader, 'headers'>,
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
