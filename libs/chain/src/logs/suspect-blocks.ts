/**
 * A second look at blocks: counts our logs in these blocks from another source than the answer in doubt. The sources
 * are another endpoint, the receipts of the same endpoint, and the same request again, in this order.
 */
import {
  AnswersDifferError,
  LogsWithheldError,
  NodeBehindError,
  RangeTooLargeError,
  RpcRefusedError,
  unlessAllFail,
} from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession } from '../rpc/rpc-pool.js';
import { type FullHeader, headerCall, parseHeaderOf } from '../shape/header.js';
import { hash, isRecord, quantity } from '../shape/hex.js';
import { type LogFilter } from './log-filter.js';
import { type LogList, parseLogList } from './log-list.js';
import { type BlockRange } from './range-logs.js';
import { readReceiptLogs } from './receipt-logs.js';

export interface SuspectBlock {
  readonly header: FullHeader;
  readonly logs: number;
}

export interface CheckOptions {
  /** Whether something else vouches for the events: a total, balances, or another provider. */
  readonly isVouchedFor?: boolean | undefined;
  readonly avoid?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class SuspectBlocks {
  private saidUnexplained = false;

  constructor(
    private readonly pool: RpcPool,
    private readonly filter: LogFilter,
  ) {}

  /**
   * Returns where the second look finds as many logs in each block as the answer has. If it finds fewer, what vouches
   * for the events decides: there are logs that neither receipts nor blooms show, such as those of Polygon's state syncs.
   * @throws LogsWithheldError where a block has more; AnswersDifferError where it has fewer and nothing vouches for the
   * events
   */
  async verify(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
    options: CheckOptions,
  ): Promise<void> {
    const counts =
      (await this.askAnother(session, options, (other) => this.countByHash(other, suspects))) ??
      (await this.countByReceipts(session, suspects)) ??
      (await this.countByHash(session, suspects));
    for (const [index, { header, logs }] of suspects.entries()) {
      const count = counts[index] ?? 0;
      if (count > logs) throw this.withheld(header.number, session);
      if (count === logs || options.isVouchedFor === true) continue;
      const what = `gave ${logs} logs for block ${header.number.toString()}, a second look ${count}`;
      throw new AnswersDifferError(what, session);
    }
  }

  /**
   * For chains whose blooms say nothing: a second endpoint must find the range empty too. Where no other endpoint can
   * answer, the range passes with a warning; other checks still vouch for it.
   */
  async verifyEmpty(
    session: RpcSession,
    { from, to }: BlockRange,
    { head, ...options }: CheckOptions & { readonly head: FullHeader },
  ): Promise<void> {
    if (!this.hasOther(session, options)) return;
    const logs = await this.askAnother(session, options, async (other) => {
      const { results } = await other.batch([
        { method: 'eth_getLogs', params: [this.filter.forRange(from, to)] },
        headerCall(to),
      ]);
      const list = parseLogList(valueOf(results[0]), other);
      const found = parseHeaderOf(valueOf(results[1]), to, other);
      if (found?.hash !== head.hash) {
        throw new NodeBehindError('has another block at the end of the range', other);
      }
      return list.logs;
    });
    if (logs === undefined) {
      this.pool.warn(
        session.endpoint,
        'EMPTY_RANGE_UNCONFIRMED',
        `Blocks ${from.toString()} to ${to.toString()} are empty by one endpoint only`,
      );
    } else if (logs.length > 0) {
      throw this.withheld(blockOf(logs) ?? from, session);
    }
  }

  /** Undefined where there is no other endpoint, or none answers. */
  private async askAnother<T>(
    session: RpcSession,
    options: CheckOptions,
    ask: (other: RpcSession) => Promise<T>,
  ): Promise<T | undefined> {
    if (!this.hasOther(session, options)) return undefined;
    const avoid = [...(options.avoid ?? []), session.endpoint];
    return unlessAllFail(this.pool.run(ask, { avoid, signal: options.signal, patienceMs: 0 }));
  }

  private hasOther({ endpoint }: RpcSession, { avoid = [] }: CheckOptions): boolean {
    return this.pool.endpoints.some((name) => name !== endpoint && !avoid.includes(name));
  }

  private async countByHash(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
  ): Promise<number[]> {
    const { results } = await session.batch(
      suspects.map(({ header }) => ({
        method: 'eth_getLogs',
        params: [this.filter.forBlock(header.hash)],
      })),
    );
    return suspects.map(({ header }, index) => {
      const { logs } = parseLogList(valueOf(results[index]), session);
      return logs.filter((log) => this.isOurs(log, header)).length;
    });
  }

  /**
   * @returns undefined where the node does not have the method, its answer is too large, or the receipts show fewer
   * logs than the bloom hints at, so they prove nothing
   */
  private async countByReceipts(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
  ): Promise<number[] | undefined> {
    const counts: number[] = [];
    const headers = suspects.map(({ header }) => header);
    try {
      for await (const { ours, explainsBloom } of readReceiptLogs(session, headers, this.filter)) {
        const suspect = suspects[counts.length];
        if (suspect && !explainsBloom && ours.length <= suspect.logs) {
          this.warnUnexplainedBloom(session, suspect.header);
          return undefined;
        }
        counts.push(ours.length);
      }
      return counts;
    } catch (error) {
      if (error instanceof RpcRefusedError || error instanceof RangeTooLargeError) return undefined;
      throw error;
    }
  }

  private withheld(block: bigint, session: RpcSession): LogsWithheldError {
    const error = new LogsWithheldError(block, session);
    this.pool.warn(session.endpoint, error.code, error.message);
    return error;
  }

  /**
   * Warns once, because on a chain whose blooms hold more than its receipts show, every block would cause a warning.
   */
  private warnUnexplainedBloom({ endpoint }: RpcSession, { number }: FullHeader): void {
    if (this.saidUnexplained) return;
    this.saidUnexplained = true;
    this.pool.warn(
      endpoint,
      'BLOOM_UNEXPLAINED',
      `The bloom of block ${number.toString()} holds what neither its logs nor its receipts show. Blooms are hints on this chain, no more`,
    );
  }

  private isOurs(log: unknown, header: FullHeader): boolean {
    if (!isRecord(log) || hash(log['blockHash']) !== header.hash) return false;
    const { address, topics } = log;
    const topic0: unknown = Array.isArray(topics) ? topics[0] : undefined;
    if (typeof address !== 'string' || typeof topic0 !== 'string') return false;
    return this.filter.isOurs(address.toLowerCase(), topic0.toLowerCase());
  }
}

function blockOf([first]: LogList['logs']): bigint | undefined {
  const number = isRecord(first) ? quantity(first['blockNumber']) : undefined;
  return number === undefined ? undefined : BigInt(number);
}
