/**
 * Checks the logs of one answer against the range and the headers, converts them to effects block by block, and builds
 * the range as it was read.
 */
import {
  type BlockDeltas,
  type BlockHash,
  type BlockHeader,
  type BlockRef,
  type StakeDelta,
  ZERO_ADDRESS,
} from '#libs/domain';
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { type AtEndpoint } from '../rpc/rpc-call.js';
import { type FullHeader, plainHeader, refOf } from '../blocks/header.js';
import { hash, isRecord, lowerHex, quantity, smallQuantity } from '../shape/hex.js';
import { type EventDecoder, type LogFilter } from './stake-logs.js';

/** Blocks `from` to `to`, both included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The result of eth_getLogs, before the entries are checked: the forms that nodes in the field give it. */
export interface LogList {
  /** Not checked. */
  readonly logs: readonly unknown[];
  /** Entries with `removed: true`: logs of blocks that the chain has replaced. They are no logs of the chain. */
  readonly removed: readonly Record<string, unknown>[];
  /** Whether the node answered null. It counts as an empty list only if something else vouches for that. */
  readonly isNull: boolean;
}

const NONE: readonly Record<string, unknown>[] = [];

/** @throws MalformedAnswerError */
export function parseLogList(value: unknown, at: AtEndpoint): LogList {
  if (value === null) return { logs: NONE, removed: NONE, isNull: true };
  if (!Array.isArray(value)) throw new MalformedAnswerError('the logs are not a list', at);
  const all = value as readonly unknown[];
  const removed = all.filter(isRemoved);
  const logs = removed.length === 0 ? all : all.filter((log) => !isRemoved(log));
  return { logs, removed, isNull: false };
}

function isRemoved(log: unknown): log is Record<string, unknown> {
  return isRecord(log) && log['removed'] === true;
}

export interface BlockLogs {
  readonly number: number;
  readonly hash: BlockHash;
  /** From the header; without one, the log's own time, which is a hint. Undefined where neither has it. */
  timestampSeconds: number | undefined;
  readonly deltas: StakeDelta[];
  /** What transfers sent to the zero address. */
  burnt: bigint;
  logs: number;
  readonly seen: Set<string>;
}

/** What one node answered about a range. */
export interface Reading {
  readonly list: LogList;
  /** The blocks of the logs, ascending. */
  readonly blocks: readonly BlockLogs[];
  /** Ascending; the last is that of `to`. */
  readonly headers: readonly FullHeader[];
  /** The contracts' total at the end of the range, if it was asked for and answered. */
  readonly total?: bigint | undefined;
  readonly bytes: number;
}

/** A range of blocks as it was read, with what vouches for it so far. */
export interface ReadRange extends BlockRange {
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
  /** Change of the sum of all balances. */
  readonly change: bigint;
  /** The contracts' total where it is known: at the end, and, in a joined range, at the ends of its parts. Ascending. */
  readonly totals: readonly ReadTotal[];
  /** Another provider that reports the same. */
  readonly confirmedBy: Confirmation | undefined;
  /** What transfers sent to the zero address. */
  readonly burnt: bigint;
  readonly events: number;
  /** Decoded bytes of the bodies. */
  readonly bytes: number;
}

/** The contracts' total at the end of a block. */
export interface ReadTotal {
  readonly block: BlockHeader;
  readonly total: bigint;
  readonly endpoint: string;
}

export interface Confirmation {
  readonly endpoint: string;
  /** Its newest final block, where it was asked for. */
  readonly finalised: BlockHeader | undefined;
}

interface RangeLogsContext extends AtEndpoint {
  readonly from: number;
  readonly to: number;
  readonly filter: LogFilter;
  readonly decoder: EventDecoder;
  /** The headers that are known, by block number. */
  readonly headers: ReadonlyMap<number, FullHeader>;
}

/**
 * Nodes order and number logs in their own ways, so that logs are sorted by block, transaction and index, and only a log
 * at the place of another one is refused.
 * @throws MalformedAnswerError, EventMismatchError
 */
