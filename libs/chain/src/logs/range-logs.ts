/**
 * Checks the logs of one answer against the range and the headers, converts them to effects block by block, and builds
 * the answer.
 */
import {
  type BlockDeltas,
  type BlockHash,
  type BlockHeader,
  type BlockRef,
  type StakeDelta,
} from '#libs/domain';
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { type AtEndpoint } from '../rpc/rpc-call.js';
import { type FullHeader, plainHeader, refOf } from '../shape/header.js';
import { hash, isRecord, quantity, smallQuantity } from '../shape/hex.js';
import { type EventDecoder } from './event-decoder.js';
import { type LogFilter } from './log-filter.js';

/** Blocks `from` to `to`, both included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface BlockLogs {
  readonly number: number;
  readonly hash: BlockHash;
  /** From the header, else from the log; undefined where neither has it. */
  timestampSeconds: number | undefined;
  readonly deltas: StakeDelta[];
  logs: number;
  readonly seen: Set<string>;
}

export interface RangeLogs {
  /** Ascending. */
  readonly blocks: BlockLogs[];
  readonly events: number;
  /** Numbers of blocks whose bloom denies logs of the answer. */
  readonly denied: ReadonlySet<number>;
}

export interface RangeReading extends RangeLogs {
  /** Ascending; the last is that of `to`. */
  readonly headers: readonly FullHeader[];
  /** The contracts' total at the end of the range, where it was asked for and answered. */
  readonly total?: bigint | undefined;
  readonly bytes: number;
}

/** The logs of a range of blocks, vouched for by the node that gave them. */
export interface RangeAnswer extends BlockRange {
  readonly endpoint: string;
  /** Hash of the block before the range, from the header of `from`; undefined where that header was not read. */
  readonly parentHash: BlockHash | undefined;
  readonly head: BlockHeader;
  /** Blocks with effects, ascending. */
  readonly blocks: readonly BlockDeltas[];
  /** Every block of the range; with `headers: 'events'` the blocks with events and the last block. Ascending. */
  readonly headers: readonly BlockRef[];
  /** Whether the fields of each header hash to its own hash, so its time is proven. */
  readonly isProven: boolean;
  /** The contracts' total at the end of `to`, where it was asked for with the logs and answered. */
  readonly total?: bigint | undefined;
  readonly events: number;
  /** Decoded bytes of the bodies. */
  readonly bytes: number;
}

interface RangeLogsContext extends AtEndpoint {
  readonly from: number;
  readonly to: number;
  readonly filter: LogFilter;
  readonly decoder: EventDecoder;
  /** The headers that are known, by block number. */
  readonly headers: ReadonlyMap<number, FullHeader>;
}

const DATA = /^0x[0-9a-f]*$/;

/**
 * @param logs the result of eth_getLogs, which is not trusted
 * @throws MalformedAnswerError, EventMismatchError
 */
export function readRangeLogs(logs: unknown, context: RangeLogsContext): RangeLogs {
  const list = logList(logs, context);
  const cursor = new LogCursor(context);
  for (const log of list) {
    if (!isRecord(log)) throw malformed('a log is not an object', context);
    cursor.read(log);
  }
  const denied = new Set<number>();
  for (const { number, seen } of cursor.blocks) {
    const bloom = context.headers.get(number)?.logsBloom;
    if (bloom !== undefined && !isInBloom(bloom, seen, context.filter)) denied.add(number);
  }
  return { blocks: cursor.blocks, events: list.length, denied };
}

/**
 * Reads logs one after the other. Neighbours repeat their block, contract and event literally, so each text is
 * parsed and checked once, and only compared after that.
 */
class LogCursor {
  readonly blocks: BlockLogs[] = [];
  private block: BlockLogs | undefined;
  private numberText: unknown;
  private hashText: unknown;
  private timeText: unknown;
  private addressText: unknown;
  private topicText: unknown;
  private lastIndex = -1;

  constructor(private readonly context: RangeLogsContext) {}

  read(log: Record<string, unknown>): void {
    const { context } = this;
    const block = this.blockOf(log);
    if (log['removed'] === true) throw malformed('a log is marked as removed', context);
    const index = smallQuantity(log['logIndex']);
    if (index === undefined) throw malformed('a log lacks a valid logIndex', context);
    if (index <= this.lastIndex) throw malformed('a log is doubled or out of order', context);
    this.lastIndex = index;
    const { topics, data } = log;
    if (!Array.isArray(topics) || typeof data !== 'string') {
      throw malformed('a log lacks topics or data', context);
    }
    if (!DATA.test(data)) throw malformed('the data of a log is not lower-case hex', context);
    this.requireOurs(log['address'], topics[0], block);
    const event = { topics, data, blockNumber: block.number };
    const fault = context.decoder.decode(event, block.deltas);
    if (fault !== undefined)
      throw malformed(`a log of block ${block.number} holds ${fault}`, context);
    block.logs++;
  }

