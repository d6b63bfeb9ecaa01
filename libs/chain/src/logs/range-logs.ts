/**
 * Reads the logs of one answer: checks them against the range and the headers, and decodes them, block by block, into
 * what they do to balances.
 */
import { type Address, PermanentError, type StakeDelta, ZERO_ADDRESS } from '#libs/domain';
import { MalformedAnswerError } from '../rpc/rpc.errors.js';
import { type AtEndpoint, type ListReader } from '../rpc/rpc-call.js';
import { type FullHeader } from '../blocks/header.js';
import { hash, isRecord, lowerHex, quantity, smallQuantity } from '../rpc/hex.js';
import { type AmountSlot, type StakeEventSpec } from '../stake/stake-event.js';
import { type LogFilter } from './log-filter.js';
import { type AnsweredRange, type BlockLogs } from './read-range.js';

/** The result of eth_getLogs, in one of the forms that nodes in the field give it. */
export interface LogList {
  /** Not checked yet; or the reader that has read them while the answer was parsed. */
  readonly logs: readonly unknown[] | LogReader;
  /** Entries with `removed: true`: logs of blocks that the chain has replaced. They are no logs of the chain. */
  readonly removed: readonly RemovedLog[];
  /** Whether the node answered null. It counts as an empty list only if something else vouches for that. */
  readonly isNull: boolean;
}

/** A list of which no log is read yet. */
export interface RawLogList extends LogList {
  readonly logs: readonly unknown[];
}

type RemovedLog = Readonly<Record<string, unknown>>;

/** @param value of a call without a reader. @throws MalformedAnswerError */
export function parseLogList(value: unknown, at: AtEndpoint): RawLogList {
  if (value === null) return { logs: [], removed: [], isNull: true };
  if (!Array.isArray(value)) {
    throw new MalformedAnswerError('the logs are not a list', { ...at, sizeMayExplain: true });
  }
  const all = value as readonly unknown[];
  const removed = all.filter(isRemoved);
  const logs = removed.length === 0 ? all : all.filter((log) => !isRemoved(log));
  return { logs, removed, isNull: false };
}

/** @param value of a call with a LogReader, which has read the logs, if it could. @throws MalformedAnswerError */
export function logListOf(value: unknown, at: AtEndpoint): LogList {
  if (!(value instanceof LogReader)) return parseLogList(value, at);
  return { logs: value, removed: value.removed, isNull: false };
}

function isRemoved(log: unknown): log is RemovedLog {
  return isRecord(log) && log['removed'] === true;
}

/** What one node answered about a range, with the logs as it gave them. */
export interface Reading extends AnsweredRange {
  readonly list: LogList;
}

export interface RangeLogsContext extends AtEndpoint {
  readonly from: number;
  readonly to: number;
  readonly filter: LogFilter;
  readonly decoder: EventDecoder;
}

/** The headers that are known, by block number. */
type Headers = ReadonlyMap<number, FullHeader>;

/**
 * The logs of a list block by block, with the times of the headers.
 * @throws MalformedAnswerError, EventMismatchError
 */
export function readRangeLogs(
  list: LogList,
  headers: Headers,
  context: RangeLogsContext,
): readonly BlockLogs[] {
  const { blocks } = list.logs instanceof LogReader ? list.logs : readInOrder(list.logs, context);
  for (const block of blocks) settleTime(block, headers, context);
  requireReplaced(list.removed, { blocks, headers }, context);
  return blocks;
}

/**
 * Nodes order and number logs in their own ways, so that logs are sorted by block, transaction and index, and only a log
 * with the place and the content of another one is refused.
 */
function readInOrder(logs: readonly unknown[], context: RangeLogsContext): LogCursor {
  const cursor = new LogCursor(context);
  if (logs.every((log) => cursor.read(log))) return cursor;
  const sorted = new LogCursor(context, true);
  const known = new Set<string>();
  for (const { log, ...place } of inOrder(logs, context)) {
    const { address, transactionHash, topics, data } = log;
    const text = JSON.stringify({ ...place, address, transactionHash, topics, data });
    if (known.size === known.add(text).size) throw malformed('a log is doubled', context);
    sorted.read(log);
  }
  return sorted;
}

interface PlacedLog {
  readonly log: Record<string, unknown>;
  readonly block: number;
  readonly transaction: number;
  readonly index: number;
}

function inOrder(logs: readonly unknown[], context: RangeLogsContext): PlacedLog[] {
  const places = logs.map((log) => {
    if (!isRecord(log)) throw malformed('a log is not an object', context);
    const block = blockNumberOf(log, context);
    return { log, block, transaction: transactionOf(log), index: indexOf(log, context) };
  });
  return places.sort(
    (a, b) => a.block - b.block || a.transaction - b.transaction || a.index - b.index,
  );
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
  { blocks, headers }: { readonly blocks: readonly BlockLogs[]; readonly headers: Headers },
  context: RangeLogsContext,
): void {
  if (removed.length === 0) return;
  const kept = new Set<unknown>(blocks.map((block) => block.hash));
  for (const { hash: blockHash } of headers.values()) kept.add(blockHash);
  for (const log of removed) {
    if (!kept.has(hash(log['blockHash']))) continue;
    throw malformed('a log is marked as removed, and its block is on the chain', context);
  }
}

