/**
 * The JSON-RPC methods of a provider of a synthetic chain. Results are JSON text in parts, which are sent one after the
 * other.
 */
import { LogFilter } from './log-filter.js';
import { type ProviderBehaviour } from './provider-behaviour.js';
import { rangeCapFault, resultCapFault } from './provider-caps.js';
import { type ReplayCall } from './provider-stats.js';
import { type ReplayChain } from './replay-chain.js';
import { ReplayFault } from './replay-fault.js';
import { type LogOmission, type LogRange, ReplayLogs } from './replay-logs.js';
import { ReplayViews } from './replay-views.js';
import { type SeededRandom } from './seeded.js';

export type JsonParts = readonly (string | Buffer)[];

/** Number of newest blocks whose state a pruned node has. */
const STATE_BLOCKS = 128;
const HALVED_ANSWERS = 0.1;
const COMMA = Buffer.from(',');

/** The data that all providers of one chain share. */
export class ReplaySource {
  readonly logs: ReplayLogs;
  readonly views: ReplayViews;
  private readonly filters = new Map<string, LogFilter>();

  constructor(readonly chain: ReplayChain) {
    this.logs = new ReplayLogs(chain);
    this.views = new ReplayViews(chain);
  }

  /** Caches the filters, since a client uses few filters many times. */
  filterOf({ address, topics }: Readonly<Record<string, unknown>>): LogFilter {
    const key = JSON.stringify([address, topics]);
    const known = this.filters.get(key);
    if (known) return known;
    const filter = new LogFilter({ address, topics }, this.chain.contracts);
    this.filters.set(key, filter);
    return filter;
  }
}

export class ReplayMethods {
  private readonly chain: ReplayChain;

  constructor(
    private readonly source: ReplaySource,
    private readonly behaviour: ProviderBehaviour,
    private readonly random: SeededRandom,
  ) {
    this.chain = source.chain;
  }

  /** @throws ReplayFault to answer with an error */
  answer({ method, params }: ReplayCall): JsonParts {
    const { chain, source, behaviour } = this;
    if (behaviour.without?.includes(method) === true) throw noSuchMethod(method);
    switch (method) {
      case 'eth_chainId':
        return [`"0x${chain.chainId.toString(16)}"`];
      case 'eth_blockNumber':
        return [`"0x${chain.head.toString(16)}"`];
      case 'eth_getBlockByNumber':
        return [this.header(chain.numberOf(params[0]))];
      case 'eth_getBlockByHash':
        return [this.header(chain.numberOfHash(params[0]))];
      case 'eth_getLogs':
        return this.logs(recordOf(params[0]));
      case 'eth_getBlockReceipts':
        return [this.receipts(params[0])];
      case 'eth_getCode':
        return [`"${source.views.code(textOf(params[0]), this.stateBlock(params[1]))}"`];
      case 'eth_call': {
        const { to, data, input } = recordOf(params[0]);
        const block = this.stateBlock(params[1]);
        return [`"${source.views.call(textOf(to), textOf(data ?? input), block)}"`];
      }
      default:
        throw noSuchMethod(method);
    }
  }

  private header(number: number | undefined): string {
    return number === undefined ? 'null' : this.chain.headerText(number, this.behaviour.blooms);
  }

  private logs(asked: Readonly<Record<string, unknown>>): JsonParts {
    const { rangeCap, resultCap } = this.behaviour;
    const range = this.rangeOf(asked);
    const filter = this.source.filterOf(asked);
    if (rangeCap && range.to - range.from >= rangeCap.blocks)
      throw rangeCapFault(rangeCap.style, rangeCap.blocks, range);
    if (resultCap) {
      const { logs, until } = this.source.logs.count(filter, range, resultCap.logs);
      if (logs > resultCap.logs) throw resultCapFault(resultCap.logs, range.from, until);
    }
    const found = this.source.logs.find(filter, range, this.omission('logs'));
    const parts: (string | Buffer)[] = ['['];
    for (const [index, part] of found.entries()) {
      if (index > 0) parts.push(COMMA);
      parts.push(part);
    }
    parts.push(']');
    return parts;
  }

  private rangeOf({ blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>>): LogRange {
    const { chain } = this;
    if (blockHash !== undefined) {
      const block = chain.numberOfHash(blockHash);
      if (block === undefined) throw new ReplayFault(-32000, 'unknown block');
      return { from: block, to: block };
    }
    // A node answers for the part of the range that it has, without an error.
    const from = chain.numberOf(fromBlock ?? 'latest') ?? Number(fromBlock);
    const to = chain.numberOf(toBlock ?? 'latest') ?? chain.head;
    if (from > to && Number(toBlock) < from)
      throw new ReplayFault(-32000, 'invalid block range params');
    return { from, to };
  }

  private receipts(block: unknown): string {
    const { chain } = this;
    const isHash = typeof block === 'string' && block.length === 66;
    const number = isHash ? chain.numberOfHash(block) : chain.numberOf(block);
    if (number === undefined) return 'null';
    return this.source.logs.receiptsText(number, this.omission('receipts'));
  }

  private stateBlock(tag: unknown): number {
    const { chain, behaviour } = this;
    const isHash = typeof tag === 'object' && tag !== null && 'blockHash' in tag;
    if (isHash && behaviour.noHashCalls === true)
      throw new ReplayFault(
        -32602,
        'invalid argument 1: json: cannot unmarshal object into Go value of type string',
      );
    const number = isHash ? chain.numberOfHash(tag.blockHash) : chain.numberOf(tag ?? 'latest');
    if (number === undefined) throw new ReplayFault(-32000, 'header not found');
    if (behaviour.pruned === true && number <= chain.head - STATE_BLOCKS)
      throw new ReplayFault(-32000, 'missing trie node 00 (path ) state is not available');
    return number;
  }

  private omission(of: 'logs' | 'receipts'): LogOmission | undefined {
    const { drops } = this.behaviour;
    if (drops?.kind === 'half-of-one-in-ten') {
      if (of === 'receipts' || this.random.next() >= HALVED_ANSWERS) return undefined;
      return { concerns: () => true, omits: (_block, logIndex) => logIndex % 2 === 1 };
    }
    if (drops === undefined || (of === 'receipts' && drops.inReceipts !== true)) return undefined;
    const { history } = this.chain;
    const event = Math.min(drops.nth, history.events - 1);
    const block = history.blockOf(event);
    const { foreign, first } = this.chain.layoutOf(block);
    const index = foreign.length + event - first;
    return {
      concerns: (one) => one === block,
      omits: (_block, logIndex) => logIndex === index,
    };
  }
}

function noSuchMethod(method: string): ReplayFault {
  return new ReplayFault(-32601, `the method ${method} does not exist/is not available`);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw new ReplayFault(-32602, 'invalid params');
}

/** The string in lower case. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.toLowerCase();
  throw new ReplayFault(-32602, 'invalid params');
}
