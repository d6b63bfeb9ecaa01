import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { EMPTY_BLOOM, type FullHeader } from '../shape/header.js';
import { bytes, hash, isRecord } from '../shape/hex.js';
import { bloomBits, bloomOf, type BloomBits, isWithin } from './bloom.js';
import { type LogFilter } from './log-filter.js';

/**
 * Our logs of one block out of eth_getBlockReceipts. The bloom of all the receipts' logs must hold every bit of the header's:
 * with that a whole answer is told from a thinned one, which eth_getLogs does not allow.
 * @returns the logs of ours as they came, in order; everything about them is checked later, as with eth_getLogs
 * @throws MalformedAnswerError, NodeBehindError
 */
export function ourLogsOfReceipts(
  receipts: unknown,
  header: FullHeader,
  context: { readonly endpoint: string; readonly filter: LogFilter },
): unknown[] {
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
  if (header.logsBloom !== EMPTY_BLOOM && !isWithin(header.logsBloom, bloomOf(items.values()))) {
    throw new MalformedAnswerError(`the receipts of ${block} lack logs that its bloom holds`, {
      endpoint,
    });
  }
  return ours;
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