/**
 * Reads the logs of an answer while it is parsed, as long as each is right and comes after the one before it. Otherwise
 * the list is parsed as a whole, sorted if necessary, and read again, which tells what is wrong.
 */
export class LogReader implements ListReader {
  readonly removed: RemovedLog[] = [];
  private readonly cursor: LogCursor;

  constructor(context: RangeLogsContext) {
    this.cursor = new LogCursor(context);
  }

  get blocks(): readonly BlockLogs[] {
    return this.cursor.blocks;
  }

  read(log: unknown): boolean {
    if (isRemoved(log)) return this.removed.push(log) > 0;
    try {
      return this.cursor.read(log);
    } catch (error) {
      if (error instanceof MalformedAnswerError || error instanceof EventMismatchError)
        return false;
      throw error;
    }
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
  private addressText: unknown;
  private lowerAddress = '';
  /** The topics that were checked with this address, as the node wrote them, and in lower case. */
  private readonly topicTexts: unknown[] = [];
  private readonly lowerTopics: string[] = [];
  private lastTransaction = 0;
  private lastIndex = -1;

  /** @param isSorted whether logs may share a place, because they were sorted and compared before */
  constructor(
    private readonly context: RangeLogsContext,
    private readonly isSorted = false,
  ) {}

  /** @returns false where the log does not come after the one before it. @throws MalformedAnswerError */
  read(log: unknown): boolean {
    const { context } = this;
    if (!isRecord(log)) throw malformed('a log is not an object', context);
    const { topics } = log;
    if (!Array.isArray(topics)) throw malformed('a log lacks topics', context);
    const topic0 = this.ourTopic(log['address'], topics[0]);
    // Some nodes do not filter logs by contract or event.
    if (topic0 === undefined) return true;
    const block = this.blockOf(log);
    const transaction = transactionOf(log);
    const index = indexOf(log, context);
    const isSame = transaction === this.lastTransaction;
    const isAfter = isSame ? index > this.lastIndex : transaction > this.lastTransaction;
    if (block === undefined || !(isAfter || this.isSorted)) return false;
    this.lastTransaction = transaction;
    this.lastIndex = index;
    const data = lowerHex(log['data']);
    if (data === undefined) throw malformed('a log lacks data in hex', context);
    block.seen.add(this.lowerAddress).add(topic0);
    const event = {
      topics: topics[0] === topic0 ? topics : [topic0, ...(topics.slice(1) as unknown[])],
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
    this.lastTransaction = 0;
    this.lastIndex = -1;
    return opened;
  }

  /** @returns the topic in lower case; undefined where the log is of another contract or event */
  private ourTopic(address: unknown, topic0: unknown): string | undefined {
    if (address === this.addressText) {
      const known = this.lowerTopics[this.topicTexts.indexOf(topic0)];
      if (known !== undefined) return known;
    }
    const from = lowerHex(address);
    const topic = lowerHex(topic0);
    if (from === undefined || topic === undefined || !this.context.filter.isOurs(from, topic)) {
      return undefined;
    }
    if (address !== this.addressText) this.topicTexts.length = 0;
    this.addressText = address;
    this.lowerAddress = from;
    this.lowerTopics[this.topicTexts.push(topic0) - 1] = topic;
    return topic;
  }
}

/** Begins a block at its first log. The block must be in the range. */
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
  return {
    number,
    hash: blockHash,
    timestampSeconds: quantity(log['blockTimestamp']),
    deltas: [],
    burnt: 0n,
    logs: 0,
    seen: new Set(),
  };
}

/**
 * The header's time, or the one that the log tells, if the block can have it. Nodes leave that out, or send zero.
 * @throws MalformedAnswerError if the header is that of another block
 */
function settleTime(block: BlockLogs, headers: Headers, context: RangeLogsContext): void {
  const header = headers.get(block.number);
  if (header && header.hash !== block.hash) {
    const what = `the logs of block ${block.number} are from another fork than its header`;
    throw malformed(what, context);
  }
  const latest = headers.get(context.to)?.timestampSeconds ?? Infinity;
  const { timestampSeconds: told = 0 } = block;
  const hint = told > 0 && told <= latest ? told : undefined;
  block.timestampSeconds = header?.timestampSeconds ?? hint;
}

function malformed(what: string, { endpoint }: AtEndpoint): MalformedAnswerError {
  return new MalformedAnswerError(what, { endpoint });
}

/** A contract emits an event that the settings describe differently. No other node would answer otherwise. */
export class EventMismatchError extends PermanentError {
  constructor(blockNumber: number, spec: StakeEventSpec, found: string) {
    super(
      'STAKE_EVENT_MISMATCH',
      `A log of ${spec.signature} in block ${blockNumber} has ${found}. Check the types and the word "indexed" in STAKE_EVENTS.`,
    );
  }
}

interface EventLog {
  readonly topics: readonly unknown[];
  /** Checked to be `0x` and lower-case hex digits. */
  readonly data: string;
}

/** What transfers sent to the zero address. */
interface Burnt {
  burnt: bigint;
}

interface Sink {
  readonly into: StakeDelta[];
  readonly burnt: Burnt;
}

type EventLogOfBlock = EventLog & { readonly blockNumber: number };

const WORD = /^0x[0-9a-f]{64}$/i;
const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/;

/**
 * Decodes the hex of a log directly into its effects on balances. Reads only the fields that are needed, and allocates
 * nothing that is not kept.
 */
export class EventDecoder {
  /** Searched from the front: the list is short, and comparing is cheaper than hashing every topic. */
  private readonly kinds: readonly { readonly topic0: string; readonly specs: StakeEventSpec[] }[];

