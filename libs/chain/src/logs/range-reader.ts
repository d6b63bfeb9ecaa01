/** Reads the logs of a range and its headers from one endpoint; what they prove together is checked by the log source. */
import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { type FullHeader, parseHeaderOf } from '../shape/header.js';
import { toQuantity } from '../shape/hex.js';
import { type EventDecoder } from './event-decoder.js';
import { requireChain } from './header-chain.js';
import { type LogFilter } from './log-filter.js';
import { type BlockLogs, readRangeLogs, type RangeLogs } from './range-logs.js';
import { ourLogsOfReceipts } from './receipt-logs.js';

export interface BlockSpan {
  readonly from: bigint;
  readonly to: bigint;
}

export interface RawReading extends RangeLogs {
  readonly headers: readonly FullHeader[];
  readonly bytes: number;
}

/** Receipts of whole blocks are large: no more of them in one answer. */
const RECEIPTS_AT_ONCE = 25;

export class RangeReader {
  constructor(
    private readonly filter: LogFilter,
    private readonly decoder: EventDecoder,
  ) {}

  /** One batch: the logs, the header of the last block, which proves that this node has it, and the other headers. */
  async byLogs(
    session: RpcSession,
    span: BlockSpan,
    headersOf: 'all' | 'events',
  ): Promise<RawReading> {
    const numbers = lastFirst(span, headersOf);
    const logsCall = { method: 'eth_getLogs', params: [this.filter.forRange(span.from, span.to)] };
    const answer = await session.batch([logsCall, ...numbers.map(headerCall)]);
    const logs = valueOf(answer.results[0]);
    const headers = readHeaders(numbers, answer.results.slice(1), session.endpoint);
    const read = this.read(logs, { session, span, headers });
    const missing = read.blocks.filter((block) => block.timestampSeconds === undefined);
    if (missing.length === 0) return { ...read, headers, bytes: answer.bytes };
    const more = await this.headersOfBlocks(session, missing);
    const all = [...headers, ...more.headers].sort((a, b) => (a.number < b.number ? -1 : 1));
    requireChain(all, session.endpoint);
    return { ...read, headers: all, bytes: answer.bytes + more.bytes };
  }

  /** The same from the receipts of every block. */
  async byReceipts(session: RpcSession, span: BlockSpan): Promise<RawReading> {
    const numbers = lastFirst(span, 'all');
    const answer = await session.batch(numbers.map(headerCall));
    const headers = readHeaders(numbers, answer.results, session.endpoint);
    const logs: unknown[] = [];
    let { bytes } = answer;
    for (let at = 0; at < headers.length; at += RECEIPTS_AT_ONCE) {
      const part = headers.slice(at, at + RECEIPTS_AT_ONCE);
      const receipts = await session.batch(part.map(receiptsCall));
      bytes += receipts.bytes;
      for (const [index, header] of part.entries()) {
        const context = { endpoint: session.endpoint, filter: this.filter };
        logs.push(...ourLogsOfReceipts(valueOf(receipts.results[index]), header, context));
      }
    }
    return { ...this.read(logs, { session, span, headers }), headers, bytes };
  }

  private read(
    logs: unknown,
    parts: {
      readonly session: RpcSession;
      readonly span: BlockSpan;
      readonly headers: readonly FullHeader[];
    },
  ): RangeLogs {
    const { filter, decoder } = this;
    return readRangeLogs(logs, {
      endpoint: parts.session.endpoint,
      from: Number(parts.span.from),
      to: Number(parts.span.to),
      filter,
      decoder,
      headers: new Map(parts.headers.map((header) => [Number(header.number), header])),
    });
  }

  /** For nodes whose logs carry no time. */
  private async headersOfBlocks(
    session: RpcSession,
    blocks: readonly BlockLogs[],
  ): Promise<{ headers: FullHeader[]; bytes: number }> {
    const numbers = blocks.map((block) => BigInt(block.number));
    const answer = await session.batch(numbers.map(headerCall));
    const headers = readHeaders(numbers, answer.results, session.endpoint);
    for (const [index, block] of blocks.entries()) {
      const header = headers[index];
      if (header?.hash !== block.hash) {
        throw new MalformedAnswerError(
          `the logs of block ${block.number} are from another fork than its header`,
          { endpoint: session.endpoint },
        );
      }
      block.timestampSeconds = header.timestampSeconds;
    }
    return { headers, bytes: answer.bytes };
  }
}

export function headerCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] };
}

export function receiptsCall(header: FullHeader): RpcCall {
  return { method: 'eth_getBlockReceipts', params: [toQuantity(header.number)] };
}

function lastFirst({ from, to }: BlockSpan, headersOf: 'all' | 'events'): bigint[] {
  if (from === to) return [to];
  if (headersOf === 'events') return [to, from];
  return [to, ...Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index))];
}

/** @returns ascending. @throws NodeBehindError where a block is missing, MalformedAnswerError where they are not one chain */
function readHeaders(
  numbers: readonly bigint[],
  results: readonly RpcResult[],
  endpoint: string,
): FullHeader[] {
  const headers = numbers.map((number, index) => {
    const header = parseHeaderOf(valueOf(results[index]), number, endpoint);
    if (!header)
      throw new NodeBehindError(`does not have block ${number.toString()}`, { endpoint });
    return header;
  });
  headers.sort((a, b) => (a.number < b.number ? -1 : 1));
  requireChain(headers, endpoint);
  return headers;
}
