/** What an honest node answers to the JSON-RPC calls of the indexer, as seen from the newest block that it has. */
import { type Address, ZERO_ADDRESS } from '#libs/domain';
import { Bloom } from './bloom.js';
import { NodeError } from './node-call.js';
import { ancestor, type Block, type StakeEvent, totalAt } from './simulated-chain.js';

export const CHAIN_ID = 31_337;
export const STAKING = '0x57a4e00000000000000000000000000000000001' as Address;
export const TOKEN = '0x70ce700000000000000000000000000000000002' as Address;
export const FEED = '0xfeed000000000000000000000000000000000003' as Address;
export const TOKEN_SYMBOL = 'LOW';

/** keccak256 of Staked(address,uint256) and Withdrawn(address,uint256). */
const STAKED = '0x9e71bc8eea02a63969f509818f2dafb9254532904319f9dbda79b67bd34a5f3d';
const WITHDRAWN = '0x7084f5476618d8e60b11ef0d7d3f06914655adb8793e28ff7f018d4c76d505d5';
/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TOTAL_STAKED = '0x817b1cd2';
const BALANCE_OF = '0x70a08231';
const SYMBOL = '0x95d89b41';
const DECIMALS = '0x313ce567';
const LATEST_ROUND_DATA = '0xfeaf968c';
const FEED_DECIMALS = 2n;

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The part of the chain that a node shows, and what it says of it. */
export interface NodeView {
  readonly head: Block;
  readonly final: Block;
  /** Whether the contract tells its total. */
  readonly hasTotal: boolean;
  /** The contract's total leaves out what the zero address holds. */
  readonly excludesBurnt?: boolean;
  /** The events that the node gives for a block. An honest node gives those of the block. */
  eventsOf(block: Block): readonly StakeEvent[];
  secondsOf(block: Block): number;
  centsOf(block: Block): number;
}

export function answerTo(view: NodeView, { id, method, params }: Call): Answer {
  try {
    return { id, result: resultOf(view, method, params) };
  } catch (error) {
    if (error instanceof NodeError)
      return { id, error: { code: error.code, message: error.message } };
    throw error;
  }
}

/** @throws NodeError to answer with an error */
export function resultOf(view: NodeView, method: string, params: readonly unknown[]): unknown {
  switch (method) {
    case 'eth_chainId':
      return hex(CHAIN_ID);
    case 'eth_blockNumber':
      return hex(view.head.number);
    case 'eth_getBlockByNumber':
    case 'eth_getBlockByHash': {
      const block = find(view, params[0]);
      return block ? header(view, block) : null;
    }
    case 'eth_getLogs':
      return logs(view, params[0] as Record<string, unknown>);
    case 'eth_getBlockReceipts': {
      const block = find(view, params[0]);
      return block ? receipts(view, block) : null;
    }
    case 'eth_getCode': {
      required(view, params[1]);
      return [STAKING, TOKEN].some((one) => one === params[0]) ? '0x6080' : '0x';
    }
    case 'eth_call': {
      const { to, data } = params[0] as { to: string; data: string };
      return ethCall(view, { to, data }, required(view, params[1]));
    }
    default:
      throw new NodeError(-32601, `the method ${method} does not exist/is not available`);
  }
}

function find({ head, final }: NodeView, tag: unknown): Block | undefined {
  if (tag === 'latest' || tag === undefined) return head;
  if (tag === 'finalized' || tag === 'safe') return final;
  if (typeof tag === 'object' && tag !== null)
    return findHash(head, (tag as { blockHash: unknown }).blockHash);
  if (typeof tag === 'string' && tag.length === 66) return findHash(head, tag);
  return ancestor(head, Number(tag));
}

function findHash(head: Block, hash: unknown): Block | undefined {
  let block: Block | undefined = head;
  while (block && block.hash !== hash) block = block.parent;
  return block;
}

function required(view: NodeView, tag: unknown): Block {
  const block = find(view, tag);
  if (block === undefined) throw new NodeError(-32000, 'header not found');
  return block;
}

function header(view: NodeView, block: Block): object {
  return {
    number: hex(block.number),
    hash: block.hash,
    parentHash: block.parent?.hash ?? `0x${'0'.repeat(64)}`,
    timestamp: hex(view.secondsOf(block)),
    logsBloom: bloomOf(block),
    transactions: Array.from({ length: transactionsIn(block) }, (_, index) =>
      transactionHash(block, index),
    ),
  };
}

const blooms = new WeakMap<Block, string>();

/** The bloom belongs to the hash of a block, so that a node that leaves logs out does not change it. */
function bloomOf(block: Block): string {
  let text = blooms.get(block);
  if (text === undefined) {
    const bloom = new Bloom();
    const events = shown(block.events);
    if (events.length > 0) bloom.add(STAKING);
    if (hasHidden(block)) bloom.add(FEED);
    for (const event of events) for (const topic of topicsOf(event)) bloom.add(topic);
    text = bloom.text;
    blooms.set(block, text);
  }
  return text;
}