  constructor(events: readonly StakeEventSpec[]) {
    const topics = [...new Set(events.map((event) => event.topic0))];
    this.kinds = topics.map((topic0) => ({
      topic0,
      specs: events.filter((event) => event.topic0 === topic0),
    }));
  }

  /**
   * Appends the effects of one log. An amount of zero has no effect, and the zero address has no balance: what it receives
   * is added to `burnt`.
   * @returns undefined, or what is malformed about the log
   * @throws EventMismatchError if the log has another layout than the settings say
   */
  decode(
    log: EventLogOfBlock,
    into: StakeDelta[],
    burnt: Burnt = { burnt: 0n },
  ): string | undefined {
    const topic0 = log.topics[0];
    for (const kind of this.kinds) {
      if (kind.topic0 === topic0) return decodeAs(kind.specs, log, { into, burnt });
    }
    return 'an event we did not ask for';
  }
}

function decodeAs(
  specs: readonly StakeEventSpec[],
  log: EventLogOfBlock,
  sink: Sink,
): string | undefined {
  let fits = false;
  for (const spec of specs) {
    if (log.topics.length !== spec.topics) continue;
    fits = true;
    if (log.data.length < 2 + spec.dataWords * 64) {
      const found = `${log.data.length / 2 - 1} bytes of data`;
      throw new EventMismatchError(log.blockNumber, spec, found);
    }
    if (spec.where.length > 0 && !matches(spec, log)) continue;
    const fault = apply(spec, log, sink);
    if (fault !== undefined) return fault;
  }
  const [spec] = specs;
  if (!fits && spec) {
    const found = `${log.topics.length - 1} indexed fields`;
    throw new EventMismatchError(log.blockNumber, spec, found);
  }
  return undefined;
}

function apply(spec: StakeEventSpec, log: EventLog, { into, burnt }: Sink): string | undefined {
  const account = walletIn(wordAt(log, spec.account));
  if (account === undefined) return 'an account that is not an address';
  const amountWord = wordAt(log, spec.amount);
  if (spec.amount.in === 'topic' && !WORD.test(amountWord)) return 'an amount that is not a word';
  const amount = BigInt(amountWord);
  if (amount === 0n) return undefined;
  if (account !== ZERO_ADDRESS) {
    into.push({ wallet: account, amount: spec.effect === 'increase' ? amount : -amount });
  }
  if (!spec.receiver) return undefined;
  const receiver = walletIn(wordAt(log, spec.receiver));
  if (receiver === undefined) return 'a receiver that is not an address';
  if (receiver === ZERO_ADDRESS) burnt.burnt += amount;
  else into.push({ wallet: receiver, amount });
  return undefined;
}

/** The address in a word; undefined where it holds something else. */
function walletIn(word: string): Address | undefined {
  const lower = word.toLowerCase();
  return ADDRESS_WORD.test(lower) ? (`0x${lower.slice(26)}` as Address) : undefined;
}

/** Whether one of the events counts this log: its layout fits, and the conditions of `where` hold. */
export function isCounted(events: readonly StakeEventSpec[], log: EventLog): boolean {
  return events.some(
    (spec) =>
      spec.topic0 === log.topics[0] && spec.topics === log.topics.length && matches(spec, log),
  );
}

function matches(spec: StakeEventSpec, log: EventLog): boolean {
  return spec.where.every(({ slot, word }) => wordAt(log, slot).toLowerCase().endsWith(word));
}

/** `0x` and 64 hex digits; for a topic, whatever the node sent. */
function wordAt(log: EventLog, slot: AmountSlot): string {
  if (slot.in === 'constant') return `0x${slot.word}`;
  if (slot.in === 'topic') {
    const topic = log.topics[slot.index];
    return typeof topic === 'string' ? topic : '';
  }
  // Most events have one word of data, which needs no cut.
  if (slot.word === 0 && log.data.length === 66) return log.data;
  return `0x${log.data.slice(2 + slot.word * 64, 66 + slot.word * 64)}`;
}
