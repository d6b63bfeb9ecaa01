/** Reads logs and headers of a range from one node, or compares a range that another node gave. */
import { LRUCache } from 'lru-cache';
import { type BlockDeltas, type BlockHash, type BlockHeader } from '#libs/domain';
import {
  AnswersDifferError,
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  type RpcError,
  RpcRefusedError,
  SizeRefusedError,
  TransportError,
} from '../rpc/rpc.errors.js';
import { type TotalCalls } from '../calls/stake-views.js';
import { type RpcCall, type RpcResult, valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import {
  fetchHeaders,
  findTagged,
  type FullHeader,
  headerCall,
  readHeaders,
  requireChain,
  requireNotAhead,
  tagCall,
} from '../blocks/header.js';
import { hash, isRecord, quantity, toQuantity } from '../rpc/hex.js';
import { providerOf } from '../rpc/endpoint-urls.js';
import { type BlockLogs, type BlockRange, type ReadRange } from './read-range.js';
import {
  type EventDecoder,
  type LogList,
  logListOf,
  LogReader,
  parseLogList,
  type RangeLogsContext,
  type Reading,
  readRangeLogs,
} from './range-logs.js';
import { readReceiptLogs } from './receipt-logs.js';
import { type LogFilter } from './log-filter.js';

interface ReadingOptions {
  /** The headers to read: of every block, or of the last block and the blocks with events. */
  readonly headers?: 'all' | 'events';
  /** The contracts' total, read by the number of the last block: for ranges in which nothing can be reorganised. */
  readonly total?: TotalCalls | undefined;
}

export interface ComparisonQuestion {
  /** Also read: the contracts' total at the end of the range. */
  readonly total?: TotalCalls | undefined;
  /** Also read: the newest block that is final by this tag. */
  readonly tag?: 'finalized' | 'safe' | undefined;
  /** The latest time of a block that is believed, Unix seconds. */
  readonly latestSeconds?: number | undefined;
}

/** The statement of another node about a range, with the same block at its end. */
export interface Comparison {
  readonly endpoint: string;
  /** Blocks whose effects or times differ, ascending. */
  readonly differing: readonly bigint[];
  /** Undefined where it was not asked for, or not answered. */
  readonly total: bigint | undefined;
  readonly finalised: BlockHeader | undefined;
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
  ): Promise<Reading> {
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
    const blocks = this.read(logs, { session, range, headers });
    if (headersOf === 'events') {
      if (isAll) this.keep(session, headers);
      this.density = blocks.length / (Number(range.to - range.from) + 1);
    }
    const sum = total?.sumOf(others.slice(numbers.length));
    return { list: logs, blocks, headers, total: sum, bytes };
  }

  /**
   * The logs of a range in one request with the calls `beside`, of which the first is that of the last block's header.
   * The logs of one block that a node does not answer at once are read in parts.
   * @throws the errors of the calls; TransportError where one block is too large in any way of reading it
   */
  private async ask(
    session: RpcSession,
    range: BlockRange,
    beside: readonly RpcCall[],
  ): Promise<LogsAnswer> {
    const { from, to } = range;
    try {
      const reader = (): LogReader => new LogReader(this.contextOf(session, range));
      const logsCall = { ...callOf(this.filter.forRange(from, to)), reader };
      const { results, bytes } = await session.batch([logsCall, ...beside]);
      return { logs: logListOf(valueOf(results[0]), session), others: results.slice(1), bytes };
    } catch (error) {
      if (from < to || !isAboutSize(error)) throw error;
      return this.askInParts(session, range, { beside, error });
    }
  }

  /**
   * Compares a range with what this node answers. Makes one request, and another one for headers if logs have no times
   * and the range does not prove them, or have other times than the range.
   * @throws NodeBehindError if the node has another block at the end of the range, or none yet; AnswersDifferError if it
   * dates that block otherwise
   */
  async compare(
    session: RpcSession,
    range: ReadRange,
    { total, tag, latestSeconds }: ComparisonQuestion,
  ): Promise<Comparison> {
    const { logs, others } = await this.ask(session, range, [
      headerCall(range.to),
      ...(tag === undefined ? [] : [tagCall(tag)]),
      ...(total?.at(toQuantity(range.to)) ?? []),
    ]);
    const [last, final] = others;
    const headers = readHeaders([range.to], last ? [last] : [], session);
    for (const header of headers) {
      requireNotAhead(header, latestSeconds, session);
      requireSame(header, range, session);
    }
    const blocks = this.read(logs, { session, range, headers });
    adoptTimes(session, range, blocks);
    forgetOtherTimes(range, blocks);
    await readTimes(session, blocks);
    return {
      endpoint: session.endpoint,
      differing: differingBlocks(range.blocks, blocks),
      total: total?.sumOf(others.slice(tag === undefined ? 1 : 2)),
      finalised: tag && findTagged(final, session),
    };
  }

  private async askInParts(
    session: RpcSession,
    range: BlockRange,
    { beside, error }: { readonly beside: readonly RpcCall[]; readonly error: RpcError },
  ): Promise<LogsAnswer> {
    for (const filters of this.filter.partsOf(range.from, range.to)) {
      try {
        return await askForParts(session, filters, beside);
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
  async readByReceipts(session: RpcSession, range: BlockRange): Promise<Reading> {
    const { logs, headers, bytes } = await this.receiptsOf(session, lastFirst(range));
    const blocks = this.read(logs, { session, range, headers });
    return { list: logs, blocks, headers, bytes };
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

  /** Reads logs that were received before. @throws MalformedAnswerError, EventMismatchError */
  read(
    logs: LogList,
    at: {
      readonly session: RpcSession;
      readonly range: BlockRange;
      readonly headers: readonly FullHeader[];
    },
  ): readonly BlockLogs[] {
    const headers = new Map(at.headers.map((header) => [Number(header.number), header]));
    return readRangeLogs(logs, headers, this.contextOf(at.session, at.range));
  }

  private contextOf({ endpoint }: RpcSession, { from, to }: BlockRange): RangeLogsContext {
    const { filter, decoder } = this;
    return { endpoint, from: Number(from), to: Number(to), filter, decoder };
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

/** The logs of several filters together. */
async function askForParts(
  session: RpcSession,
  filters: readonly Record<string, unknown>[],
  beside: readonly RpcCall[],
): Promise<LogsAnswer> {
  const [first, ...more] = filters.map(callOf);
  if (!first) throw new RangeError('no filter');
  const { results, bytes } = await session.batch([first, ...beside, ...more]);
  const others = results.slice(1, 1 + beside.length);
  const lists = [results[0], ...results.slice(1 + beside.length)].map((result) =>
    parseLogList(valueOf(result), session),
  );
  const logs = lists.flatMap((list) => list.logs);
  const removed = lists.flatMap((list) => list.removed);
  const isNull = lists.some((list) => list.isNull);
  return { logs: { logs, removed, isNull }, others, bytes };
}

function callOf(filter: Record<string, unknown>): RpcCall {
  return { method: 'eth_getLogs', params: [filter] };
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
 * checked later, if it was not when the answer was parsed.
 */
function blocksOf(
  { logs, removed }: LogList,
  range: BlockRange,
  session: RpcSession,
): Map<bigint, BlockHash | undefined> {
  const gone = removed.filter((one) => isWithin(one, range));
  const blocks = namedIn(logs instanceof LogReader ? gone : [...gone, ...logs], range, session);
  if (!(logs instanceof LogReader)) return blocks;
  for (const { number, hash: blockHash } of logs.blocks) blocks.set(BigInt(number), blockHash);
  return blocks;
}

/** @throws MalformedAnswerError */
function namedIn(
  logs: readonly unknown[],
  { from, to }: BlockRange,
  session: RpcSession,
): Map<bigint, BlockHash | undefined> {
  const blocks = new Map<bigint, BlockHash | undefined>();
  let lastText: unknown;
  for (const log of logs) {
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

function requireSame(
  header: FullHeader,
  { head, endpoint: first }: ReadRange,
  session: RpcSession,
): void {
  const block = `block ${header.number.toString()}`;
  if (header.hash !== head.hash) {
    throw new NodeBehindError(`has ${block} as ${header.hash}, ${first} as ${head.hash}`, session);
  }
  if (header.timestampSeconds !== head.timestampSeconds) {
    const what = `dates ${block} ${header.timestampSeconds} (Unix seconds), ${first} dates it ${head.timestampSeconds}`;
    throw new AnswersDifferError(what, session);
  }
}

/**
 * Completes the times of blocks. Many nodes put the time into each log. Otherwise the time in the answer counts, where
 * the block's header proves it, or where the answer is from the same provider.
 */
function adoptTimes(
  { endpoint }: RpcSession,
  range: ReadRange,
  blocks: readonly BlockLogs[],
): void {
  if (!range.isProven && providerOf(range.endpoint) !== providerOf(endpoint)) return;
  const known = new Map(range.headers.map((header) => [Number(header.number), header]));
  for (const block of blocks) {
    const header = known.get(block.number);
    if (header?.hash === block.hash) block.timestampSeconds ??= header.timestampSeconds;
  }
}

/** Forgets the times of logs that contradict the answer: they are hints, and the header decides. */
function forgetOtherTimes(range: ReadRange, blocks: readonly BlockLogs[]): void {
  const known = new Map(
    range.blocks.map(({ blockNumber, timestampSeconds }) => [
      Number(blockNumber),
      timestampSeconds,
    ]),
  );
  for (const block of blocks) {
    const told = known.get(block.number);
    if (told !== undefined && told !== block.timestampSeconds) block.timestampSeconds = undefined;
  }
}

/** Reads the headers of this node for the blocks that still have no time. */
async function readTimes(session: RpcSession, blocks: readonly BlockLogs[]): Promise<void> {
  const untimed = blocks.filter(({ timestampSeconds }) => timestampSeconds === undefined);
  if (untimed.length === 0) return;
  const numbers = untimed.map(({ number }) => BigInt(number));
  const { headers } = await fetchHeaders(session, numbers);
  for (const [index, block] of untimed.entries()) {
    const header = headers[index];
    if (header?.hash !== block.hash) {
      const what = `the logs of block ${block.number} are from another fork than its header`;
      throw new MalformedAnswerError(what, session);
    }
    block.timestampSeconds = header.timestampSeconds;
  }
}

/**
 * The blocks whose effects or times differ between two answers about the same blocks of one chain.
 * @returns ascending
 */
function differingBlocks(answer: readonly BlockDeltas[], other: readonly BlockLogs[]): bigint[] {
  const effects = new Map<bigint, BlockDeltas>();
  for (const block of answer) effects.set(block.blockNumber, block);
  const differing: bigint[] = [];
  for (const { number, deltas, timestampSeconds } of other) {
    const mine = effects.get(BigInt(number));
    effects.delete(BigInt(number));
    const isOtherTime = mine !== undefined && mine.timestampSeconds !== timestampSeconds;
    if (isOtherTime || !isSame(mine?.deltas ?? [], deltas)) differing.push(BigInt(number));
  }
  // Blocks that the other answer lacks.
  for (const [number, { deltas }] of effects) if (deltas.length > 0) differing.push(number);
  return differing.sort((a, b) => (a < b ? -1 : 1));
}

function isSame(one: BlockDeltas['deltas'], other: BlockDeltas['deltas']): boolean {
  if (one.length !== other.length) return false;
  const isInOrder = one.every(({ wallet, amount }, index) => {
    const delta = other[index];
    return delta?.wallet === wallet && delta.amount === amount;
  });
  // Nodes number the logs of a block in their own ways, and their order changes no balance at its end.
  return isInOrder || sortedText(one) === sortedText(other);
}

function sortedText(deltas: BlockDeltas['deltas']): string {
  return deltas
    .map(({ wallet, amount }) => `${wallet} ${amount}`)
    .sort()
    .join();
}