interface Log {
  readonly topics: readonly string[];
}

function logs(view: NodeView, filter: Record<string, unknown>): object[] {
  const { address = STAKING, topics: [topic0] = [] as readonly unknown[] } = filter as {
    readonly address?: unknown;
    readonly topics?: readonly unknown[];
  };
  const isAsked = ({ topics }: Log): boolean =>
    isAmong(STAKING, address) && isAmong(topics[0], topic0);
  return logsIn(view, filter).filter(isAsked);
}

/** @param wanted one value, a list, or nothing for any */
function isAmong(value: unknown, wanted: unknown): boolean {
  return wanted == null || (Array.isArray(wanted) ? wanted.includes(value) : wanted === value);
}

function logsIn(view: NodeView, { blockHash, fromBlock, toBlock }: Record<string, unknown>): Log[] {
  if (blockHash !== undefined) return logsOf(view, required(view, blockHash));
  const found: Log[] = [];
  const last = find(view, toBlock)?.number ?? view.head.number;
  for (let number = Number(fromBlock); number <= last; number++) {
    const block = ancestor(view.head, number);
    if (block) found.push(...logsOf(view, block));
  }
  return found;
}

function logsOf(
  view: NodeView,
  block: Block,
  events: readonly StakeEvent[] = view.eventsOf(block),
): Log[] {
  return events.map((event, index) => ({
    address: STAKING,
    topics: topicsOf(event),
    data: word(event.amount < 0n ? -event.amount : event.amount),
    blockNumber: hex(block.number),
    blockHash: block.hash,
    blockTimestamp: hex(view.secondsOf(block)),
    transactionHash: transactionHash(block, index),
    transactionIndex: hex(index),
    logIndex: hex(index),
    removed: false,
  }));
}

function receipts(view: NodeView, block: Block): object[] {
  const logs: object[] = logsOf(view, block, shown(view.eventsOf(block)));
  if (hasHidden(block)) logs.push({ address: FEED, topics: [], data: '0x' });
  return logs.map((log, index) => ({
    transactionHash: transactionHash(block, index),
    transactionIndex: hex(index),
    blockHash: block.hash,
    blockNumber: hex(block.number),
    status: '0x1',
    logs: [log],
  }));
}

function ethCall(view: NodeView, { to, data }: { to: string; data: string }, block: Block): string {
  const selector = data.slice(0, 10);
  if (to === TOKEN && selector === SYMBOL) return textWord(TOKEN_SYMBOL);
  if (to === TOKEN && selector === DECIMALS) return word(0n);
  if (to === FEED && selector === DECIMALS) return word(FEED_DECIMALS);
  if (to === FEED && selector === LATEST_ROUND_DATA) {
    const { id, seconds } = block.round;
    const words = [id, view.centsOf(block), seconds, seconds, id];
    return `0x${words.map((one) => word(BigInt(one)).slice(2)).join('')}`;
  }
  if (to === STAKING && selector === TOTAL_STAKED && view.hasTotal) {
    const burnt = block.balances.get(ZERO_ADDRESS) ?? 0n;
    return word(totalAt(block) - (view.excludesBurnt === true ? burnt : 0n));
  }
  if (to === STAKING && selector === BALANCE_OF)
    return word(block.balances.get(`0x${data.slice(34, 74)}` as Address) ?? 0n);
  throw new NodeError(3, 'execution reverted');
}

function shown(events: readonly StakeEvent[]): readonly StakeEvent[] {
  return events.filter(({ isHidden }) => isHidden !== true);
}

function transactionsIn(block: Block): number {
  return shown(block.events).length + (hasHidden(block) ? 1 : 0);
}

/**
 * Whether the block has hidden events. It then has a log of another contract too, since logs and a bloom of zeros would
 * say that the chain has no blooms.
 */
function hasHidden(block: Block): boolean {
  return shown(block.events).length < block.events.length;
}

function topicsOf({ wallet, amount, to }: StakeEvent): readonly string[] {
  const topic = (address: Address): string => `0x${'0'.repeat(24)}${address.slice(2)}`;
  if (to !== undefined) return [TRANSFER, topic(wallet), topic(to)];
  return [amount < 0n ? WITHDRAWN : STAKED, topic(wallet)];
}

function transactionHash({ hash }: Block, index: number): string {
  return `0x${'7'.repeat(16)}${hash.slice(18, 62)}${index.toString(16).padStart(4, '0')}`;
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

/** A string of at most 31 bytes as bytes32, as the oldest tokens have it. */
function textWord(text: string): string {
  return `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`;
}
