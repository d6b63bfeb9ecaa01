/** The blocks of a synthetic chain: numbers, hashes, times, layout and headers, all computed on request. */
import { Bloom } from '../../libs/testing/src/fake-node/bloom.js';
import { MoveGenerator } from './generate-moves.js';
import {
  contractsOf,
  type ReplayContracts,
  replayWallet,
  wordOfAddress,
  wordOfNumber,
} from './replay-contracts.js';
import { type ChainHistory, type EventSpan } from './chain-history.js';
import { ReplayHistory } from './replay-history.js';
import { type ReplayShape } from './replay-shape.js';
import { blockHash, blockOfHash, mix32, seededAddress, seededHash } from './seeded.js';
import { TurnHistory } from './turn-history.js';

/**
 * How the blooms of a node may be wrong. `promised`: some blooms match events that do not exist. `system`: in addition
 * every bloom of a block with transactions matches system events that no receipt shows.
 */
export type BloomFault = 'zero' | 'ones' | 'inherited' | 'promised' | 'system';

/** A log of another contract. It ensures that blocks, blooms and receipts do not hold the followed contract alone. */
export interface ForeignLog {
  readonly address: string;
  readonly topics: readonly string[];
}

export interface BlockLayout extends EventSpan {
  readonly foreign: readonly ForeignLog[];
  readonly transactions: number;
}

/** keccak256 of `Transfer(address,address,uint256)`. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/**
 * The base token of ZK Stack chains, whose system events are in the blooms (matter-labs/zksync-era, pull request 2633).
 */
const SYSTEM_CONTRACT = '0x000000000000000000000000000000000000800a';
const FOREIGN_KINDS = 32;
const PROMISED_ONCE_IN = 200;
const GENESIS_SECONDS = 1_748_736_000;
const TRANSACTION_SALT = 0x7a5ac;
const ZEROS = `0x${'0'.repeat(512)}`;
const ONES = `0x${'f'.repeat(512)}`;
/** Events of the staking contract per transaction. */
export const EVENTS_OF_TRANSACTION = 10;

export class ReplayChain {
  readonly history: ChainHistory;
  readonly contracts: ReplayContracts;
  readonly chainId: number;
  private readonly moves: MoveGenerator;
  /** Undefined where the history is computed: it ends with the shape's blocks. */
  private readonly stored: ReplayHistory | undefined;
  private readonly foreignKinds: readonly ForeignLog[];
  private newest: number;

  constructor(readonly shape: ReplayShape) {
    this.moves = new MoveGenerator(shape);
    this.stored =
      shape.history === 'turns' ? undefined : new ReplayHistory(shape.pools, this.moves.history());
    this.history = this.stored ?? new TurnHistory(shape);
    this.contracts = contractsOf(shape);
    this.chainId = 70_000_000 + (mix32(shape.seed) % 1_000_000);
    this.newest = shape.blocks;
    this.foreignKinds = Array.from({ length: FOREIGN_KINDS }, (_, kind) => ({
      address: seededAddress(1, kind),
      topics: [
        TRANSFER,
        wordOfAddress(seededAddress(2, kind)),
        wordOfAddress(seededAddress(3, kind)),
      ],
    }));
  }

  get head(): number {
    return this.newest;
  }

  /** The number of the block that a tag or a hexadecimal number names; undefined where there is no such block. */
  numberOf(tag: unknown): number | undefined {
    switch (tag) {
      case 'latest':
      case 'pending':
        return this.newest;
      case 'safe':
        return Math.max(0, this.newest - Math.floor(this.shape.finalityDepth / 2));
      case 'finalized':
        return Math.max(0, this.newest - this.shape.finalityDepth);
      case 'earliest':
        return 0;
      default:
    }
    const number = typeof tag === 'string' ? Number(tag) : Number.NaN;
    return this.has(number) ? number : undefined;
  }

  numberOfHash(hash: unknown): number | undefined {
    const number = typeof hash === 'string' ? blockOfHash(this.shape.seed, hash) : undefined;
    return number !== undefined && this.has(number) ? number : undefined;
  }

  hashOf(number: number): string {
    return number < 0 ? `0x${'0'.repeat(64)}` : blockHash(this.shape.seed, number);
  }

  /** Unix time in seconds. It grows with every block, in uneven steps. */
  secondsOf(number: number): number {
    const { blockSeconds, genesisSeconds = GENESIS_SECONDS } = this.shape;
    return genesisSeconds + number * blockSeconds + (mix32(number) % blockSeconds);
  }

  transactionHash(number: number, index: number): string {
    return seededHash(TRANSACTION_SALT + number, index);
  }

