/**
 * Finds heights that have no block although the chain goes on above them, as on Filecoin. A block names its parent, so
 * it shows whether the height below it was skipped: every second height is read. A height that is not answered is
 * judged by the blocks beside it.
 */
import { type BlockRange } from '../logs/read-range.js';
import { type RpcSession } from '../rpc/question.js';
import { type FullHeader, headerCall, parseHeader } from '../blocks/header.js';

/** @returns the first height without a block between two blocks of which one follows the other */
export async function findSkippedHeight(
  session: RpcSession,
  { from, to }: BlockRange,
): Promise<bigint | undefined> {
  const asked: bigint[] = [];
  for (let number = from; number <= to; number += 2n) asked.push(number);
  const headers = new Map<bigint, FullHeader>();
  await read(session, asked, headers);
  const beside = asked
    .filter((number) => !headers.has(number))
    .flatMap((number) => [number - 1n, number + 1n])
    .filter((number) => number >= from && number <= to);
  if (beside.length > 0) await read(session, [...new Set(beside)], headers);
  const numbers = [...headers.keys()].sort((a, b) => Number(a - b));
  for (const [index, number] of numbers.entries()) {
    const below = numbers[index - 1];
    if (below === undefined || number === below + 1n) continue;
    if (headers.get(number)?.parentHash === headers.get(below)?.hash) return below + 1n;
  }
  return undefined;
}

/** Some nodes answer for a skipped height with the block before it, others with null or an error. */
async function read(
  session: RpcSession,
  numbers: readonly bigint[],
  headers: Map<bigint, FullHeader>,
): Promise<void> {
  const { results } = await session.batch(numbers.map(headerCall));
  for (const result of results) {
    const header = result.ok ? parseHeader(result.value, session) : undefined;
    if (header) headers.set(header.number, header);
  }
}
