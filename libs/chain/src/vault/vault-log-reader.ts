/**
 * The vault's events up to one final block, from one node that proves to have that block. Every log is held against the header
 * of its block and the receipt of its transaction; whether any are missing is told by the vault's status, not here.
 */
import { type Address, type BlockRef } from '#libs/domain';
import {
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  RpcError,
  TransportError,
} from '../errors/rpc.errors.js';
import { headerCall } from '../logs/range-reader.js';
import { type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { parseHeaderOf } from '../shape/header.js';
import { hash, isRecord, toQuantity } from '../shape/hex.js';
import {
  CANCELLED,
  CLAIMED,
  parseVaultLog,
  type VaultEvent,
  vaultEventOf,
  type VaultLog,
} from './vault-event.js';
import { type VaultId } from './vault-id.js';

export interface VaultSpan {
  readonly from: bigint;
  /** The last block, which must be final. */
  readonly head: BlockRef;
  /** Only of these redemptions; without it, of all. */
  readonly ids?: readonly VaultId[];
}

interface Part {
  readonly from: bigint;
  readonly to: bigint;
}

/** Filters by address and topic are cheap for a node; where it takes fewer blocks at once, it says so. */
const MOST_BLOCKS = 100_000n;

export class VaultLogReader {
  private blocksAtOnce = MOST_BLOCKS;

  constructor(private readonly vault: Address) {}

  /**
   * @returns in the order of the chain
   * @throws NodeBehindError where the node does not have `head`; MalformedAnswerError, other RpcErrors
   */
  async read(session: RpcSession, span: VaultSpan): Promise<VaultEvent[]> {
    const events: VaultEvent[] = [];
    let from = span.from;
    while (from <= span.head.number) {
      const end = from + this.blocksAtOnce - 1n;
      const part = { from, to: end < span.head.number ? end : span.head.number };
      const logs = await this.unlessTooLarge(part, () => this.logsOf(session, part, span));
      if (!logs) continue;
      events.push(...(await this.vouchedFor(session, logs)));
      from = part.to + 1n;
    }
    return events;
  }

  /** @returns undefined where fewer blocks are to be asked for, which `blocksAtOnce` then says */
  private async unlessTooLarge<T>(part: Part, ask: () => Promise<T>): Promise<T | undefined> {
    const blocks = part.to - part.from + 1n;
    try {
      const answer = await ask();
      // Slowly back to more, should the limit have been that of a bad moment.
      const more = this.blocksAtOnce + this.blocksAtOnce / 4n + 1n;
      this.blocksAtOnce = more < MOST_BLOCKS ? more : MOST_BLOCKS;
      return answer;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const tooLarge = error instanceof RangeTooLargeError;
      if (!tooLarge && !error.sizeMayExplain) throw error;
      if (blocks === 1n) {
        const { endpoint } = error;
        throw tooLarge
          ? new TransportError('a single block is too large', { endpoint, cause: error })
          : error;
      }
      const proposed = tooLarge ? error.proposedTo : undefined;
      this.blocksAtOnce = proposed === undefined ? blocks / 2n : proposed - part.from + 1n;
      if (tooLarge) return undefined;
      throw error;
    }
  }

  /** One batch: the logs, and the header that proves that the same node has the final block. */
  private async logsOf(
    session: RpcSession,
    part: Part,
    { head, ids }: VaultSpan,
  ): Promise<VaultLog[]> {
    const { endpoint } = session;
    const filter = {
      address: this.vault,
      fromBlock: toQuantity(part.from),
      toBlock: toQuantity(part.to),
      topics: [[CLAIMED, CANCELLED], ...(ids ? [ids] : [])],
    };
    const { results } = await session.batch([
      { method: 'eth_getLogs', params: [filter] },
      headerCall(head.number),
    ]);
    const value = valueOf(results[0]);
    const header = parseHeaderOf(valueOf(results[1]), head.number, endpoint);
    if (header?.hash !== head.hash) {
      throw new NodeBehindError(`does not have block ${head.hash}`, { endpoint });
    }
    if (!Array.isArray(value)) {
      throw new MalformedAnswerError('the logs are not a list', { endpoint });
    }
    const logs = value.map((log) => parseVaultLog(log, this.vault, endpoint));
    requireAsked(logs, part, { ids, endpoint });
    return logs;
  }

  private async vouchedFor(session: RpcSession, logs: readonly VaultLog[]): Promise<VaultEvent[]> {
    const { endpoint } = session;
    const numbers = [...new Set(logs.map((log) => log.blockNumber))];
    const transactions = [...new Set(logs.map((log) => log.transactionHash))];
    const { results } = await session.batch([
      ...numbers.map(headerCall),
      ...transactions.map(receiptCall),
    ]);
    const blocks = new Map(
      numbers.map((number, index): [bigint, BlockRef] => [
        number,
        blockOf(results[index], number, endpoint),
      ]),
    );
    const receipts = new Map(
      transactions.map((transaction, index) => [transaction, results[numbers.length + index]]),
    );
    return logs.map((log) => {
      const block = blocks.get(log.blockNumber);
      if (block?.hash !== log.blockHash) {
        throw new MalformedAnswerError(
          `a log of block ${log.blockNumber.toString()} is from another fork than its header`,
          { endpoint },
        );
      }
      requireInReceipt(valueOf(receipts.get(log.transactionHash)), log, {
        vault: this.vault,
        endpoint,
      });
      return vaultEventOf(log, block, endpoint);
    });
  }
}

function requireAsked(
  logs: readonly VaultLog[],
  { from, to }: Part,
  { ids, endpoint }: { readonly ids: readonly string[] | undefined; readonly endpoint: string },
): void {
  const asked = ids && new Set(ids);
  let previous: VaultLog | undefined;
  for (const log of logs) {
    const { blockNumber, logIndex, topics } = log;
    const outside = blockNumber < from || blockNumber > to;
    if (outside || (asked && !asked.has(topics[1] ?? ''))) {
      throw new MalformedAnswerError('a log that was not asked for', { endpoint });
    }
    const isLater =
      !previous ||
      blockNumber > previous.blockNumber ||
      (blockNumber === previous.blockNumber && logIndex > previous.logIndex);
    if (!isLater) throw new MalformedAnswerError('a log is doubled or out of order', { endpoint });
    previous = log;
  }
}

function receiptCall(transactionHash: string): RpcCall {
  return { method: 'eth_getTransactionReceipt', params: [transactionHash] };
}

function blockOf(result: RpcResult | undefined, blockNumber: bigint, endpoint: string): BlockRef {
  const header = parseHeaderOf(valueOf(result), blockNumber, endpoint);
  if (!header) throw new NodeBehindError(`lacks block ${blockNumber.toString()}`, { endpoint });
  const { number, hash, timestampSeconds } = header;
  return { number, hash, timestampSeconds };
}

/** @throws NodeBehindError, MalformedAnswerError */
function requireInReceipt(
  receipt: unknown,
  log: VaultLog,
  { vault, endpoint }: { readonly vault: Address; readonly endpoint: string },
): void {
  const what = `transaction ${log.transactionHash}`;
  if (receipt === null) throw new NodeBehindError(`has no receipt of ${what}`, { endpoint });
  const succeeded =
    isRecord(receipt) &&
    receipt['status'] === '0x1' &&
    hash(receipt['blockHash']) === log.blockHash &&
    hash(receipt['transactionHash']) === log.transactionHash;
  const logs: unknown[] = succeeded && Array.isArray(receipt['logs']) ? receipt['logs'] : [];
  const same = logs.find((one) => isRecord(one) && one['logIndex'] === toQuantity(log.logIndex));
  const found = same === undefined ? undefined : parseVaultLog(same, vault, endpoint);
  if (found?.data === log.data && found.topics.join() === log.topics.join()) return;
  throw new MalformedAnswerError(`the receipt of ${what} does not hold its log`, { endpoint });
}
