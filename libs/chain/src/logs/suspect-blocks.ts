/**
 * A second look at blocks: how many logs of ours they have, by another source than the answer in doubt. Another endpoint comes first,
 * then the same one's receipts, then the same question again.
 */
import {
  AllEndpointsFailedError,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  RangeTooLargeError,
  RpcRefusedError,
} from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession } from '../rpc/rpc-pool.js';
import { type FullHeader, parseHeaderOf } from '../shape/header.js';
import { hash, isRecord } from '../shape/hex.js';
import { type LogFilter } from './log-filter.js';
import { type BlockSpan, headerCall, receiptsCall } from './range-reader.js';
import { ourLogsOfReceipts } from './receipt-logs.js';

export interface SuspectBlock {
  readonly header: FullHeader;
  /** How many logs of ours the answer held. */
  readonly logs: number;
}

export interface CheckOptions {
  readonly avoid: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

const RECEIPTS_AT_ONCE = 25;

export class SuspectBlocks {
  private saidUnexplained = false;

  constructor(
    private readonly pool: RpcPool,
    private readonly filter: LogFilter,
  ) {}

  /**
   * Returns where the second look finds as many logs in each block as the answer held.
   * @throws LogsWithheldError where a block has more, MalformedAnswerError where it has fewer
   */
  async verify(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
    options: CheckOptions,
  ): Promise<void> {
    const counts =
      (await this.fromAnother(session, suspects, options)) ??
      (await this.fromReceipts(session, suspects)) ??
      (await this.byHash(session, suspects));
    const { endpoint } = session;
    for (const [index, { header, logs }] of suspects.entries()) {
      const count = counts[index] ?? 0;
      if (count > logs) throw this.withheld(header.number, endpoint);
      if (count === logs) continue;
      const what = `gave ${logs} logs for block ${header.number.toString()}, a second look ${count}`;
      throw new MalformedAnswerError(what, { endpoint });
    }
  }

  /**
   * For chains whose blooms say nothing: a second endpoint must find the range empty too. Where none can answer, the range
   * passes with a warning; what else vouches for it remains.
   */
  async verifyEmpty(
    session: RpcSession,
    span: BlockSpan,
    { head, ...options }: CheckOptions & { readonly head: FullHeader },
  ): Promise<void> {
    const avoid = [...options.avoid, session.endpoint];
    if (!this.hasOther(avoid)) return;
    const ask = async (other: RpcSession): Promise<unknown> => {
      const filter = this.filter.forRange(span.from, span.to);
      const { results } = await other.batch([
        { method: 'eth_getLogs', params: [filter] },
        headerCall(span.to),
      ]);
      const logs = valueOf(results[0]);
      const { endpoint } = other;
      const found = parseHeaderOf(valueOf(results[1]), span.to, endpoint);
      if (found?.hash !== head.hash) {
        throw new NodeBehindError('has another block at the end of the range', { endpoint });
      }
      return logs;
    };
    const logs = await this.unlessAllFail(() =>
      this.pool.run(ask, { avoid, signal: options.signal, patient: false }),
    );
    if (logs === undefined) {
      this.pool.warn(
        session.endpoint,
        'EMPTY_RANGE_UNCONFIRMED',
        `Blocks ${span.from.toString()} to ${span.to.toString()} are empty by one endpoint only`,
      );
    } else if (!Array.isArray(logs) || logs.length > 0) {
      throw this.withheld(blockOf(logs) ?? span.from, session.endpoint);
    }
  }

  private async fromAnother(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
    options: CheckOptions,
  ): Promise<number[] | undefined> {
    const avoid = [...options.avoid, session.endpoint];
    if (!this.hasOther(avoid)) return undefined;
    return this.unlessAllFail(() =>
      this.pool.run((other) => this.byHash(other, suspects), {
        avoid,
        signal: options.signal,
        patient: false,
      }),
    );
  }

  private async byHash(session: RpcSession, suspects: readonly SuspectBlock[]): Promise<number[]> {
    const { results } = await session.batch(
      suspects.map(({ header }) => ({
        method: 'eth_getLogs',
        params: [this.filter.forBlock(header.hash)],
      })),
    );
    return suspects.map(({ header }, index) => {
      const logs = valueOf(results[index]);
      const { endpoint } = session;
      if (!Array.isArray(logs))
        throw new MalformedAnswerError('the logs are not a list', { endpoint });
      return logs.filter((log) => this.isOurs(log, header)).length;
    });
  }

  /**
   * @returns undefined where the node has no such method, its answer is too large, or the receipts show fewer logs than the bloom
   * speaks of: then they prove nothing
   */
  private async fromReceipts(
    session: RpcSession,
    suspects: readonly SuspectBlock[],
  ): Promise<number[] | undefined> {
    const counts: number[] = [];
    const context = { endpoint: session.endpoint, filter: this.filter };
    try {
      for (let at = 0; at < suspects.length; at += RECEIPTS_AT_ONCE) {
        const part = suspects.slice(at, at + RECEIPTS_AT_ONCE);
        const { results } = await session.batch(part.map(({ header }) => receiptsCall(header)));
        for (const [index, { header, logs }] of part.entries()) {
          const { ours, explainsBloom } = ourLogsOfReceipts(
            valueOf(results[index]),
            header,
            context,
          );
          if (!explainsBloom && ours.length <= logs) {
            this.sayUnexplained(session, header);
            return undefined;
          }
          counts.push(ours.length);
        }
      }
      return counts;
    } catch (error) {
      if (error instanceof RpcRefusedError || error instanceof RangeTooLargeError) return undefined;
      throw error;
    }
  }

  private withheld(block: bigint, endpoint: string): LogsWithheldError {
    const error = new LogsWithheldError(block, { endpoint });
    this.pool.warn(endpoint, error.code, error.message);
    return error;
  }

  /** Once: a chain whose blooms hold more than its receipts show does so in every block. */
  private sayUnexplained({ endpoint }: RpcSession, { number }: FullHeader): void {
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
    return this.filter.isOurs(address.toLowerCase(), topic0);
  }

  private hasOther(avoid: readonly string[]): boolean {
    return this.pool.endpoints.some((name) => !avoid.includes(name));
  }

  private async unlessAllFail<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof AllEndpointsFailedError) return undefined;
      throw error;
    }
  }
}

function blockOf(logs: unknown): bigint | undefined {
  const first: unknown = Array.isArray(logs) ? logs[0] : undefined;
  const number = isRecord(first) ? first['blockNumber'] : undefined;
  return typeof number === 'string' && /^0x[0-9a-f]{1,16}$/i.test(number)
    ? BigInt(number)
    : undefined;
}
