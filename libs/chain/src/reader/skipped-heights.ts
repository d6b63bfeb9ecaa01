/** Finds heights that have no block although the chain goes on above them, as on Filecoin. */
import { type RpcSession } from '../rpc/question.js';
import { headerCall, parseHeader } from '../blocks/header.js';

/**
 * @param numbers ascending
 * @returns the first height without a block between two blocks of which one follows the other
 */
export async function findSkippedHeight(
  session: RpcSession,
  numbers: readonly bigint[],
): Promise<bigint | undefined> {
  const { results } = await session.batch(numbers.map(headerCall));
  // Some nodes answer for such a height with the block before it, others with null or an error.
  const headers = results.flatMap(
    (result) => (result.ok && parseHeader(result.value, session)) || [],
  );
  for (const [index, header] of headers.entries()) {
    const before = headers[index - 1];
    const isNext = before !== undefined && header.parentHash === before.hash;
    if (isNext && header.number > before.number + 1n) return before.number + 1n;
  }
  return undefined;
}
