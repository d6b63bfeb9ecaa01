import { type BlockRef } from '#libs/domain';
import { type ChainHeads } from '../vouch/heads-reader.js';
import { type IndexedChain } from '../write/index-writer.js';

export type NextStep =
  /** Blocks are missing: read up to the block `to`. */
  | { readonly kind: 'advance'; readonly to: bigint }
  | { readonly kind: 'wait' }
  /** The node is behind the index. A lower head alone is never a reorganisation. */
  | { readonly kind: 'behind'; readonly by: bigint }
  /** The node's head is below the finalised block: the loop reports an error and never rolls back. */
  | { readonly kind: 'frozen'; readonly finalised: bigint; readonly latest: bigint }
  /** The chain has another hash at an indexed height. */
  | { readonly kind: 'reorganised'; readonly at: bigint };

/** Decides what the loop does next. Only a different hash at the same height is a reorganisation. */
export function nextStep(index: IndexedChain, chain: Omit<ChainHeads, 'endpoint'>): NextStep {
  const { head, finalised } = index;
  const { latest } = chain;
  if (finalised && latest.number < finalised.number)
    return { kind: 'frozen', finalised: finalised.number, latest: latest.number };
  const known = index.hashAt(chain.finalised.number);
  if (known !== undefined && known !== chain.finalised.hash)
    return { kind: 'reorganised', at: chain.finalised.number };
  if (latest.number > head.number) return { kind: 'advance', to: latest.number };
  const indexed = latest.number === head.number ? head.hash : index.hashAt(latest.number);
  if (indexed !== undefined && indexed !== latest.hash)
    return { kind: 'reorganised', at: latest.number };
  if (latest.number === head.number) return { kind: 'wait' };
  return { kind: 'behind', by: head.number - latest.number };
}

/** The newest indexed block that is final; never lower than the stored finalised block. */
export function finalisedOf(
  index: IndexedChain,
  chain: Omit<ChainHeads, 'endpoint'>,
): BlockRef | undefined {
  const { head, finalised } = index;
  if (chain.finalised.number >= head.number) return head;
  if (finalised && chain.finalised.number <= finalised.number) return finalised;
  return chain.finalised;
}
