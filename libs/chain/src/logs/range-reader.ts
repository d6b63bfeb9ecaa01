/** Reads the logs of a range and its headers from one endpoint; what they prove together is checked by the log source. */
import { LRUCache } from 'lru-cache';
import { type BlockHash } from '#libs/domain';
import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { type TotalCalls } from '../reader/total-calls.js';
import { valueOf, type RpcCall, type RpcResult } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import { type FullHeader, parseHeaderOf } from '../shape/header.js';
import { hashesToItself } from '../shape/header-hash.js';
import { hash, isRecord, quantity, toQuantity } from '../shape/hex.js';
import { type EventDecoder } from './event-decoder.js';
import { requireChain } from './header-chain.js';
import { type LogFilter } from './log-filter.js';
import { readRangeLogs, type RangeLogs } from './range-logs.js';
import { ourLogsOfReceipts } from './receipt-logs.js';

export interface BlockSpan {
  readonly from: bigint;
  readonly to: bigint;
}

/** Which headers are read: of every block, or of the last one and those with events. */
export type HeadersOf = 'all' | 'events';

export interface RawReading extends RangeLogs {
  /** Ascending; the last is that of `to`. */
  readonly headers: readonly FullHeader[];
  /** The contracts' total at the end of the range, where it was asked for and told. */
  readonly total: bigint | undefined;
  readonly bytes: number;
}

/** How much is read beside the logs. */
export interface ReadingOptions {
  readonly headers: HeadersOf;
  /** Asked for by the number of the last block: for ranges in which nothing can be reorganised. */
  readonly total?: TotalCalls | undefined;
}

/** Headers of final blocks that are kept, for when the same range is asked for again; half a kilobyte each. */
const KEPT_HEADERS = 20_000;
/** Where so many of the last range's blocks had events, all headers are asked for at once, and one round trip is saved. */
const DENSE = 0.95;
const MOST_AT_ONCE = 500;

/** Receipts of whole blocks are large: no more of them in one answer. */
const RECEIPTS_AT_ONCE = 25;

export class RangeReader {
  /** By endpoint and number: what one says does not stand for the word of another. */
  private readonly kept = new LRUCache<string, FullHeader>({ max: KEPT_HEADERS });
  /** Of the last range: the share of blocks with events. */
  private density = 0;

  /** @param proves whether headers are hashed: where another provider's word is held against theirs */
  constructor(
    private readonly filter: LogFilter,
    private readonly decoder: EventDecoder,
    private readonly proves = false,
  ) {}

  /**
   * The logs in one request with the header of the last block, which proves that this node has it. With `events` the headers of
   * the blocks with events follow: a log's time is believed only where its block's header has the same.
   */
  async byLogs(
    session: RpcSession,
    span: BlockSpan,
    { headers: headersOf, total }: ReadingOptions,
  ): Promise<RawReading> {
    const isAll = headersOf === 'all' || this.isDense(span, session);
    const numbers = isAll ? lastFirst(span) : [span.to];
    const answer = await session.batch([
      { method: 'eth_getLogs', params: [this.filter.forRange(span.from, span.to)] },
      ...numbers.map(headerCall),
      ...(total?.at(toQuantity(span.to)) ?? []),
    ]);
    const [first, ...others] = answer.results;
    const logs = valueOf(first);
    const { endpoint } = session;
    let headers = readHeaders(numbers, others.slice(0, numbers.length), endpoint, this.proves);
    let { bytes } = answer;
    if (headersOf === 'events' && !isAll) {
      const more = await this.headersOfEvents(session, logs, span);
      headers = [...more.headers, ...headers];
      requireChain(headers, endpoint);
      bytes += more.bytes;
    }
    const read = this.read(logs, { session, span, headers });
    if (headersOf === 'events') {
      if (isAll) this.keep(session, headers);
      this.density = read.blocks.length / (Number(span.to - span.from) + 1);
    }
    return { ...read, headers, total: total?.sumOf(others.slice(numbers.length)), bytes };
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
    const read = this.read(logs, { session, span, headers });
    return { ...read, headers, total: undefined, bytes };
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
    const kept: FullHeader[] = [];
    const missing: bigint[] = [];
    for (const [number, blockHash] of blocksOf(logs, span, session.endpoint)) {
      const header = this.kept.get(keyOf(session, number));
      if (header && header.hash === blockHash) kept.push(header);
      else if (number !== span.to) missing.push(number);
    }
    if (missing.length === 0) return { headers: inOrder(kept, span), bytes: 0 };
    const { results, bytes } = await session.batch(missing.map(headerCall));
    const headers = readHeaders(missing, results, session.endpoint, this.proves);
    this.keep(session, headers);
    return { headers: inOrder([...kept, ...headers], span), bytes };
  }

  /** A range that was read before needs only the headers that are not kept. */
  private isDense({ from, to }: BlockSpan, session: RpcSession): boolean {
    const isKept = this.kept.has(keyOf(session, from));
    return this.density >= DENSE && to - from < MOST_AT_ONCE && !isKept;
  }

  private keep(session: RpcSession, headers: readonly FullHeader[]): void {
    for (const header of headers) this.kept.set(keyOf(session, header.number), header);
  }
}

function keyOf({ endpoint }: RpcSession, number: bigint): string {
  return `${endpoint} ${number.toString()}`;
}

/** Without the last block's, which is read with the logs. */
function inOrder(headers: readonly FullHeader[], { to }: BlockSpan): FullHeader[] {
  return headers
    .filter(({ number }) => number !== to)
    .sort((a, b) => (a.number < b.number ? -1 : 1));
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

/** The numbers and hashes of the blocks that logs say they are from; everything else about the logs is checked later. */
function blocksOf(
  logs: unknown,
  { from, to }: BlockSpan,
  endpoint: string,
): Map<bigint, BlockHash | undefined> {
  if (!Array.isArray(logs)) throw new MalformedAnswerError('the logs are not a list', { endpoint });
  const blocks = new Map<bigint, BlockHash | undefined>();
  let lastText: unknown;
  for (const log of logs as unknown[]) {
    const text = isRecord(log) ? log['blockNumber'] : undefined;
    if (text === lastText && text !== undefined) continue;
    lastText = text;
    const number = quantity(text);
    if (number === undefined || number < from || number > to) {
      const what = 'a log lacks a valid blockNumber, or is from outside the range';
      throw new MalformedAnswerError(what, { endpoint });
    }
    blocks.set(BigInt(number), hash((log as Record<string, unknown>)['blockHash']));
  }
  return blocks;
}

/**
 * @param proves whether to hash them
 * @returns ascending
 * @throws NodeBehindError where a block is missing, MalformedAnswerError where they are not one chain
 */
export function readHeaders(
  numbers: readonly bigint[],
  results: readonly RpcResult[],
  endpoint: string,
  proves = false,
): FullHeader[] {
  const headers = numbers.map((number, index) => {
    const block = valueOf(results[index]);
    const header = parseHeaderOf(block, number, endpoint);
    if (!header)
      throw new NodeBehindError(`does not have block ${number.toString()}`, { endpoint });
    return proves ? { ...header, isProven: hashesToItself(block) } : header;
  });
  headers.sort((a, b) => (a.number < b.number ? -1 : 1));
  requireChain(headers, endpoint);
  return headers;
}
