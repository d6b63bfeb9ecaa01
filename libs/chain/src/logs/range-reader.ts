/** Reads the logs of a range and its headers from one endpoint; what they prove together is checked by the log source. */
import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { type FullHeader, parseHeaderOf } from '../shape/header.js';
import { isRecord, quantity, toQuantity } from '../shape/hex.js';
import { type EventDecoder } from './event-decoder.js';
import { requireChain } from './header-chain.js';
import { type LogFilter } from './log-filter.js';
import { readRangeLogs, type RangeLogs } from './range-logs.js';
import { ourLogsOfReceipts } from './receipt-logs.js';

export interface BlockSpan {
  readonly from: bigint;
  readonly to: bigint;
}

/** Which headers are read: of every block, of the last one and those with events, or of the last one only. */
export type HeadersOf = 'all' | 'events' | 'last';

export interface RawReading extends RangeLogs {
  /** Ascending; the last is that of `to`. */
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

  /**
   * The logs in one request with the header of the last block, which proves that this node has it. With `events` the headers of
   * the blocks with events follow: a log's time is believed only where its block's header has the same.
   */
  async byLogs(session: RpcSession, span: BlockSpan, headersOf: HeadersOf): Promise<RawReading> {
    const numbers = headersOf === 'all' ? lastFirst(span) : [span.to];
    const logsCall = { method: 'eth_getLogs', params: [this.filter.forRange(span.from, span.to)] };
    const answer = await session.batch([logsCall, ...numbers.map(headerCall)]);
    const logs = valueOf(answer.results[0]);
    let headers = readHeaders(numbers, answer.results.slice(1), session.endpoint);
    let { bytes } = answer;
    if (headersOf === 'events') {
      const more = await this.headersOfEvents(session, logs, span);
      headers = [...more.headers, ...headers];
      requireChain(headers, session.endpoint);
      bytes += more.bytes;
    }
    return { ...this.read(logs, { session, span, headers }), headers, bytes };
  }

  /** The same from the receipts of every block. */
  async byReceipts(session: RpcSession, span: BlockSpan): Promise<RawReading> {
    const numbers = lastFirst(span);
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
        logs.push(...ourLogsOfReceipts(valueOf(receipts.results[index]), header, context).ours);
      }
    }
    return { ...this.read(logs, { session, span, headers }), headers, bytes };
  }

  /** Logs that are here already. @throws MalformedAnswerError, EventMismatchError */
  read(
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

  private async headersOfEvents(
    session: RpcSession,
    logs: unknown,
    span: BlockSpan,
  ): Promise<{ headers: FullHeader[]; bytes: number }> {
    const numbers = blockNumbersOf(logs, span, session.endpoint).filter(
      (number) => number !== span.to,
    );
    if (numbers.length === 0) return { headers: [], bytes: 0 };
    const { results, bytes } = await session.batch(numbers.map(headerCall));
    return { headers: readHeaders(numbers, results, session.endpoint), bytes };
  }
}

export function headerCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] };
}

/** The newest block, or the newest final one, by its tag. */
export function tagCall(tag: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tag, false] };
}

export function receiptsCall(header: FullHeader): RpcCall {
  return { method: 'eth_getBlockReceipts', params: [toQuantity(header.number)] };
}

/** The last block first: its header shares a request with the logs. */
function lastFirst({ from, to }: BlockSpan): bigint[] {
  return [to, ...Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index))];
}

/** The blocks that logs say they are from, each once; everything else about the logs is checked later. */
function blockNumbersOf(logs: unknown, { from, to }: BlockSpan, endpoint: string): bigint[] {
  if (!Array.isArray(logs)) throw new MalformedAnswerError('the logs are not a list', { endpoint });
  const texts = new Set<unknown>();
  for (const log of logs as unknown[]) if (isRecord(log)) texts.add(log['blockNumber']);
  return [...texts].map((text) => {
    const number = quantity(text);
    if (number !== undefined && number >= from && number <= to) return BigInt(number);
    const what = 'a log lacks a valid blockNumber, or is from outside the range';
    throw new MalformedAnswerError(what, { endpoint });
  });
}

/** @returns ascending. @throws NodeBehindError where a block is missing, MalformedAnswerError where they are not one chain */
export function readHeaders(
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