export function readRangeLogs(list: LogList, context: RangeLogsContext): BlockLogs[] {
  const { blocks } = readInOrder(list.logs, context);
  requireReplaced(list.removed, blocks, context);
  return blocks;
}

function readInOrder(logs: readonly unknown[], context: RangeLogsContext): LogCursor {
  const cursor = new LogCursor(context);
  if (logs.every((log) => cursor.read(log))) return cursor;
  const sorted = new LogCursor(context);
  for (const log of inOrder(logs, context)) {
    if (!sorted.read(log)) throw malformed('a log is doubled', context);
  }
  return sorted;
}

function inOrder(logs: readonly unknown[], context: RangeLogsContext): unknown[] {
  const places = logs.map((log) => {
    if (!isRecord(log)) throw malformed('a log is not an object', context);
    const block = blockNumberOf(log, context);
    return { log, block, transaction: transactionOf(log), index: indexOf(log, context) };
  });
  places.sort((a, b) => a.block - b.block || a.transaction - b.transaction || a.index - b.index);
  return places.map(({ log }) => log);
}

function blockNumberOf(log: Record<string, unknown>, context: RangeLogsContext): number {
  const number = quantity(log['blockNumber']);
  if (number === undefined) throw malformed('a log lacks a valid blockNumber', context);
  return number;
}

/** 0 where the log does not tell it; the index then is that of the log in its block. */
function transactionOf(log: Record<string, unknown>): number {
  return smallQuantity(log['transactionIndex']) ?? 0;
}

/** Of the log in its block, or in its transaction. */
function indexOf(log: Record<string, unknown>, context: RangeLogsContext): number {
  const index = smallQuantity(log['logIndex']);
  if (index === undefined) throw malformed('a log lacks a valid logIndex', context);
  return index;
}

/**
 * An entry that is marked as removed belongs to a block that the chain has replaced.
 * @throws MalformedAnswerError where the block is on the chain, by the headers or by the other logs
 */
function requireReplaced(
  removed: LogList['removed'],
  blocks: readonly BlockLogs[],
  context: RangeLogsContext,
): void {
  if (removed.length === 0) return;
  const kept = new Set<unknown>(blocks.map((block) => block.hash));
  for (const { hash: blockHash } of context.headers.values()) kept.add(blockHash);
  for (const log of removed) {
    if (!kept.has(hash(log['blockHash']))) continue;
    throw malformed('a log is marked as removed, and its block is on the chain', context);
  }
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
  /** NaN equals no text. */
  private addressText: unknown = NaN;
  private topicText: unknown;
  private topic0 = '';
  private lastTransaction = 0;
  private lastIndex = -1;

  constructor(private readonly context: RangeLogsContext) {}

  /** @returns false where the log does not come after the one before it. @throws MalformedAnswerError */
  read(log: unknown): boolean {
    const { context } = this;
    if (!isRecord(log)) throw malformed('a log is not an object', context);
    const block = this.blockOf(log);
    const transaction = transactionOf(log);
    const index = indexOf(log, context);
    const isSame = transaction === this.lastTransaction;
    const isAfter = isSame ? index > this.lastIndex : transaction > this.lastTransaction;
    if (block === undefined || !isAfter) return false;
    this.lastTransaction = transaction;
    this.lastIndex = index;
    const { topics } = log;
    const data = lowerHex(log['data']);
    if (!Array.isArray(topics) || data === undefined) {
      throw malformed('a log lacks topics, or data in hex', context);
    }
    this.requireOurs(log['address'], topics[0], block);
    const event = {
      topics: topics[0] === this.topic0 ? topics : [this.topic0, ...(topics.slice(1) as unknown[])],
      data,
      blockNumber: block.number,
    };
    const fault = context.decoder.decode(event, block.deltas, block);
    if (fault !== undefined)
      throw malformed(`a log of block ${block.number} holds ${fault}`, context);
    block.logs++;
    return true;
  }

  /** The block of a log; undefined where it is a block before that of the last log. */
  private blockOf(log: Record<string, unknown>): BlockLogs | undefined {
    const { block } = this;
    const numberText = log['blockNumber'];
    const hashText = log['blockHash'];
    if (block && numberText === this.numberText && hashText === this.hashText) return block;
    const number = blockNumberOf(log, this.context);
    if (block && number < block.number) return undefined;
    if (block?.number === number) {
      if (hash(hashText) === block.hash) return block;
      throw malformed(`the logs of block ${number} name different blocks`, this.context);
    }
    const opened = openBlock(log, number, this.context);
    this.blocks.push(opened);
    this.block = opened;
    this.numberText = numberText;
    this.hashText = hashText;
    this.addressText = NaN;
    this.lastTransaction = 0;
    this.lastIndex = -1;
    return opened;
  }

  private requireOurs(address: unknown, topic0: unknown, block: BlockLogs): void {
    if (address === this.addressText && topic0 === this.topicText) return;
    const from = lowerHex(address);
    const topic = lowerHex(topic0);
    if (from === undefined || topic === undefined || !this.context.filter.isOurs(from, topic)) {
      throw malformed('a log of another contract or event', this.context);
    }
    this.addressText = address;
    this.topicText = topic0;
    this.topic0 = topic;
    block.seen.add(from).add(topic);
  }
}