  layoutOf(number: number): BlockLayout {
    const key = mix32(mix32(this.shape.seed) ^ number);
    const foreign = Array.from({ length: number === 0 ? 0 : key & 3 }, (_, at) =>
      this.foreignKind((key >>> (2 + 5 * at)) % FOREIGN_KINDS),
    );
    const { first, end } = this.history.eventsOf(number);
    const ours = Math.ceil((end - first) / EVENTS_OF_TRANSACTION);
    const transactions = foreign.length + ours + (number === 0 ? 0 : (key >>> 17) & 3);
    return { foreign, first, end, transactions };
  }

  /** The topics of an event of the staking contract. */
  topicsOf(event: number): readonly string[] {
    const { wallet, pool, effect } = this.history.move(event);
    const topic0 = this.contracts.topics[effect];
    const topic = wordOfAddress(replayWallet(this.shape, wallet));
    return this.shape.contract === 'simple' ? [topic0, topic] : [topic0, wordOfNumber(pool), topic];
  }

  bloomOf(number: number, fault?: BloomFault): string {
    if (fault === 'zero') return ZEROS;
    if (fault === 'ones') return ONES;
    if (fault === 'inherited') return this.bloomOf(Math.max(0, number - 1));
    const { foreign, first, end, transactions } = this.layoutOf(number);
    const isPromised = fault !== undefined && mix32(number) % PROMISED_ONCE_IN === 0;
    const isSystem = fault === 'system' && transactions > 0;
    if (foreign.length === 0 && first === end && !isPromised && !isSystem) return ZEROS;
    const bloom = new Bloom();
    for (const { address, topics } of foreign)
      for (const item of [address, ...topics]) bloom.add(item);
    if (first < end) bloom.add(this.contracts.staking);
    for (const topic of this.bloomTopics({ first, end })) bloom.add(topic);
    if (isPromised) for (const item of this.promised()) bloom.add(item);
    if (isSystem) for (const item of [SYSTEM_CONTRACT, TRANSFER]) bloom.add(item);
    return bloom.text;
  }

  /** The answer to eth_getBlockByNumber without transaction bodies, as JSON. */
  headerText(number: number, fault?: BloomFault): string {
    const { transactions } = this.layoutOf(number);
    let hashes = '';
    for (let index = 0; index < transactions; index++)
      hashes += `${index === 0 ? '' : ','}"${this.transactionHash(number, index)}"`;
    return (
      `{"number":"0x${number.toString(16)}","hash":"${this.hashOf(number)}","parentHash":"${this.hashOf(number - 1)}",` +
      `"logsBloom":"${this.bloomOf(number, fault)}","timestamp":"0x${this.secondsOf(number).toString(16)}",` +
      `${HEADER_REST}"gasUsed":"0x${(transactions * 21_000).toString(16)}","transactions":[${hashes}]}`
    );
  }

  /** Appends blocks to the chain, with events as frequent as before; without events where the history is computed. */
  extend(blocks: number): void {
    for (let more = 0; more < blocks; more++) {
      const block = this.newest + 1;
      this.stored?.append({ block, moves: this.moves.next() });
      this.newest = block;
    }
  }

  /**
   * The topics that a block's bloom has. The blooms of a computed history leave out the wallets, because hashing each
   * topic would take longer than all the rest.
   */
  private bloomTopics({ first, end }: EventSpan): ReadonlySet<string> {
    const found = new Set<string>();
    const { topics } = this.contracts;
    for (let event = first; event < end; event++) {
      if (this.stored) for (const topic of this.topicsOf(event)) found.add(topic);
      else if (found.size < 2) found.add(topics[this.history.move(event).effect]);
    }
    return found;
  }

  private has(number: number): boolean {
    return Number.isInteger(number) && number >= 0 && number <= this.newest;
  }

  private foreignKind(kind: number): ForeignLog {
    const found = this.foreignKinds[kind];
    if (!found) throw new Error(`there is no foreign log of kind ${kind}`);
    return found;
  }

  private promised(): readonly string[] {
    return [this.contracts.staking, this.contracts.topics.increase, wordOfNumber(0)];
  }
}

/** Header fields that no reader of logs uses, in realistic sizes. */
const HEADER_REST =
  `"nonce":"0x0000000000000000","sha3Uncles":"0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",` +
  `"transactionsRoot":"${seededHash(4, 0)}","stateRoot":"${seededHash(5, 0)}","receiptsRoot":"${seededHash(6, 0)}",` +
  `"miner":"${seededAddress(7, 0)}","difficulty":"0x0","totalDifficulty":"0x0","extraData":"0x","size":"0x400",` +
  `"gasLimit":"0x1c9c380","baseFeePerGas":"0x3b9aca00","mixHash":"${seededHash(8, 0)}","uncles":[],`;
