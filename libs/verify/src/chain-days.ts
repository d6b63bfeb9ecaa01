/** Computes sealed days from the chain alone. */
import {
  buildDayTree,
  type DayList,
  type Address,
  dayText,
  type Keccak256,
  type NodeHash,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { type Effect, EffectDecoder } from './effect-decoder.js';
import { LogReader } from './log-reader.js';
import { type Block, type NodeClient } from './node-client.js';
import { type StakeRule } from './stake-rules.js';
import { UncheckedError } from './verify.error.js';
import { type BlockEffects, DayReplay, type DatedBlockEffects } from './day-replay.js';

export interface ChainDay {
  readonly day: number;
  readonly list: DayList;
  readonly root: NodeHash;
  /** The last block of the day. */
  readonly closing: Block;
}

interface ChainDaysOptions {
  readonly node: NodeClient;
  readonly keccak: Keccak256;
  /** The staking contracts, whose balances add up. */
  readonly contracts: readonly Address[];
  readonly rules: readonly StakeRule[];
  /** Events of earlier blocks do not count. */
  readonly fromBlock: bigint;
  readonly days: { readonly first: number; readonly last: number };
  readonly onProgress: (text: string) => void;
}

/** The blocks of a day, from `first` up to but not including `end`. */
interface DayBlocks {
  readonly day: number;
  readonly first: bigint;
  readonly end: bigint;
  /** The last block dated before the end of the day. */
  readonly closing: Block;
}

/** Headers requested at once. */
const AT_ONCE = 8;

export class ChainDays {
  private readonly decoder: EffectDecoder;
  private readonly reader: LogReader;
  private readonly replay = new DayReplay();

  /** @throws UsageError where a rule does not fit its event */
  constructor(private readonly options: ChainDaysOptions) {
    const { node, rules } = options;
    this.decoder = new EffectDecoder(rules);
    this.reader = new LogReader(node);
  }

  /** The days in ascending order; the chain is read once for all of them. @throws UncheckedError */
  async *days(): AsyncGenerator<ChainDay> {
    const { days, fromBlock, keccak, onProgress } = this.options;
    let next = fromBlock;
    for (let { first: day } = days; day <= days.last; day += 1) {
      onProgress(`looks for the blocks of ${dayText(day)}`);
      const blocks = await this.findBlocks(day, next);
      for await (const block of this.blocksIn(next, blocks.first)) this.replay.apply(block);
      const list = this.replay.day(day, await this.datedBlocks(blocks));
      onProgress(`works out the root of ${dayText(day)}, of ${list.length} wallets`);
      yield {
        day,
        list,
        root: buildDayTree(list, keccak).root,
        closing: await this.closing(blocks),
      };
      next = blocks.end;
    }
  }

  /** Blocks with effects, in ascending order. @param end exclusive */
  private async *blocksIn(from: bigint, end: bigint): AsyncGenerator<BlockEffects> {
    const { contracts: addresses, onProgress } = this.options;
    const range = { addresses, topics: this.decoder.topics, from, to: end - 1n };
    let events = 0;
    for await (const { logs, to } of this.reader.parts(range)) {
      const blocks = new Map<bigint, Effect[]>();
      for (const log of logs) {
        const number = BigInt(log.blockNumber);
        const effects = blocks.get(number) ?? [];
        effects.push(...this.decoder.decode(log));
        blocks.set(number, effects);
      }
      events += logs.length;
      onProgress(`read up to block ${to} of ${end - 1n}, ${events} events`);
      const ascending = [...blocks].sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [number, effects] of ascending) yield { number, effects };
    }
  }

  private async datedBlocks({ day, first, end }: DayBlocks): Promise<DatedBlockEffects[]> {
    const blocks: BlockEffects[] = [];
    for await (const block of this.blocksIn(first, end)) blocks.push(block);
    const dated: DatedBlockEffects[] = [];
    for (let start = 0; start < blocks.length; start += AT_ONCE) {
      this.options.onProgress(`${start} of ${blocks.length} blocks of ${dayText(day)} have a time`);
      const some = blocks.slice(start, start + AT_ONCE);
      const headers = await Promise.all(some.map(({ number }) => this.read(number)));
      some.forEach((block, place) =>
        dated.push({ ...block, seconds: headers[place]?.seconds ?? 0 }),
      );
    }
    return dated;
  }

  /** @param number undefined: the newest block */
  private read(number?: bigint): Promise<Block> {
    return this.options.node.block(number);
  }

  /**
   * The last block of the day. Its hash must be the same after all blocks were read.
   * @throws UncheckedError where the block was reorganised meanwhile
   */
  private async closing({ closing, day }: DayBlocks): Promise<Block> {
    const { hash } = await this.read(closing.number);
    if (hash === closing.hash) return closing;
    throw new UncheckedError(
      `The chain was reorganised while it was read: block ${closing.number} of ${dayText(day)} is another one now. Try again later.`,
    );
  }

  /**
   * Finds the blocks of a day by their times; a day may have no blocks.
   * @param notBefore no block of the day is older than this block
   * @throws UncheckedError where the day is not over on the chain, or ends before `fromBlock`
   */
  private async findBlocks(day: number, notBefore: bigint): Promise<DayBlocks> {
    const { fromBlock } = this.options;
    const start = day * SECONDS_PER_DAY;
    const end = start + SECONDS_PER_DAY;
    const newest = await this.read();
    if (newest.seconds < end) {
      throw new UncheckedError(
        `${dayText(day)} is not over on the chain: its newest block, ${newest.number}, is dated before the end of the day.`,
      );
    }
    const after = await this.firstAt(end, notBefore, newest.number);
    if (after <= fromBlock) {
      throw new UncheckedError(
        `Block ${fromBlock}, from which the chain is read, is dated after ${dayText(day)}.`,
      );
    }
    const first = await this.firstAt(start, notBefore, after);
    return { day, first, end: after, closing: await this.read(after - 1n) };
  }

  /** Binary search for the first block dated at or after `seconds`; `high` must be dated at or after `seconds`. */
  private async firstAt(seconds: number, low: bigint, high: bigint): Promise<bigint> {
    while (low < high) {
      const middle = (low + high) / 2n;
      if ((await this.read(middle)).seconds >= seconds) high = middle;
      else low = middle + 1n;
    }
    return high;
  }
}
