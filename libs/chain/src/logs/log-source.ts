/**
 * Reads the logs of block ranges, from whichever endpoint answers. Every answer comes with the header of its last block
 * from the same node.
 */
import { type Address } from '#libs/domain';
import {
  AllEndpointsFailedError,
  BlockMissingError,
  EndpointLeftOutError,
  isOutage,
  LogsPrunedError,
  LogsWithheldError,
  RangeTooLargeError,
  RpcError,
  sizeFailureIn,
  sizeRefusalIn,
  StateUnavailableError,
  TransportError,
  unlessRpcFails,
} from '../rpc/rpc.errors.js';
import { type StakeEventSpec } from '../stake/stake-event.js';
import { type TotalCalls } from '../calls/stake-views.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { findTagged, requireNotAhead, tagCall } from '../blocks/header.js';
import { countProviders } from '../rpc/endpoint-urls.js';
import { findLostLogs } from './lost-logs.js';
import { type BlockRange, type ReadRange, toReadRange } from './read-range.js';
import { type Comparison, type ComparisonQuestion, RangeReader } from './range-reader.js';
import { SecondLook } from './second-look.js';
import { EventDecoder, type Reading } from './range-logs.js';
import { LogFilter } from './log-filter.js';
import { readTip, type TipFacts, type TipQuestion } from './tip.js';

export interface LogSourceOptions {
  readonly contracts: readonly Address[];
  readonly events: readonly StakeEventSpec[];
  /** Final headers to keep for ranges that are read again; half a kilobyte each. Default: 20,000. */
  readonly keptHeaders?: number;
}

export interface FetchOptions extends Omit<RunOptions, 'only'> {
  /** `receipts` reads the receipts of every block instead of logs: slow, and a second opinion of the same node. */
  readonly by?: 'logs' | 'receipts';
  /**
   * `all` (default): the header of every block, linked to each other, and with their blooms checked. `events`: only the
   * headers of the last block and of blocks with events, which is enough where nothing can be reorganised.
   */
  readonly headers?: 'all' | 'events';
  /** The contracts' total at the end of the range, read by the block's number in the same request: for final blocks. */
  readonly total?: TotalCalls | undefined;
  /**
   * Whether blocks with events are looked at a second time, where nothing else would show that one of several is
   * missing.
   */
  readonly recheckEventBlocks?: boolean;
  /**
   * Whether the events are checked afterwards, by a total, balances, or another provider. Otherwise null in
   * place of an empty list counts only where the headers show that there are no logs, and logs that a second look does
   * not find are refused.
   */
  readonly isCheckedLater?: boolean;
  /**
   * Whether receipts are read if a bloom hints at logs that two endpoints lack, as nodes have a header before its logs:
   * if no total would show it.
   */
  readonly looksInReceipts?: boolean;
  /** The latest time of the last block that is believed, Unix seconds. */
  readonly latestSeconds?: number | undefined;
}

export interface Tip extends TipFacts {
  readonly endpoint: string;
  /** The blocks after the known head; undefined where there are none, or so many that ranges have to be read. */
  readonly answer: ReadRange | undefined;
}

/** How often an endpoint that left out logs is asked the same again, before its receipts are read. */
const ASKED_AGAIN = 2;

export class LogSource {
  private readonly filter: LogFilter;
  private readonly reader: RangeReader;
  private readonly secondLook: SecondLook;

  constructor(
    private readonly pool: RpcPool,
    { contracts, events, keptHeaders = 20_000 }: LogSourceOptions,
  ) {
    this.filter = new LogFilter(contracts, events);
    const proves = countProviders(pool.endpoints) > 1;
    this.reader = new RangeReader(this.filter, new EventDecoder(events), {
      proves,
      keptHeaders,
    });
    this.secondLook = new SecondLook(pool, this.filter);
  }

  /** The names of all endpoints, in order of preference. */
  get endpoints(): readonly string[] {
    return this.pool.endpoints;
  }

  /**
   * The effects of our events in the blocks `from` to `to`, both included.
   * @throws RangeTooLargeError for any failure that a smaller range may cure, unless the range is one block
   * @throws AllEndpointsFailedError, EventMismatchError, or the reason of `signal`
   */
  async fetch({ from, to }: BlockRange, asked: FetchOptions = {}): Promise<ReadRange> {
    const range = { from, to };
    try {
      return await this.ask(range, asked);
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
      const withheld = error.failures.find((failure) => failure instanceof LogsWithheldError);
      if (withheld && asked.by !== 'receipts')
        return this.askAgain(withheld.endpoint, range, asked);
      const narrow = from < to ? sizeFailureIn(error) : undefined;
      if (!narrow) throw error;
      const { endpoint } = narrow;
      throw new RangeTooLargeError('the range may be too large', { endpoint, cause: error });
    }
  }

  /**
   * Reads what is new at the chain's tip, in one request, or in two where several blocks are new.
   * @param options only `avoid`, `recheckEventBlocks`, `isCheckedLater`, `looksInReceipts`, `latestSeconds` and `signal` count
   * @throws AllEndpointsFailedError, EventMismatchError, or the reason of `signal`
   */
  async tip(question: TipQuestion, options: FetchOptions = {}): Promise<Tip> {
    const asked: FetchOptions = { ...options, headers: 'all' };
    return this.pool.run(
      async (session) => {
        const { latest, finalised, total, headers, logs, bytes } = await readTip(
          session,
          this.filter,
          question,
        );
        const { endpoint } = session;
        requireNotAhead(latest, asked.latestSeconds, session);
        const told = { endpoint, latest, finalised, total };
        if (headers.length === 0) return { ...told, answer: undefined };
        const range = { from: question.head.number + 1n, to: latest.number };
        const blocks = this.reader.read(logs, { session, range, headers });
        const reading = { list: logs, blocks, headers, bytes };
        await this.secondLook.check(session, range, { reading, asked });
        return { ...told, answer: toReadRange(range, endpoint, reading) };
      },
      { avoid: options.avoid, signal: options.signal },
    );
  }

