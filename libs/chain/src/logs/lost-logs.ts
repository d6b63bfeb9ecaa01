/**
 * Finds nodes that answer `[]` for blocks whose logs they have pruned. The proof is the node's own: a header whose bloom
 * is not empty, no logs at all of that block, and receipts that are gone. A node that has the receipts has not pruned: it
 * left logs out, which is found in other ways, or its chain's blooms show more than there is.
 */
import { NodeBehindError, StateUnavailableError } from '../rpc/rpc.errors.js';
import { type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { EMPTY_BLOOM, type FullHeader, headerCall, parseHeaderOf } from '../blocks/header.js';
import { toQuantity } from '../rpc/hex.js';

/** Blocks that are looked at; all of them must lack their logs. */
const MOST_BLOCKS = 3;

/**
 * @param numbers of blocks that the node should have
 * @returns the first block that lacks its logs; undefined where the logs are there, or nothing is proven
 */
export async function findLostLogs(
  session: RpcSession,
  numbers: readonly bigint[],
): Promise<bigint | undefined> {
  const { results } = await session.batch(numbers.map(headerCall));
  const headers = numbers.flatMap((number, index) => {
    const result = results[index];
    return (result?.ok && parseHeaderOf(result.value, number, session)) || [];
  });
  const busy = headers.filter(hasLogs).slice(0, MOST_BLOCKS);
  if (busy.length === 0) return undefined;
  const answer = await session.batch(
    busy.flatMap(({ hash, number }) => [
      { method: 'eth_getLogs', params: [{ blockHash: hash }] },
      { method: 'eth_getBlockReceipts', params: [toQuantity(number)] },
    ]),
  );
  const isLost = busy.every(
    (header, index) =>
      isEmpty(answer.results[2 * index]) &&
      lacksReceipts(answer.results[2 * index + 1], header.transactions),
  );
  return isLost ? busy[0]?.number : undefined;
}

function hasLogs({ logsBloom, transactions }: FullHeader): boolean {
  return logsBloom !== EMPTY_BLOOM && transactions > 0;
}

function isEmpty(result: RpcResult | undefined): boolean {
  if (!result?.ok) return result?.error instanceof StateUnavailableError;
  return result.value === null || (Array.isArray(result.value) && result.value.length === 0);
}

/** Whether the receipts of a block with transactions are gone. */
function lacksReceipts(result: RpcResult | undefined, transactions: number): boolean {
  if (!result?.ok) {
    const { error } = result ?? {};
    return error instanceof StateUnavailableError || error instanceof NodeBehindError;
  }
  return Array.isArray(result.value) ? result.value.length < transactions : result.value === null;
}
