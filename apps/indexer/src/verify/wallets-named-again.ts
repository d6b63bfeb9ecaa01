import { type LogSource, RangeTooLargeError } from '#libs/chain';
import { type IndexState } from '#libs/db';
import { type Address } from '#libs/domain';
import { type RangeVerifier } from './range-verifier.js';

export interface NamedAgainParts {
  readonly verifier: Pick<RangeVerifier, 'hasOtherProvider' | 'fetchOptions'>;
  readonly source: Pick<LogSource, 'fetch'>;
}

/** Blocks that became final since the last sweep are few. */
const BLOCKS_AT_ONCE = 1_000n;

/**
 * The wallets of the events in the blocks that became final since wallets were compared, by asking for them once more. Those blocks may
 * have been read once only, above finality: a wallet that was left out then, and did nothing else, shows in no other comparison.
 * @returns none where another provider vouches for each block, or every final block was asked for twice
 * @throws AllEndpointsFailedError
 */
export async function walletsNamedAgain(
  { verifier, source }: NamedAgainParts,
  { finalised, verifiedNumber }: Pick<IndexState, 'finalised' | 'verifiedNumber'>,
  signal: AbortSignal,
): Promise<Address[]> {
  if (verifier.hasOtherProvider || finalised === undefined || verifiedNumber === undefined) {
    return [];
  }
  const wallets = new Set<Address>();
  let size = BLOCKS_AT_ONCE;
  for (let from = verifiedNumber + 1n; from <= finalised.number;) {
    const end = from + size - 1n;
    const to = end < finalised.number ? end : finalised.number;
    try {
      const { blocks } = await source.fetch({ from, to }, verifier.fetchOptions(true, signal));
      for (const { deltas } of blocks) for (const { wallet } of deltas) wallets.add(wallet);
      from = to + 1n;
    } catch (error) {
      if (!(error instanceof RangeTooLargeError)) throw error;
      size = size > 1n ? size / 2n : size;
    }
  }
  return [...wallets];
}
