/**
 * eth_getLogs and eth_getBlockReceipts of a synthetic chain, as JSON text. The logs are rendered on
 * request, or all of the followed contract once before.
 */
import {
  type BlockLayout,
  EVENTS_OF_TRANSACTION,
  type ForeignLog,
  type ReplayChain,
} from './replay-chain.js';
import { AMOUNT_UNIT, eventBlocksIn } from './chain-history.js';
import { type LogFilter } from './log-filter.js';
import { wordOfNumber } from './replay-contracts.js';

/** The logs that a faulty answer leaves out, by block and log index. */
export interface LogOmission {
  /** Whether any log of the block may be left out. */
  readonly concerns: (block: number) => boolean;
  readonly omits: (block: number, logIndex: number) => boolean;
}

export interface LogRange {
  readonly from: number;
  readonly to: number;
}

interface LogPlace {
  readonly block: number;
  readonly transaction: number;
  readonly transactionHash: string;
  readonly index: number;
}

interface RenderedLog extends LogPlace {
  readonly address: string;
  readonly topics: readonly string[];
  readonly text: string;
}

export class ReplayLogs {
  private readonly whole = new Map<number, Buffer>();

  constructor(private readonly chain: ReplayChain) {}

  /** Renders every block and keeps the texts, so that no reader waits for the rendering. */
  prerender(): void {
    for (const block of eventBlocksIn(this.chain.history, { from: 0, to: Infinity }))
      this.whole.set(block, this.wholeBlock(block));
  }

  /**
   * Counts the logs that the filter matches. The count stops above `atMost`; `until` is the last block within that
   * limit.
   */
  count(filter: LogFilter, range: LogRange, atMost: number): { logs: number; until: number } {
    let logs = 0;
    for (const block of this.blocksIn(filter, range)) {
      logs += this.countOf(filter, block);
      if (logs > atMost) return { logs, until: block - 1 };
    }
    return { logs, until: range.to };
  }

  /** The matching logs as JSON objects, in order. A buffer may hold several, separated by commas. */
  find(filter: LogFilter, range: LogRange, omission?: LogOmission): Buffer[] {
    const found: Buffer[] = [];
    for (const block of this.blocksIn(filter, range)) {
      const isFaulty = omission?.concerns(block) === true;
      if (filter.isAllOfOurs && !isFaulty) {
        found.push(this.wholeBlock(block));
        continue;
      }
      const texts = this.logsOf(block)
        .filter(({ address, topics }) => filter.matches(address, topics))
        .filter(({ index }) => !isFaulty || !omission.omits(block, index))
        .map(({ text }) => text);
      if (texts.length > 0) found.push(Buffer.from(texts.join(), 'latin1'));
    }
    return found;
  }

  /** The answer to eth_getBlockReceipts. */
  receiptsText(block: number, omission?: LogOmission): string {
    const { chain } = this;
    const logs = this.logsOf(block).filter(
      ({ index }) => omission?.concerns(block) !== true || !omission.omits(block, index),
    );
    const { transactions } = chain.layoutOf(block);
    const receipts = Array.from({ length: transactions }, (_, transaction) => {
      const own = logs.filter((log) => log.transaction === transaction).map(({ text }) => text);
      return (
        `{"transactionHash":"${chain.transactionHash(block, transaction)}","transactionIndex":"0x${transaction.toString(16)}",` +
        `"blockHash":"${chain.hashOf(block)}","blockNumber":"0x${block.toString(16)}","status":"0x1","type":"0x2",` +
        `"cumulativeGasUsed":"0x5208","gasUsed":"0x5208","contractAddress":null,"logs":[${own.join()}]}`
      );
    });
    return `[${receipts.join()}]`;
  }

  private *blocksIn(filter: LogFilter, { from, to }: LogRange): Generator<number> {
    if (filter.findsForeign) {
      for (let block = from; block <= to; block++) yield block;
      return;
    }
    yield* eventBlocksIn(this.chain.history, { from, to });
  }

  private countOf(filter: LogFilter, block: number): number {
    if (filter.isAllOfOurs) {
      const { first, end } = this.chain.layoutOf(block);
      return end - first;
    }
    return this.logsOf(block).filter(({ address, topics }) => filter.matches(address, topics))
      .length;
  }

  private wholeBlock(block: number): Buffer {
    const known = this.whole.get(block);
    if (known) return known;
    const layout = this.chain.layoutOf(block);
    const texts = this.ownLogs(block, layout, this.blockFields(block)).map(({ text }) => text);
    return Buffer.from(texts.join(), 'latin1');
  }

  private logsOf(block: number): RenderedLog[] {
    const layout = this.chain.layoutOf(block);
    const ofBlock = this.blockFields(block);
    return [
      ...layout.foreign.map((log, index) =>
        this.foreignLog(log, this.placeOf(block, index, index), ofBlock),
      ),
      ...this.ownLogs(block, layout, ofBlock),
    ];
  }

  private ownLogs(
    block: number,
    { foreign, first, end }: BlockLayout,
    ofBlock: string,
  ): RenderedLog[] {
    const { contracts, history } = this.chain;
    let place = this.placeOf(block, foreign.length, foreign.length);
    return Array.from({ length: end - first }, (_, at) => {
      const event = first + at;
      const topics = this.chain.topicsOf(event);
      const transaction = foreign.length + Math.floor(at / EVENTS_OF_TRANSACTION);
      const index = foreign.length + at;
      place =
        transaction === place.transaction
          ? { ...place, index }
          : this.placeOf(block, transaction, index);
      const data = wordOfNumber(history.move(event).units * AMOUNT_UNIT);
      const address = contracts.staking;
      return {
        ...place,
        address,
        topics,
        text: this.text({ address, topics, data }, place, ofBlock),
      };
    });
  }

  private placeOf(block: number, transaction: number, index: number): LogPlace {
    const transactionHash = this.chain.transactionHash(block, transaction);
    return { block, transaction, transactionHash, index };
  }

  private foreignLog(log: ForeignLog, place: LogPlace, ofBlock: string): RenderedLog {
    const data = wordOfNumber(place.block);
    return { ...log, ...place, text: this.text({ ...log, data }, place, ofBlock) };
  }

  private text(
    { address, topics, data }: ForeignLog & { readonly data: string },
    { transaction, transactionHash, index }: LogPlace,
    ofBlock: string,
  ): string {
    return (
      `{"address":"${address}","topics":["${topics.join('","')}"],"data":"${data}",${ofBlock}` +
      `"transactionHash":"${transactionHash}","transactionIndex":"0x${transaction.toString(16)}",` +
      `"logIndex":"0x${index.toString(16)}","removed":false}`
    );
  }

  private blockFields(block: number): string {
    const { chain } = this;
    const time = chain.shape.logTimestamps
      ? `"blockTimestamp":"0x${chain.secondsOf(block).toString(16)}",`
      : '';
    return `"blockNumber":"0x${block.toString(16)}","blockHash":"${chain.hashOf(block)}",${time}`;
  }
}