/** Begins a block at its first log. The block must be in the range, and the same as in the headers. */
function openBlock(
  log: Record<string, unknown>,
  number: number,
  context: RangeLogsContext,
): BlockLogs {
  const blockHash = hash(log['blockHash']);
  if (blockHash === undefined) throw malformed('a log lacks a valid blockHash', context);
  if (number < context.from || number > context.to) {
    throw malformed(`a log is from block ${number}, outside the range`, context);
  }
  const header = context.headers.get(number);
  if (header && header.hash !== blockHash) {
    throw malformed(`the logs of block ${number} are from another fork than its header`, context);
  }
  return {
    number,
    hash: blockHash,
    timestampSeconds: header?.timestampSeconds ?? timeHint(log['blockTimestamp'], context),
    deltas: [],
    burnt: 0n,
    logs: 0,
    seen: new Set(),
  };
}

/** The time that a log tells of its block, if the block can have it. Nodes leave it out, or send zero. */
function timeHint(value: unknown, { to, headers }: RangeLogsContext): number | undefined {
  const seconds = quantity(value);
  const latest = headers.get(to)?.timestampSeconds ?? Infinity;
  return seconds !== undefined && seconds > 0 && seconds <= latest ? seconds : undefined;
}

function malformed(what: string, { endpoint }: AtEndpoint): MalformedAnswerError {
  return new MalformedAnswerError(what, { endpoint });
}

export function toReadRange(
  { from, to }: BlockRange,
  endpoint: string,
  { list, headers, blocks: read, total, bytes }: Reading,
): ReadRange {
  const head = lastOf(headers);
  const blocks = read
    .filter((block) => block.deltas.length > 0)
    .map((block) => ({
      blockNumber: BigInt(block.number),
      timestampSeconds: timeOf(block),
      deltas: block.deltas,
    }));
  return {
    from,
    to,
    endpoint,
    parentHash: headers.find(({ number }) => number === from)?.parentHash,
    head,
    blocks,
    headers: headers.map(refOf),
    isProven: headers.every(({ isProven }) => isProven === true),
    change: changeOf(blocks),
    totals: total === undefined ? [] : [{ block: head, total, endpoint }],
    confirmedBy: undefined,
    burnt: read.reduce((sum, { burnt }) => sum + burnt, 0n),
    events: list.logs.length,
    bytes,
  };
}

/** Change of the sum of all balances. The zero address has no balance. */
export function changeOf(blocks: readonly BlockDeltas[]): bigint {
  let change = 0n;
  for (const { deltas } of blocks)
    for (const { wallet, amount } of deltas) if (wallet !== ZERO_ADDRESS) change += amount;
  return change;
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