  private blockOf(log: Record<string, unknown>): BlockLogs {
    const { block } = this;
    if (block && log['blockNumber'] === this.numberText) {
      if (log['blockHash'] === this.hashText && log['blockTimestamp'] === this.timeText)
        return block;
      throw malformed(`the logs of block ${block.number} name different blocks`, this.context);
    }
    const opened = openBlock(log, block, this.context);
    this.blocks.push(opened);
    this.block = opened;
    this.numberText = log['blockNumber'];
    this.hashText = log['blockHash'];
    this.timeText = log['blockTimestamp'];
    this.addressText = undefined;
    this.lastIndex = -1;
    return opened;
  }

  private requireOurs(address: unknown, topic0: unknown, block: BlockLogs): void {
    if (address === this.addressText && topic0 === this.topicText) return;
    const lower = typeof address === 'string' ? address.toLowerCase() : '';
    if (typeof topic0 !== 'string' || !this.context.filter.isOurs(lower, topic0)) {
      throw malformed('a log of another contract or event', this.context);
    }
    this.addressText = address;
    this.topicText = topic0;
    block.seen.add(lower).add(topic0);
  }
}

/**
 * Begins a block at its first log. The block must be in the range, after the previous block, and the same as in the
 * headers.
 */
function openBlock(
  log: Record<string, unknown>,
  previous: BlockLogs | undefined,
  context: RangeLogsContext,
): BlockLogs {
  const number = quantity(log['blockNumber']);
  const blockHash = hash(log['blockHash']);
  if (number === undefined || blockHash === undefined) {
    throw malformed('a log lacks a valid blockNumber or blockHash', context);
  }
  if (number < context.from || number > context.to) {
    throw malformed(`a log is from block ${number}, outside the range`, context);
  }
  if (previous && number <= previous.number) throw malformed('the logs are out of order', context);
  const header = context.headers.get(number);
  if (header && header.hash !== blockHash) {
    throw malformed(`the logs of block ${number} are from another fork than its header`, context);
  }
  const stamp = log['blockTimestamp'];
  const fromLog = stamp === undefined || stamp === null ? undefined : quantity(stamp);
  if (fromLog !== undefined && header && fromLog !== header.timestampSeconds) {
    throw malformed(`the logs of block ${number} have another time than its header`, context);
  }
  return {
    number,
    hash: blockHash,
    timestampSeconds: header?.timestampSeconds ?? fromLog,
    deltas: [],
    logs: 0,
    seen: new Set(),
  };
}

function isInBloom(bloom: string, seen: ReadonlySet<string>, filter: LogFilter): boolean {
  const addresses = filter.addresses.filter((address) => seen.has(address));
  const topics = filter.topics.filter((topic) => seen.has(topic));
  const address = addresses[0] ?? '';
  return (
    addresses.every((item) => filter.inBloom(bloom, item, topics[0] ?? '')) &&
    topics.every((item) => filter.inBloom(bloom, address, item))
  );
}

function malformed(what: string, { endpoint }: AtEndpoint): MalformedAnswerError {
  return new MalformedAnswerError(what, { endpoint });
}

/** The answer to eth_getLogs as a list; its entries are not checked. @throws MalformedAnswerError */
export function logList(logs: unknown, at: AtEndpoint): unknown[] {
  if (!Array.isArray(logs)) throw malformed('the logs are not a list', at);
  return logs;
}

export function toRangeAnswer(
  { from, to }: BlockRange,
  endpoint: string,
  { headers, blocks, total, events, bytes }: RangeReading,
): RangeAnswer {
  return {
    from,
    to,
    endpoint,
    parentHash: headers.find(({ number }) => number === from)?.parentHash,
    head: lastOf(headers),
    blocks: blocks
      .filter((block) => block.deltas.length > 0)
      .map((block) => ({
        blockNumber: BigInt(block.number),
        timestampSeconds: timeOf(block),
        deltas: block.deltas,
      })),
    headers: headers.map(refOf),
    isProven: headers.every(({ isProven }) => isProven === true),
    total,
    events,
    bytes,
  };
}

function lastOf(headers: readonly FullHeader[]): BlockHeader {
  const header = headers.at(-1);
  if (!header) throw new RangeError('an answer without headers');
  return plainHeader(header);
}

function timeOf(block: BlockLogs): number {
  if (block.timestampSeconds === undefined) {
    throw new RangeError(`the time of block ${block.number} was never read`);
  }
  return block.timestampSeconds;
}