  /**
   * Reads the same blocks again from another endpoint: the logs, their times and the last header.
   * @param options `avoid` names the endpoints that do not count as a second one
   * @throws as `fetch` does; AllEndpointsFailedError also where the other endpoint has another block at the end, or
   * dates it otherwise
   */
  async compare(
    answer: ReadRange,
    options: FetchOptions & ComparisonQuestion,
  ): Promise<Comparison> {
    try {
      return await this.pool.run(async (session) => {
        const comparison = await this.compareBy(session, answer, options);
        const [differing] = comparison.differing;
        if (differing !== undefined) await this.requireBothLogs(session, answer, differing);
        return comparison;
      }, options);
    } catch (error) {
      // An outage makes no range smaller.
      const refused = sizeRefusalIn(error) ?? (isOutage(error) ? undefined : sizeFailureIn(error));
      if (!refused || answer.from === answer.to) throw error;
      const { endpoint } = refused;
      throw new RangeTooLargeError('the range may be too large', { endpoint, cause: refused });
    }
  }

  /** @throws EndpointLeftOutError where the node has pruned what it is asked for */
  private async compareBy(
    session: RpcSession,
    answer: ReadRange,
    options: FetchOptions & ComparisonQuestion,
  ): Promise<Comparison> {
    try {
      return await this.reader.compare(session, answer, options);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const question = { error, isFinal: options.headers === 'events' };
      if (!(await this.isWithout(session, answer, question))) throw error;
      this.pool.leaveOut('eth_getLogs', error);
      throw new EndpointLeftOutError('eth_getLogs', error);
    }
  }

  /** Whether the node has pruned the range: it says so, or lacks the final block at its end and has later ones or no heads. */
  private async isWithout(
    session: RpcSession,
    { from, to }: ReadRange,
    { error, isFinal }: { readonly error: RpcError; readonly isFinal: boolean },
  ): Promise<boolean> {
    // It may still have a part of a range.
    if (error instanceof StateUnavailableError) return from === to || !error.sizeMayExplain;
    if (!isFinal || !(error instanceof BlockMissingError)) return false;
    // Such as one that does not know yet what is final.
    if (this.pool.leftOut('eth_getBlockByNumber').includes(session.endpoint)) return true;
    const { results } = await session.batch([tagCall('latest')]);
    return (findTagged(results[0], session)?.number ?? 0n) > to;
  }

  /** @throws LogsPrunedError where the node of the session has pruned the logs */
  private async requireBothLogs(
    session: RpcSession,
    { endpoint }: ReadRange,
    block: bigint,
  ): Promise<void> {
    await this.requireLogs(session, block);
    const asked = { only: endpoint, patienceMs: 0 };
    await unlessRpcFails(this.pool.run((first) => this.requireLogs(first, block), asked));
  }

  /** @throws LogsPrunedError where the node has the block without its logs; it is left out from now on */
  private async requireLogs(session: RpcSession, block: bigint): Promise<void> {
    const lost = await findLostLogs(session, [block]);
    if (lost === undefined) return;
    const error = new LogsPrunedError(lost, session);
    this.pool.leaveOut('eth_getLogs', error);
    throw error;
  }

  /**
   * Every endpoint left out logs. The same request is repeated, which is often answered in full, before the receipts
   * are read.
   */
  private async askAgain(
    endpoint: string,
    range: BlockRange,
    asked: FetchOptions,
  ): Promise<ReadRange> {
    for (let tries = 0; tries < ASKED_AGAIN; tries++) {
      try {
        return await this.ask(range, asked, endpoint);
      } catch (error) {
        const again =
          error instanceof AllEndpointsFailedError &&
          error.failures.some((failure) => failure instanceof LogsWithheldError);
        if (!again) throw error;
      }
    }
    return this.ask(range, { ...asked, by: 'receipts' }, endpoint);
  }

  private ask(range: BlockRange, asked: FetchOptions, only?: string): Promise<ReadRange> {
    return this.pool.run((session) => this.attempt(session, range, asked), { ...asked, only });
  }

  private async attempt(
    session: RpcSession,
    range: BlockRange,
    asked: FetchOptions,
  ): Promise<ReadRange> {
    try {
      const reading =
        asked.by === 'receipts'
          ? await this.reader.readByReceipts(session, range)
          : await this.readByLogs(session, range, asked);
      if (asked.by !== 'receipts') await this.secondLook.check(session, range, { reading, asked });
      const answer = toReadRange(range, session.endpoint, reading);
      requireNotAhead(answer.head, asked.latestSeconds, session);
      return answer;
    } catch (error) {
      const { from, to } = range;
      if (from < to || !(error instanceof RangeTooLargeError)) throw error;
      // A RangeTooLargeError makes the caller ask for fewer blocks, which is impossible for a single block. So the
      // error becomes a failure of the endpoint.
      const what = `block ${from.toString()} alone is too large`;
      throw new TransportError(what, { endpoint: session.endpoint, cause: error });
    }
  }

  private async readByLogs(
    session: RpcSession,
    range: BlockRange,
    asked: FetchOptions,
  ): Promise<Reading> {
    const reading = await this.reader.readByLogs(session, range, asked);
    const isEnough =
      !reading.list.isNull || asked.isCheckedLater === true || asked.headers !== 'events';
    // Only the headers of all blocks can show that there are no logs.
    return isEnough
      ? reading
      : this.reader.readByLogs(session, range, { ...asked, headers: 'all' });
  }
}
