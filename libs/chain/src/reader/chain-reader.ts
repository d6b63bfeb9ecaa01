import {
  type Address,
  type BlockHeader,
  type BlockRef,
  isSameBlock,
  RetryableError,
} from '#libs/domain';
import { deadlineIn } from '#libs/platform';
import {
  BlockMissingError,
  isNeverValid,
  isNothingThere,
  LogsPrunedError,
  NodeBehindError,
  StateUnavailableError,
  unlessRpcFails,
} from '../rpc/rpc.errors.js';
import { findLostLogs } from '../logs/lost-logs.js';
import { parseLogList } from '../logs/range-logs.js';
import { type BlockRange } from '../logs/read-range.js';
import { accepted, questionTo, Quorum } from '../quorum/quorum.js';
import { countProviders, OUTAGE_PATIENCE_MS } from '../rpc/endpoint-urls.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/question.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { toQuantity } from '../rpc/hex.js';
import { headerCall, parseHeaderOf, plainHeader, requireNotAhead } from '../blocks/header.js';
import {
  type KnownTokenFacts,
  type PriceRound,
  readLatestRound,
  readTokenFacts,
  type TokenFacts,
} from './contract-facts.js';
import { type Finality, parseFinality, readHeads } from './final-blocks.js';
import { hexOf } from '../calls/pinned-calls.js';
import { findSkippedHeight } from './skipped-heights.js';
import { type StakeViewOptions, StakeViews } from '../calls/stake-views.js';

export interface ChainReaderOptions extends StakeViewOptions {
  /** FINALITY: `finalized` (default), `safe` or `depth:<blocks>`. */
  readonly finality?: string;
}

interface HeadersOptions extends RunOptions {
  /** Is told which endpoint answers. */
  readonly saidBy?: (endpoint: string) => void;
  /** A block that the chain has for certain: an endpoint without its header is behind, or has pruned it. */
  readonly existing?: bigint | undefined;
}

interface HeadsOptions extends RunOptions {
  /** The latest time of the newest block that is believed, Unix seconds. */
  readonly latestSeconds?: number | undefined;
}

export interface Heads {
  readonly endpoint: string;
  readonly latest: BlockHeader;
  readonly finalised: BlockHeader;
}

/** Longest time in which an endpoint is asked something beside others. */
const PROBE_MS = 3_000;
/** Blocks among which those with logs are looked for. */
const PROBED_BLOCKS = 32;
/** How often all endpoints are asked before a contract counts as missing. */
const LOOKS = 3;

/** Reads blocks, tokens and price feeds, and the stake contracts' own figures. */
export class ChainReader extends StakeViews {
  readonly finality: Finality;

  /** @throws PermanentError where an option is wrong */
  constructor(pool: RpcPool, options: ChainReaderOptions = {}) {
    super(pool, options);
    this.finality = parseFinality(options.finality ?? 'finalized');
  }

  /** The names of all endpoints, in order of preference. */
  get endpoints(): readonly string[] {
    return this.pool.endpoints;
  }

  /** The budgets of the endpoints by RPC_URLS, in the same order. */
  get budgets(): RpcPool['budgets'] {
    return this.pool.budgets;
  }

  verifyChainId(expected: number): Promise<void> {
    return this.pool.verifyChainId(expected);
  }

  heads({ latestSeconds, ...options }: HeadsOptions = {}): Promise<Heads> {
    return this.pool.run(async (session) => {
      const { latest, finalised } = await readHeads(session, this.finality);
      requireNotAhead(latest.header, latestSeconds, session);
      const { endpoint } = session;
      return {
        endpoint,
        latest: plainHeader(latest.header),
        finalised: plainHeader(finalised.header),
      };
    }, options);
  }

  /** @returns the headers in the order of the numbers; undefined where the node does not have the block */
  headers(
    numbers: readonly bigint[],
    { saidBy, existing, ...options }: HeadersOptions = {},
  ): Promise<(BlockHeader | undefined)[]> {
    if (numbers.length === 0) return Promise.resolve([]);
    return this.pool.run(async (session) => {
      const { results } = await session.batch(numbers.map(headerCall));
      saidBy?.(session.endpoint);
      return numbers.map((number, index) => {
        const header = parseHeaderOf(valueOf(results[index]), number, session);
        if (!header && number === existing) throw new BlockMissingError(number, session);
        return header && plainHeader(header);
      });
    }, options);
  }

