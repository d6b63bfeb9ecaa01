/**
 * Reads logs and headers from one endpoint, of a range or at the chain's tip. The log source checks what they prove
 * together.
 */
import { LRUCache } from 'lru-cache';
import { type BlockHash, type BlockRef } from '#libs/domain';
import {
  MalformedAnswerError,
  RangeTooLargeError,
  type RpcError,
  RpcRefusedError,
  SizeRefusedError,
  TransportError,
} from '../errors/rpc.errors.js';
import { type TotalCalls } from '../reader/stake-views.js';
import { type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import {
  fetchHeaders,
  type FullHeader,
  headerCall,
  parseTagged,
  readHeaders,
  requireChain,
  tagCall,
} from '../shape/header.js';
import { hash, isRecord, quantity, toQuantity } from '../shape/hex.js';
import { type EventDecoder } from './event-decoder.js';
import { type LogFilter } from './log-filter.js';
import { type LogList, parseLogList } from './log-list.js';
import { type BlockRange, type RangeLogs, type RangeReading, readRangeLogs } from './range-logs.js';
import { readReceiptLogs } from './receipt-logs.js';

interface ReadingOptions {
  /** The headers to read: of every block, or of the last block and the blocks with events. */
  readonly headers?: 'all' | 'events';
  /** The contracts' total, read by the number of the last block: for ranges in which nothing can be reorganised. */
  readonly total?: TotalCalls | undefined;
}

/**
 * Share of blocks with events in the last range from which on all headers are requested with the logs, which saves a
 * round trip.
 */
const DENSE = 0.95;
const MOST_AT_ONCE = 500;

export class RangeReader {
  /** Cached headers by endpoint and number: the header of one endpoint does not stand for that of another. */
  private readonly kept: LRUCache<string, FullHeader>;
  private readonly proves: boolean;
  /** Share of blocks with events in the last range. */
  private density = 0;

  /**
   * @param options.proves whether headers are hashed, for the comparison with another provider
   * @param options.keptHeaders size of the cache of final headers, for ranges that are read again; half a kilobyte each
   */
  constructor(
    readonly filter: LogFilter,
    private readonly decoder: EventDecoder,
    { proves, keptHeaders }: { readonly proves: boolean; readonly keptHeaders: number },
  ) {
    this.proves = proves;
    this.kept = new LRUCache({ max: keptHeaders });
  }

  /**
   * Reads the logs in one request with the header of the last block, which proves that this node has the block. With
   * `events` the headers of the blocks with events follow, because the time of a log is believed only where the header
   * of its block has the same time.
   */
  async readByLogs(
    session: RpcSession,
    range: BlockRange,
    { headers: headersOf, total }: ReadingOptions,
  ): Promise<RangeReading> {
    const isAll = headersOf !== 'events' || this.isDense(range, session);
    const numbers = isAll ? lastFirst(range) : [range.to];
    const answer = await this.ask(session, range, [
      ...numbers.map(headerCall),
      ...(total?.at(toQuantity(range.to)) ?? []),
    ]);
    const { logs, others } = answer;
    let headers = readHeaders(numbers, others.slice(0, numbers.length), session, this.proves);
    let { bytes } = answer;
    if (!isAll) {
      const more = await this.headersOfEvents(session, logs, range);
      headers = [...more.headers, ...headers];
      requireChain(headers, session);
      bytes += more.bytes;
    }
    const read = this.read(logs, { session, range, headers });
    if (headersOf === 'events') {
      if (isAll) this.keep(session, headers);
      this.density = read.blocks.length / (Number(range.to - range.from) + 1);
    }
    return { ...read, headers, total: total?.sumOf(others.slice(numbers.length)), bytes };
  }

  /**
   * The logs of a range in one request with the calls `beside`, of which the first is that of the last block's header.
   * The logs of one block that a node does not answer at once are read in parts.
   * @throws the errors of the calls; TransportError where one block is too large in any way of reading it
   */
  async ask(
    session: RpcSession,
    range: BlockRange,
    beside: readonly RpcCall[],
  ): Promise<LogsAnswer> {
    const { from, to } = range;
    try {
      return await askFor(session, [this.filter.forRange(from, to)], beside);
    } catch (error) {
      if (from < to || !isAboutSize(error)) throw error;
      return this.askInParts(session, range, { beside, error });
    }
  }

  private async askInParts(
    session: RpcSession,
    range: BlockRange,
    { beside, error }: { readonly beside: readonly RpcCall[]; readonly error: RpcError },
  ): Promise<LogsAnswer> {
    for (const filters of this.filter.partsOf(range.from, range.to)) {
      try {
        return await askFor(session, filters, beside);
      } catch (reason) {
        if (!isAboutSize(reason)) throw reason;
      }
    }
    try {
      const { logs, bytes } = await this.receiptsOf(session, [range.to]);
      const { results: others, bytes: more } = await session.batch(beside);
      return { logs, others, bytes: bytes + more };
    } catch (reason) {
      if (!isAboutSize(reason) && !(reason instanceof RpcRefusedError)) throw reason;
      const what = `block ${range.to.toString()} alone is too large, also by event, by contract and from its receipts`;
      throw new TransportError(what, { endpoint: session.endpoint, cause: error });
    }
  }

  /** Reads the logs of a range from the receipts of every block. */
  async readByReceipts(session: RpcSession, range: BlockRange): Promise<RangeReading> {
    const { logs, headers, bytes } = await this.receiptsOf(session, lastFirst(range));
    return { ...this.read(logs, { session, range, headers }), headers, bytes };
  }

  private async receiptsOf(
    session: RpcSession,
    numbers: readonly bigint[],
  ): Promise<{ logs: LogList; headers: FullHeader[]; bytes: number }> {
    const { headers, bytes } = await fetchHeaders(session, numbers);
    const logs: unknown[] = [];
    let all = bytes;
    for await (const block of readReceiptLogs(session, headers, this.filter)) {
      logs.push(...block.ours);
      all += block.bytes;
    }
    return { logs: parseLogList(logs, session), headers, bytes: all };
  }

  /** Parses logs that were received before. @throws MalformedAnswerError, EventMismatchError */
  read(
    logs: LogList,
    at: {
      readonly session: RpcSession;
      readonly range: BlockRange;
      readonly headers: readonly FullHeader[];
    },
  ): RangeLogs {
    const { filter, decoder } = this;
    return readRangeLogs(logs, {
      endpoint: at.session.endpoint,
      from: Number(at.range.from),
      to: Number(at.range.to),
      filter,
      decoder,
      headers: new Map(at.headers.map((header) => [Number(header.number), header])),
    });
  }

  /** The headers of the blocks with events, ascending, without that of the last block, which is read with the logs. */
  private async headersOfEvents(
    session: RpcSession,
    logs: LogList,
    range: BlockRange,
  ): Promise<{ headers: FullHeader[]; bytes: number }> {
    const kept: FullHeader[] = [];
    const missing: bigint[] = [];
    for (const [number, blockHash] of blocksOf(logs, range, session)) {
      if (number === range.to) continue;
      const header = this.kept.get(keyOf(session, number));
      if (header && header.hash === blockHash) kept.push(header);
      else missing.push(number);
    }
    const { headers, bytes } = await fetchHeaders(session, missing, this.proves);
    this.keep(session, headers);
    const all = [...kept, ...headers].sort((a, b) => (a.number < b.number ? -1 : 1));
    return { headers: all, bytes };
  }

  /**
   * Whether to request all headers with the logs. A range that was read before needs only the headers that are not
   * cached.
   */
  private isDense({ from, to }: BlockRange, session: RpcSession): boolean {
    const isKept = this.kept.has(keyOf(session, from));
    return this.density >= DENSE && to - from < MOST_AT_ONCE && !isKept;
  }

  private keep(session: RpcSession, headers: readonly FullHeader[]): void {
    for (const header of headers) this.kept.set(keyOf(session, header.number), header);
  }
}

interface LogsAnswer {
  readonly logs: LogList;
  /** The answers to the calls beside the logs, in their order. */
  readonly others: readonly RpcResult[];
  readonly bytes: number;
}

async function askFor(
  session: RpcSession,
  filters: readonly Record<string, unknown>[],
  beside: readonly RpcCall[],
): Promise<LogsAnswer> {
  const [first, ...more] = filters.map((filter) => ({ method: 'eth_getLogs', params: [filter] }));
  if (!first) throw new RangeError('no filter');
  const { results, bytes } = await session.batch([first, ...beside, ...more]);
  const others = results.slice(1, 1 + beside.length);
  const whole = parseLogList(valueOf(results[0]), session);
  if (more.length === 0) return { logs: whole, others, bytes };
  const rest = results.slice(1 + beside.length);
  const lists = [whole, ...rest.map((result) => parseLogList(valueOf(result), session))];
  const logs = lists.flatMap((list) => list.logs);
  const removed = lists.flatMap((list) => list.removed);
  return { logs: { logs, removed, isNull: lists.some(({ isNull }) => isNull) }, others, bytes };
}

/** Whether the node refuses these logs for their size, and so may answer fewer. */
function isAboutSize(error: unknown): error is RangeTooLargeError | SizeRefusedError {
  return error instanceof RangeTooLargeError || error instanceof SizeRefusedError;
}

function keyOf({ endpoint }: RpcSession, number: bigint): string {
  return `${endpoint} ${number.toString()}`;
}

/** The last block first, because its header shares a request with the logs. */
function lastFirst({ from, to }: BlockRange): bigint[] {
  return [to, ...Array.from({ length: Number(to - from) }, (_, index) => from + BigInt(index))];
}

/**
 * The numbers and hashes of the blocks that the logs name, removed ones included; everything else about the logs is
 * checked later.
 */
function blocksOf(
  { logs, removed }: LogList,
  { from, to }: BlockRange,
  session: RpcSession,
): Map<bigint, BlockHash | undefined> {
  const blocks = new Map<bigint, BlockHash | undefined>();
  let lastText: unknown;
  for (const log of [...removed.filter((one) => isWithin(one, { from, to })), ...logs]) {
    const text = isRecord(log) ? log['blockNumber'] : undefined;
    if (text === lastText && text !== undefined) continue;
    lastText = text;
    const number = quantity(text);
    if (number === undefined || number < from || number > to) {
      const what = 'a log lacks a valid blockNumber, or is from outside the range';
      throw new MalformedAnswerError(what, session);
    }
    blocks.set(BigInt(number), hash((log as Record<string, unknown>)['blockHash']));
  }
  return blocks;
}

function isWithin(log: Record<string, unknown>, { from, to }: BlockRange): boolean {
  const number = quantity(log['blockNumber']);
  return number !== undefined && number >= from && number <= to;
}

export interface TipQuestion {
  readonly head: BlockRef;
  /** The tag of the newest final block; undefined where finality is a depth. */
  readonly tag: 'finalized' | 'safe' | undefined;
  readonly total: TotalCalls | undefined;
}

export interface TipFacts {
  readonly latest: FullHeader;
  readonly finalised: FullHeader | undefined;
  /** At the node's newest block, which may be newer than `latest`. */
  readonly total: bigint | undefined;
}

interface TipReading extends TipFacts {
  /**
   * Headers of the blocks after the head, ascending; empty where there are none, or too many to be read in this way.
   */
  readonly headers: readonly FullHeader[];
  readonly logs: LogList;
  readonly bytes: number;
}

/** Most blocks that are read in this way. Where more are missing, ranges are read instead. */
const MOST_BLOCKS = 64n;

/**
 * Reads what is new at the chain's tip in one request: the logs after a known block, the newest block, the newest final
 * block, and the contracts' total. A second request reads headers where several blocks are new.
 * @throws MalformedAnswerError, NodeBehindError, and the errors of the calls that matter
 */
export async function readTip(
  session: RpcSession,
  filter: LogFilter,
  { head, tag, total }: TipQuestion,
): Promise<TipReading> {
  const logsCall = { method: 'eth_getLogs', params: [filter.from(head.number + 1n)] };
  const blocks = ['latest', ...(tag === undefined ? [] : [tag])];
  const answer = await session.batch([
    logsCall,
    ...blocks.map(tagCall),
    ...(total?.at('latest') ?? []),
  ]);
  const [logs, newest, ...others] = answer.results;
  const latest = parseTagged(valueOf(newest), 'latest', session);
  const reading = {
    latest,
    finalised: tag && parseTagged(valueOf(others[0]), tag, session),
    total: total?.sumOf(answer.results.slice(1 + blocks.length)),
    bytes: answer.bytes,
  };
  const missing = latest.number - head.number;
  // A node may refuse logs from a block on that it does not have yet, so the logs are not looked at.
  if (missing <= 0n || missing > MOST_BLOCKS) {
    return { ...reading, headers: [], logs: parseLogList([], session) };
  }
  const numbers = Array.from(
    { length: Number(missing) - 1 },
    (_, index) => head.number + 1n + BigInt(index),
  );
  const between = await fetchHeaders(session, numbers);
  const headers = [...between.headers, latest];
  requireChain(headers, session);
  return {
    ...reading,
    headers,
    logs: upTo(parseLogList(valueOf(logs), session), latest),
    bytes: reading.bytes + between.bytes,
  };
}

/**
 * Drops the logs above `latest`. A block may arrive between two calls of one request; its logs are read the next time.
 */
function upTo(list: LogList, latest: FullHeader): LogList {
  const isLater = (log: unknown): boolean => {
    const number = isRecord(log) ? quantity(log['blockNumber']) : undefined;
    return number !== undefined && number > latest.number;
  };
  return { ...list, logs: list.logs.filter((log) => !isLater(log)) };
}
