/**
 * The logs of block ranges, never believed without proof: every answer comes with the header of its last block from the same
 * node, and blocks without logs are held against their blooms.
 */
import { type Address } from '#libs/domain';
import {
  AllEndpointsFailedError,
  LogsWithheldError,
  RangeTooLargeError,
  RpcTimeoutError,
  TransportError,
} from '../errors/rpc.errors.js';
import { type StakeEventSpec } from '../events/stake-event.js';
import { type RpcPool, type RpcSession, type RunOptions } from '../rpc/rpc-pool.js';
import { EMPTY_BLOOM } from '../shape/header.js';
import { EventDecoder } from './event-decoder.js';
import { LogFilter } from './log-filter.js';
import { type RangeAnswer, toRangeAnswer } from './range-answer.js';
import { type BlockSpan, RangeReader, type RawReading } from './range-reader.js';
import { SuspectBlocks } from './suspect-blocks.js';

export interface LogSourceOptions {
  readonly contracts: readonly Address[];
  readonly events: readonly StakeEventSpec[];
  /**
   * `all`: the header of every block, so that every block's bloom is checked. `events`: only of the first, the last and blocks
   * with events whose logs carry no time; far fewer calls on long quiet stretches, and no bloom to check them by.
   */
  readonly headers?: 'all' | 'events';
}

export interface FetchOptions {
  /** Endpoints that must not be asked. */
  readonly avoid?: readonly string[];
  /** `receipts` reads every block's receipts instead of asking for logs: slow, and a second opinion of the same node. */
  readonly by?: 'logs' | 'receipts';
  readonly headers?: 'all' | 'events';
  readonly signal?: AbortSignal;
}

export class LogSource {
  private readonly filter: LogFilter;
  private readonly reader: RangeReader;
  private readonly suspects: SuspectBlocks;
  /** Whether this chain fills its blooms; unknown until one is seen that is not zero, or a log where it is. */
  private blooms: 'unknown' | 'filled' | 'absent' = 'unknown';

  constructor(
    private readonly pool: RpcPool,
    private readonly options: LogSourceOptions,
  ) {
    this.filter = new LogFilter(options.contracts, options.events);
    this.reader = new RangeReader(this.filter, new EventDecoder(options.events));
    this.suspects = new SuspectBlocks(pool, this.filter);
  }

  /**
   * The effects of our events in the blocks `from` to `to`, both included.
   * @throws RangeTooLargeError for whatever a smaller range may cure, unless the range is one block
   * @throws AllEndpointsFailedError, EventMismatchError, or the reason of `signal`
   */
  async fetch(range: BlockSpan, options: FetchOptions = {}): Promise<RangeAnswer> {
    const { from, to } = range;
    const { avoid = [], by = 'logs', signal } = options;
    const span = { from, to };
    const attempt = (session: RpcSession): Promise<RangeAnswer> =>
      this.attempt(session, span, { ...options, avoid, by });
    const run = (more: RunOptions): Promise<RangeAnswer> =>
      this.pool.run(attempt, { avoid, signal, ...more });
    try {
      return await run({});
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      const withheld = error.failures.find((failure) => failure instanceof LogsWithheldError);
      if (withheld && by === 'logs') return this.fromReceiptsOf(withheld.endpoint, span, options);
      const narrow =
        from < to ? error.failures.find((failure) => failure.sizeMayExplain) : undefined;
      if (!narrow) throw error;
      throw new RangeTooLargeError('the range may be too large', {
        endpoint: narrow.endpoint,
        cause: error,
      });
    }
  }

  /** No endpoint is left but one whose logs are incomplete: its receipts can be checked for completeness, its logs cannot. */
  private fromReceiptsOf(
    endpoint: string,
    span: BlockSpan,
    { avoid = [], signal }: FetchOptions,
  ): Promise<RangeAnswer> {
    const attempt = (session: RpcSession): Promise<RangeAnswer> =>
      this.attempt(session, span, { avoid, by: 'receipts', ...(signal ? { signal } : {}) });
    return this.pool.run(attempt, { only: endpoint, signal });
  }

  private async attempt(
    session: RpcSession,
    span: BlockSpan,
    options: FetchOptions & { readonly avoid: readonly string[]; readonly by: 'logs' | 'receipts' },
  ): Promise<RangeAnswer> {
    try {
      const reading =
        options.by === 'receipts'
          ? await this.reader.byReceipts(session, span)
          : await this.reader.byLogs(
              session,
              span,
              options.headers ?? this.options.headers ?? 'all',
            );
      this.learnBlooms(session, reading);
      if (options.by === 'logs') {
        await this.verify(session, span, {
          reading,
          avoid: options.avoid,
          signal: options.signal,
        });
      }
      return toRangeAnswer(span, { endpoint: session.endpoint, ...reading });
    } catch (error) {
      throw this.sized(error, session, span);
    }
  }

  private async verify(
    session: RpcSession,
    span: BlockSpan,
    context: {
      readonly reading: RawReading;
      readonly avoid: readonly string[];
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<void> {
    const { headers, blocks, events } = context.reading;
    const byNumber = new Map(blocks.map((block) => [BigInt(block.number), block]));
    const suspects = headers
      .filter((header) => header.logsBloom !== EMPTY_BLOOM)
      .map((header) => ({ header, block: byNumber.get(header.number) }))
      .filter(({ header, block }) => this.filter.isSuspect(header.logsBloom, block?.seen))
      .map(({ header, block }) => ({ header, logs: block?.logs ?? 0 }));
    if (suspects.length > 0) await this.suspects.verify(session, suspects, context);
    const head = headers.at(-1);
    const busy = headers.some((header) => header.transactions > 0);
    if (events === 0 && busy && head && this.blooms !== 'filled') {
      await this.suspects.verifyEmpty(session, span, { ...context, head });
    }
  }

  private learnBlooms(session: RpcSession, { headers, bloomless }: RawReading): void {
    if (bloomless && this.blooms !== 'absent') {
      this.blooms = 'absent';
      this.pool.warn(
        session.endpoint,
        'BLOOMS_ABSENT',
        'This chain does not fill the blooms of its blocks: empty ranges are confirmed by a second endpoint where there is one',
      );
    }
    if (this.blooms === 'unknown' && headers.some((header) => header.logsBloom !== EMPTY_BLOOM)) {
      this.blooms = 'filled';
    }
  }

  /** A time-out of several blocks asks for fewer; a single block that is too large is a failure of the endpoint. */
  private sized(error: unknown, { endpoint }: RpcSession, { from, to }: BlockSpan): unknown {
    if (error instanceof LogsWithheldError) {
      this.pool.warn(endpoint, error.code, error.message);
      return error;
    }
    if (from < to && error instanceof RpcTimeoutError) {
      return new RangeTooLargeError('the range took too long', {
        endpoint: error.endpoint,
        cause: error,
      });
    }
    if (from === to && error instanceof RangeTooLargeError) {
      return new TransportError(`block ${from.toString()} alone is too large`, {
        endpoint,
        cause: error,
      });
    }
    return error;
  }
}