  /**
   * The header of a block on which an index is built for good: as two providers have it, or the only one that answers.
   * @param latestSeconds the latest time that is believed, Unix seconds
   * @returns undefined if none of them has the block
   * @throws RetryableError if no two providers have the same header; AllEndpointsFailedError
   */
  async agreedHeader(number: bigint, latestSeconds: number): Promise<BlockHeader | undefined> {
    const ask = questionTo(this.pool, async (session) => {
      const { results } = await session.batch([headerCall(number)]);
      const header = parseHeaderOf(valueOf(results[0]), number, session);
      if (header) requireNotAhead(header, latestSeconds, session);
      return header && plainHeader(header);
    });
    const said = await new Quorum(this.endpoints).ask(ask, isSameBlock, { mayFail: true });
    const header = accepted(said, isSameBlock);
    if (header || said.length === 0) return header?.value;
    const texts = said.map(
      ({ endpoint, value }) => `${value.hash}, dated ${value.timestampSeconds}, by ${endpoint}`,
    );
    throw new RetryableError(
      'PROVIDERS_DISAGREE',
      `Block ${number} is ${texts.join(', and ')}. Find out which provider is wrong and take it out of RPC_URLS.`,
    );
  }

  /** False only where every endpoint found no code, each time it was asked. */
  async hasCode(address: Address): Promise<boolean> {
    for (let look = 1; look <= LOOKS; look++) {
      try {
        return await this.pool.run(async (session) => {
          const call = { method: 'eth_getCode', params: [address, 'latest'] };
          const code = hexOf((await session.batch([call])).results[0], session);
          if (code === '0x') throw new StateUnavailableError(`has no code at ${address}`, session);
          return true;
        });
      } catch (error) {
        if (!isNothingThere(error)) throw error;
      }
    }
    return false;
  }

  /**
   * The endpoints that have pruned the logs of these blocks and answer without an error, each with such a block. An
   * endpoint that cannot answer now is not among them. They are left out of questions about logs where others are not.
   */
  async endpointsWithoutLogs(
    from: bigint,
    endpoints: readonly string[] = this.endpoints,
  ): Promise<ReadonlyMap<string, bigint>> {
    const numbers = Array.from({ length: PROBED_BLOCKS }, (_, index) => from + BigInt(index));
    const lost = await this.probe(endpoints, (session) => findLostLogs(session, numbers));
    const found = new Map<string, bigint>();
    for (const [endpoint, block] of lost) {
      if (typeof block !== 'bigint') continue;
      found.set(endpoint, block);
      this.pool.leaveOut('eth_getLogs', new LogsPrunedError(block, { endpoint }));
    }
    return found;
  }

  /**
   * The endpoints, without those whose logs of this block, or whose headers, are not valid in any answer. An outage says
   * nothing about an endpoint.
   */
  async endpointsWithLogs({ number }: BlockRef): Promise<readonly string[]> {
    if (countProviders(this.endpoints) < 2) return this.endpoints;
    const block = toQuantity(number);
    const logs = { method: 'eth_getLogs', params: [{ fromBlock: block, toBlock: block }] };
    const answers = await this.probe(this.endpoints, async (session) =>
      parseLogList(valueOf((await session.batch([logs])).results[0]), session),
    );
    const leftOut = [logs.method, 'eth_getBlockByNumber'].flatMap((method) =>
      this.pool.leftOut(method),
    );
    return this.endpoints.filter(
      (endpoint) => !leftOut.includes(endpoint) && !isNeverValid(answers.get(endpoint)),
    );
  }

  /** Leaves an endpoint out whose newest block is far older than that of another one, while another one is not. */
  leaveOutStanding(endpoint: string, newest: BlockHeader, other: BlockHeader): void {
    const apart = other.timestampSeconds - newest.timestampSeconds;
    const what = `its newest block is ${newest.number}, ${apart} seconds older than ${other.number} of another endpoint`;
    const error = new NodeBehindError(what, { endpoint });
    for (const method of ['eth_getLogs', 'eth_getBlockByNumber']) this.pool.leaveOut(method, error);
  }

  /** Asks each endpoint, for some seconds. @returns what each answered, or its error */
  private async probe<T>(
    endpoints: readonly string[],
    ask: (session: RpcSession) => Promise<T>,
  ): Promise<ReadonlyMap<string, T | Error>> {
    const late = (): Error => new RetryableError('PROBE_LATE', 'no answer in time');
    const deadline = deadlineIn(PROBE_MS, { late });
    const probeOne = async (only: string): Promise<[string, T | Error]> => {
      const options = { only, patienceMs: OUTAGE_PATIENCE_MS, signal: deadline.signal };
      try {
        return [only, await this.pool.run(ask, options)];
      } catch (error) {
        if (error instanceof RetryableError) return [only, error];
        throw error;
      }
    };
    try {
      return new Map(await Promise.all(endpoints.map(probeOne)));
    } finally {
      deadline.end();
    }
  }

  /** The first height of the range that the chain skips; undefined where there is none. */
  async skippedHeight(range: BlockRange, only?: string): Promise<bigint | undefined> {
    return unlessRpcFails(this.pool.run((session) => findSkippedHeight(session, range), { only }));
  }

  token(address: Address, known: KnownTokenFacts = {}): Promise<TokenFacts> {
    return readTokenFacts(this.pool, address, known);
  }

  latestRound(feed: Address): Promise<PriceRound> {
    return readLatestRound(this.pool, feed);
  }
}
