import { type BlockHash, type BlockHeader, type BlockRef } from '#libs/domain';

/** What the chain says of itself, from one request to one node. */
export interface ChainHeads {
  readonly latest: BlockHeader;
  readonly finalised: BlockRef;
}

export interface IndexedChain {
  readonly head: BlockRef;
  readonly finalised: BlockRef | undefined;
  /** The hash indexed at a height, where it is remembered: the finalised block and all above it. */
  readonly hashAt: (number: bigint) => BlockHash | undefined;
}

type NextStep =
  /** Blocks are missing: read on to this one. */
  | { readonly kind: 'advance'; readonly to: bigint }
  | { readonly kind: 'wait' }
  /** The node is behind what is already known: not a reorganisation, whatever it says. */
  | { readonly kind: 'behind'; readonly by: bigint }
  /** The node does not even know the finalised block: alarm, never a rollback. */
  | { readonly kind: 'frozen'; readonly finalised: bigint; readonly latest: bigint }
  /** Another hash at an indexed height. */
  | { readonly kind: 'reorganised'; readonly at: bigint };

/** The one decision of the loop. Only a different hash at the same height is a reorganisation. */
export function nextStep(index: IndexedChain, chain: ChainHeads): NextStep {
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

/** The newest block that is final, as far as it is indexed: never older than what was final before. */
export function finalisedOf(index: IndexedChain, chain: ChainHeads): BlockRef | undefined {
  const { head, finalised } = index;
  if (chain.finalised.number >= head.number) return head;
  if (finalised && chain.finalised.number <= finalised.number) return finalised;
  return chain.finalised;
}
