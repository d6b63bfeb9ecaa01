/**
 * Reads the vault's events up to one final block, from one node that proves to have that block. Every log is checked
 * against the header of its block and the receipt of its transaction. Whether logs are missing is not checked in this
 * file: the vault's status shows it.
 */
import { type Address, type BlockRef } from '#libs/domain';
import {
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  RpcError,
  TransportError,
} from '../rpc/rpc.errors.js';
import { type BlockRange } from '../logs/read-range.js';
import { blocksIn, RangeSizer, streamRanges } from '../logs/range-stream.js';
import { type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { headerCall, parseHeaderOf, refOf } from '../blocks/header.js';
import { hash, isRecord, quantity, toQuantity } from '../rpc/hex.js';
import { ANSWER_BYTES } from '../reader/sync-cost.js';
import {
  CANCELLED,
  CLAIMED,
  parseVaultLog,
  type VaultEvent,
  vaultEventOf,
  type VaultId,
  type VaultLog,
} from './vault-event.js';

export interface VaultSpan {
  readonly from: bigint;
  /** The last block, which must be final. */
  readonly head: BlockRef;
  /** Limits the events to these redemptions; absent: all. */
  readonly ids?: readonly VaultId[];
}

/**
 * Blocks per request. Filters by address and topic are cheap for a node, and a node that accepts fewer blocks reports
 * that.
 */
const MOST_BLOCKS = 100_000;
/** Bytes that are fetched while the part before is checked against its receipts. */
const MAX_BUFFERED_BYTES = 2 * ANSWER_BYTES;

export class VaultLogReader {
  private readonly sizer = new RangeSizer({
    targetBytes: ANSWER_BYTES,
    maxBlocks: MOST_BLOCKS,
    initialBlocks: MOST_BLOCKS,
  });

  constructor(private readonly vault: Address) {}

  /**
   * @returns the events in the order of the chain
   * @throws NodeBehindError where the node does not have `head`; MalformedAnswerError, other RpcErrors
   */
  async read(session: RpcSession, span: VaultSpan): Promise<VaultEvent[]> {
    const events: VaultEvent[] = [];
    const parts = streamRanges(
      { from: span.from, to: span.head.number },
      {
        fetch: (part) => this.fetchPart(session, part, span),
        sizer: this.sizer,
        concurrency: () => 1,
        maxBufferedBytes: MAX_BUFFERED_BYTES,
      },
    );
    for await (const { logs } of parts) events.push(...(await this.vouchedFor(session, logs)));
    return events;
  }

  private async fetchPart(session: RpcSession, part: BlockRange, span: VaultSpan) {
    try {
      return await this.logsOf(session, part, span);
    } catch (error) {
      const isTooLarge = error instanceof RangeTooLargeError;
      if (isTooLarge && part.from === part.to) {
        const { endpoint } = error;
        throw new TransportError('a single block is too large', { endpoint, cause: error });
      }
      // The pool asks another endpoint now. From now on every endpoint is asked for fewer blocks.
      const mayBeSize = error instanceof RpcError && error.sizeMayExplain;
      if (mayBeSize && !isTooLarge) this.sizer.refused(blocksIn(part));
      throw error;
    }
  }

  /** One batch: the logs, and the header that proves that the same node has the final block. */
  private async logsOf(
    session: RpcSession,
    part: BlockRange,
    { head, ids }: VaultSpan,
  ): Promise<{ readonly logs: VaultLog[]; readonly bytes: number }> {
    const filter = {
      address: this.vault,
      fromBlock: toQuantity(part.from),
      toBlock: toQuantity(part.to),
      topics: [[CLAIMED, CANCELLED], ...(ids ? [ids] : [])],
    };
    const { results, bytes } = await session.batch([
      { method: 'eth_getLogs', params: [filter] },
      headerCall(head.number),
    ]);
    const value = valueOf(results[0]);
    const header = parseHeaderOf(valueOf(results[1]), head.number, session);
    if (header?.hash !== head.hash) {
      throw new NodeBehindError(`does not have block ${head.hash}`, session);
    }
    if (!Array.isArray(value)) throw new MalformedAnswerError('the logs are not a list', session);
    const logs = value.map((log) => parseVaultLog(log, this.vault, session));
    requireAsked(logs, part, ids, session);
    // Nodes order logs in their own ways.
    logs.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
    return { logs, bytes };
  }

  private async vouchedFor(session: RpcSession, logs: readonly VaultLog[]): Promise<VaultEvent[]> {
    const numbers = [...new Set(logs.map((log) => log.blockNumber))];
    const transactions = [...new Set(logs.map((log) => log.transactionHash))];
    const { results } = await session.batch([
      ...numbers.map(headerCall),
      ...transactions.map(receiptCall),
    ]);
    const blocks = new Map(
      numbers.map((number, index): [bigint, BlockRef] => [
        number,
        blockOf(results[index], number, session),
      ]),
    );
    const receipts = new Map(
      transactions.map((transaction, index) => [transaction, results[numbers.length + index]]),
    );
    return logs.map((log) => {
      const block = blocks.get(log.blockNumber);
      if (block?.hash !== log.blockHash) {
        const what = `a log of block ${log.blockNumber.toString()} is from another fork than its header`;
        throw new MalformedAnswerError(what, session);
      }
      requireInReceipt(valueOf(receipts.get(log.transactionHash)), log, this.vault, session);
      return vaultEventOf(log, block, session);
    });
  }
}

function requireAsked(
  logs: readonly VaultLog[],
  { from, to }: BlockRange,
  ids: readonly string[] | undefined,
  session: RpcSession,
): void {
  const asked = ids && new Set(ids);
  const places = new Set<string>();
  for (const { blockNumber, transactionHash, logIndex, topics } of logs) {
    const outside = blockNumber < from || blockNumber > to;
    if (outside || (asked && !asked.has(topics[1] ?? ''))) {
      throw new MalformedAnswerError('a log that was not asked for', session);
    }
    const place = `${transactionHash} ${logIndex}`;
    if (places.has(place)) throw new MalformedAnswerError('a log is doubled', session);
    places.add(place);
  }
}

function receiptCall(transactionHash: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [transactionHash] };
}

function blockOf(result: RpcResult | undefined, number: bigint, session: RpcSession): BlockRef {
  const header = parseHeaderOf(valueOf(result), number, session);
  if (header) return refOf(header);
  throw new NodeBehindError(`lacks block ${number.toString()}`, session);
}

/** @throws NodeBehindError, MalformedAnswerError */
function requireInReceipt(
  receipt: unknown,
  log: VaultLog,
  vault: Address,
  session: RpcSession,
): void {
  const what = `transaction ${log.transactionHash}`;
  if (receipt === null) throw new NodeBehindError(`has no receipt of ${what}`, session);
  const succeeded =
    isRecord(receipt) &&
    quantity(receipt['status']) === 1 &&
    hash(receipt['blockHash']) === log.blockHash &&
    hash(receipt['transactionHash']) === log.transactionHash;
  const logs: unknown[] = succeeded && Array.isArray(receipt['logs']) ? receipt['logs'] : [];
  const same = logs.find((one) => isRecord(one) && quantity(one['logIndex']) === log.logIndex);
  const found = same === undefined ? undefined : parseVaultLog(same, vault, session);
  if (found?.data === log.data && found.topics.join() === log.topics.join()) return;
  throw new MalformedAnswerError(`the receipt of ${what} does not hold its log`, session);
}
