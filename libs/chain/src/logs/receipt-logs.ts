/**
 * Reads our logs from eth_getBlockReceipts: a second source on the same node, also for blocks whose logs cannot be
 * asked for.
 */
import { MalformedAnswerError, NodeBehindError } from '../rpc/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { EMPTY_BLOOM, type FullHeader } from '../blocks/header.js';
import { bytes, hash, type Hex, isRecord, toQuantity } from '../rpc/hex.js';
import { bloomBits, type BloomBits, bloomOf, isWithin } from './blooms.js';
import { type LogFilter } from './log-filter.js';

interface ReceiptLogs {
  /** Our logs as received, in order; they are checked later, as those of eth_getLogs. */
  readonly ours: readonly unknown[];
  /**
   * Whether the header's bloom holds nothing but what the receipts show. Where it holds more, logs are missing, or the
   * chain's blooms hold what no receipt shows, as those of ZK Stack chains do (matter-labs/zksync-era, pull request
   * 2633).
   */
  readonly explainsBloom: boolean;
  /** Bytes of the whole request, counted with its first block. */
  readonly bytes: number;
}

/** Blocks in one request, because the receipts of whole blocks are large. */
const RECEIPTS_AT_ONCE = 25;

/**
 * Yields block by block, in the order of the headers.
 * @throws MalformedAnswerError, NodeBehindError, and the errors of the calls
 */
export async function* readReceiptLogs(
  session: RpcSession,
  headers: readonly FullHeader[],
  filter: LogFilter,
): AsyncGenerator<ReceiptLogs, void, undefined> {
  for (let at = 0; at < headers.length; at += RECEIPTS_AT_ONCE) {
    const part = headers.slice(at, at + RECEIPTS_AT_ONCE);
    const answer = await session.batch(
      part.map(({ number }) => ({
        method: 'eth_getBlockReceipts',
        params: [toQuantity(number)],
      })),
    );
    for (const [index, header] of part.entries()) {
      const logs = logsOf(valueOf(answer.results[index]), header, session);
      const found = oursAmong(logs, header, filter, session);
      yield { ...found, bytes: index === 0 ? answer.bytes : 0 };
    }
  }
}

function oursAmong(
  logs: Iterable<Record<string, unknown>>,
  header: FullHeader,
  filter: LogFilter,
  session: RpcSession,
): Omit<ReceiptLogs, 'bytes'> {
  const ours: unknown[] = [];
  const items = new Map<string, BloomBits>();
  for (const log of logs) {
    const topics: unknown = log['topics'];
    const parts = [log['address'], ...(Array.isArray(topics) ? (topics as unknown[]) : [null])];
    for (const part of parts) {
      const item = bytes(part)?.toLowerCase();
      if (item === undefined) {
        const what = `a log of block ${header.number.toString()} lacks address or topics`;
        throw new MalformedAnswerError(what, session);
      }
      if (!items.has(item)) items.set(item, bloomBits(item as Hex));
    }
    const [address, topic0] = parts as [string, string | undefined];
    if (topic0 === undefined) continue;
    if (filter.isOurs(address.toLowerCase(), topic0.toLowerCase())) ours.push(log);
  }
  const explainsBloom =
    header.logsBloom === EMPTY_BLOOM || isWithin(header.logsBloom, bloomOf(items.values()));
  return { ours, explainsBloom };
}

function* logsOf(
  receipts: unknown,
  header: FullHeader,
  session: RpcSession,
): Generator<Record<string, unknown>> {
  const block = `block ${header.number.toString()}`;
  const isEmpty = header.transactions === 0 && header.logsBloom === EMPTY_BLOOM;
  if (receipts === null && isEmpty) return;
  if (receipts === null) throw new NodeBehindError(`has no receipts of ${block}`, session);
  if (!Array.isArray(receipts)) {
    throw new MalformedAnswerError(`the receipts of ${block} are not a list`, session);
  }
  for (const receipt of receipts as unknown[]) {
    const logs: unknown = isRecord(receipt) ? (receipt['logs'] ?? []) : undefined;
    if (!isRecord(receipt) || hash(receipt['blockHash']) !== header.hash || !Array.isArray(logs)) {
      throw new MalformedAnswerError(`a receipt is not of ${block} or has no logs`, session);
    }
    for (const log of logs as unknown[]) {
      if (!isRecord(log)) throw new MalformedAnswerError('a log is not an object', session);
      yield log;
    }
  }
}
