/**
 * A second look at an answer that may lack logs, by its blooms or because the caller asks for it: counts our logs in the
 * blocks in doubt from another source. The sources are another endpoint, the receipts of the same endpoint, and the same
 * request again, in this order. If two endpoints together could lack logs unnoticed, the receipts have the last word.
 */
import {
  AnswersDifferError,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  RpcRefusedError,
  unlessAllFail,
} from '../rpc/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { EMPTY_BLOOM, type FullHeader, headerCall, parseHeaderOf } from '../blocks/header.js';
import { hash, isRecord, quantity } from '../rpc/hex.js';
import { Blooms } from './blooms.js';
import { type BlockRange } from './read-range.js';
import { parseLogList, type RawLogList, type Reading } from './range-logs.js';
import { readReceiptLogs } from './receipt-logs.js';
import { type LogFilter } from './log-filter.js';

interface SuspectBlock {
  readonly header: FullHeader;
  readonly logs: number;
}

interface CheckOptions {
  /** The headers that were asked for; default: all. */
  readonly headers?: 'all' | 'events' | undefined;
  /** Whether blocks with events are looked at in any case. */
  readonly recheckEventBlocks?: boolean | undefined;
  /** Whether the events are checked afterwards, by a total, balances, or another provider. */
  readonly isCheckedLater?: boolean | undefined;
  /** Whether receipts are read too if another endpoint lacks the same logs. */
  readonly looksInReceipts?: boolean | undefined;
  readonly avoid?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class SecondLook {
  private readonly blooms: Blooms;
  private saidUnexplained = false;
  private readonly saidRemoved = new Set<string>();

  constructor(
    private readonly pool: RpcPool,
    private readonly filter: LogFilter,
  ) {
    this.blooms = new Blooms(filter);
  }

  /** @throws LogsWithheldError, AnswersDifferError, MalformedAnswerError, NodeBehindError */
  async check(
    session: RpcSession,
    range: BlockRange,
    { reading, asked }: { readonly reading: Reading; readonly asked: CheckOptions },
  ): Promise<void> {
    const { headers, blocks, list } = reading;
    const busy = new Set(blocks.map(({ number }) => number));
    if (this.blooms.recordBlooms(headers, busy)) {
      this.pool.warn(session.endpoint, 'BLOOMS_ABSENT', BLOOMS_ABSENT);
    }
    if (list.removed.length > 0) this.warnRemoved(session, list.removed.length);
    if (asked.isCheckedLater !== true) this.requireNoLogs(session, range, reading);
    const isAll = asked.headers !== 'events' || list.isNull;
    const looksAtBlooms = isAll && this.blooms.isUseful;
    const hints = looksAtBlooms ? this.hinted(reading) : [];
    const suspects = asked.recheckEventBlocks ? withBusy(reading, hints) : hints;
    if (suspects.length > 0) await this.verify(session, suspects, asked);
    if (looksAtBlooms && this.blooms.recordHints(headers.length, hints.length)) {
      this.pool.warn(session.endpoint, 'BLOOMS_WORTHLESS', BLOOMS_WORTHLESS);
    }
    const head = headers.at(-1);
    const hasTransactions = headers.some((header) => header.transactions > 0);
    const unseen = isAll && blocks.length === 0 && hasTransactions;
    if (unseen && head && !this.blooms.isFilled) {
      await this.verifyEmpty(session, range, { ...asked, head });
    }
  }

  /** Warns once for each endpoint, because such an endpoint may send removed logs with every answer. */
  private warnRemoved({ endpoint }: RpcSession, removed: number): void {
    if (this.saidRemoved.has(endpoint)) return;
    this.saidRemoved.add(endpoint);
    const what = `The answer to eth_getLogs has ${removed} logs of replaced blocks, marked as removed. They are left out`;
    this.pool.warn(endpoint, 'LOGS_REMOVED', what);
  }

  /** Blocks whose bloom hints at events that the answer lacks, or denies events that the answer has. */
  private hinted({ headers, blocks }: Reading): SuspectBlock[] {
    const byNumber = new Map(blocks.map((block) => [block.number, block]));
    return headers.flatMap((header) => {
      const block = byNumber.get(Number(header.number));
      const isHint = this.blooms.isSuspect(header.logsBloom, block?.seen);
      return isHint ? [{ header, logs: block?.logs ?? 0 }] : [];
    });
  }

  /** @throws MalformedAnswerError if null in place of the logs may hide some */
  private requireNoLogs(
    session: RpcSession,
    { from, to }: BlockRange,
    { headers, list }: Reading,
  ): void {
    const isEmpty = ({ transactions, logsBloom }: FullHeader): boolean =>
      this.blooms.isFilled || (transactions === 0 && logsBloom === EMPTY_BLOOM);
    if (!list.isNull || headers.every(isEmpty)) return;
    const what = `answered null in place of the logs of blocks ${from.toString()} to ${to.toString()}, and nothing shows that there are none`;
    throw new MalformedAnswerError(what, session);
  }

  /**
   * Returns where the second look finds as many logs in each block as the answer has. If it finds fewer, what vouches
   * for the events decides: there are logs that neither receipts nor blooms show, such as those of Polygon's state syncs.
   * @throws LogsWithheldError where a block has more; AnswersDifferError where it has fewer and nothing vouches for the
   * events
   */
  private async verify(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
    options: CheckOptions,
  ): Promise<void> {
    const byOther = await this.askAnother(session, options, (other) =>
      this.countByHash(other, suspects),
    );
    const isSame = byOther?.every((count, index) => count === suspects[index]?.logs);
    const byReceipts =
      byOther === undefined || (isSame && options.looksInReceipts)
        ? await this.countByReceipts(session, suspects)
        : undefined;
    const counts = byReceipts ?? byOther ?? (await this.countByHash(session, suspects));
    for (const [index, { header, logs }] of suspects.entries()) {
      const count = counts[index] ?? 0;
      if (count > logs) throw this.withheld(header.number, session);
      if (count === logs || options.isCheckedLater === true) continue;
      const what = `gave ${logs} logs for block ${header.number.toString()}, a second look ${count}`;
      throw new AnswersDifferError(what, session);
    }
  }

  /**
   * For chains whose blooms say nothing: a second endpoint must find the range empty too. Where no other endpoint can
   * answer, the range passes with a warning; other checks still vouch for it.
   */
  private async verifyEmpty(
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
      return list.logs.filter((log) => this.isOurs(log));
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
      const isOfBlock = (log: unknown): boolean =>
        isRecord(log) && hash(log['blockHash']) === header.hash;
      return logs.filter((log) => isOfBlock(log) && this.isOurs(log)).length;
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

  private isOurs(log: unknown): boolean {
    const { address, topics } = isRecord(log) ? log : {};
    const topic0: unknown = Array.isArray(topics) ? topics[0] : undefined;
    if (typeof address !== 'string' || typeof topic0 !== 'string') return false;
    return this.filter.isOurs(address.toLowerCase(), topic0.toLowerCase());
  }
}

/** The hinted blocks, and all other blocks with events. */
function withBusy(
  { headers, blocks }: Reading,
  hints: readonly SuspectBlock[],
): readonly SuspectBlock[] {
  const hinted = new Set(hints.map(({ header }) => Number(header.number)));
  const logs = new Map(blocks.map((block) => [block.number, block.logs]));
  const busy = headers.flatMap((header) => {
    const count = logs.get(Number(header.number));
    const isNew = count !== undefined && !hinted.has(Number(header.number));
    return isNew ? [{ header, logs: count }] : [];
  });
  return [...hints, ...busy];
}

function blockOf([first]: RawLogList['logs']): bigint | undefined {
  const number = isRecord(first) ? quantity(first['blockNumber']) : undefined;
  return number === undefined ? undefined : BigInt(number);
}

const BLOOMS_ABSENT =
  'This chain does not fill the blooms of its blocks: empty ranges are confirmed by a second endpoint where there is one';
const BLOOMS_WORTHLESS =
  'The blooms of this chain speak of events that are not there: they are no longer looked at';
