import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { EMPTY_BLOOM, type FullHeader } from '../shape/header.js';
import { bytes, hash, isRecord } from '../shape/hex.js';
import { bloomBits, bloomOf, type BloomBits, isWithin } from './bloom.js';
import { type LogFilter } from './log-filter.js';

export interface ReceiptLogs {
  /** Those of ours as they came, in order; everything about them is checked later, as with eth_getLogs. */
  readonly ours: readonly unknown[];
  /**
   * The header's bloom holds nothing but what the receipts show. Where it holds more, logs are missing, or the chain's blooms hold
   * what no receipt shows, as those of ZK Stack chains do (matter-labs/zksync-era, pull request 2633).
   */
  readonly explainsBloom: boolean;
}

/**
 * Our logs of one block out of eth_getBlockReceipts.
 * @throws MalformedAnswerError, NodeBehindError
 */
export function ourLogsOfReceipts(
  receipts: unknown,
  header: FullHeader,
  context: { readonly endpoint: string; readonly filter: LogFilter },
): ReceiptLogs {
  const { endpoint, filter } = context;
  const block = `block ${header.number.toString()}`;
  if (receipts === null) throw new NodeBehindError(`has no receipts of ${block}`, { endpoint });
  if (!Array.isArray(receipts)) {
    throw new MalformedAnswerError(`the receipts of ${block} are not a list`, { endpoint });
  }
  const ours: unknown[] = [];
  const items = new Map<string, BloomBits>();
  for (const log of logsOf(receipts as unknown[], header, endpoint)) {
    const topics: unknown = log['topics'];
    const parts = [log['address'], ...(Array.isArray(topics) ? (topics as unknown[]) : [null])];
    for (const part of parts) {
      const item = bytes(part)?.toLowerCase();
      if (item === undefined) {
        throw new MalformedAnswerError(`a log of ${block} lacks address or topics`, { endpoint });
      }
      if (!items.has(item)) items.set(item, bloomBits(item as `0x${string}`));
    }
    const [address, topic0] = parts as [string, string | undefined];
    if (topic0 !== undefined && filter.isOurs(address.toLowerCase(), topic0)) ours.push(log);
  }
  const explainsBloom =
    header.logsBloom === EMPTY_BLOOM || isWithin(header.logsBloom, bloomOf(items.values()));
  return { ours, explainsBloom };
}

function* logsOf(
  receipts: readonly unknown[],
  header: FullHeader,
  endpoint: string,
): Generator<Record<string, unknown>> {
  for (const receipt of receipts) {
    const logs: unknown = isRecord(receipt) ? receipt['logs'] : undefined;
    if (!isRecord(receipt) || hash(receipt['blockHash']) !== header.hash || !Array.isArray(logs)) {
      throw new MalformedAnswerError(
        `a receipt is not of block ${header.number.toString()} or has no logs`,
        { endpoint },
      );
    }
    for (const log of logs as unknown[]) {
      if (!isRecord(log)) throw new MalformedAnswerError('a log is not an object', { endpoint });
      yield log;
    }
  }
}
