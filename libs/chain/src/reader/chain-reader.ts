/** What is read from the chain beside the logs. */
import { type Address, type BlockHeader, type BlockRef, PermanentError } from '#libs/domain';
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { type RpcCall, valueOf } from '../rpc/rpc-call.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { headerCall, parseHeaderOf, requireNotAhead } from '../shape/header.js';
import { bytes } from '../shape/hex.js';
import { type Finality, parseFinality, readHeads } from './final-blocks.js';
import { PriceFeeds, type PriceRound } from './price-feeds.js';
import { type FigureOptions, StakeViews, type StakeViewSettings } from './stake-views.js';
import { readTokenFacts } from './token-facts.js';
import { type TotalCalls } from './total-calls.js';

export interface ChainReaderOptions extends StakeViewSettings {
  /** FINALITY: `finalized` (default), `safe` or `depth:<blocks>`. */
  readonly finality?: string;
  /** The stake contracts, for their own figures. */
  readonly contracts?: readonly Address[];
}

export interface HeadsOptions {
  /** Names of endpoints that must not be asked. */
  readonly avoid?: readonly string[];
  /** A newest block that is dated later is not believed. Unix seconds. */
  readonly latestSeconds?: number | undefined;
  /** How long to wait for endpoints that fail for now; see RunOptions. */
  readonly patienceMs?: number;
}

export interface Heads {
  /** The endpoint that told them. */
  readonly endpoint: string;
  readonly latest: BlockHeader;
  readonly finalised: BlockHeader;
}

export interface TokenFacts {
  readonly symbol: string;
  readonly decimals: number;
}

export class ChainReader {
  /** FINALITY. */
  readonly finality: Finality;
  private readonly views: StakeViews;
  private readonly feeds: PriceFeeds;

  /** @throws PermanentError where an option is wrong */
  constructor(
    private readonly pool: RpcPool,
    options: ChainReaderOptions = {},
  ) {
    this.finality = parseFinality(options.finality ?? 'finalized');
    this.feeds = new PriceFeeds(pool);
    this.views = new StakeViews(pool, options.contracts ?? [], options);
  }

  /** @see RpcPool.verifyChainId */
  verifyChainId(expected: number): Promise<void> {
    return this.pool.verifyChainId(expected);
  }

  /** The newest block and the newest final one, from the same node. */
  heads({ latestSeconds, ...options }: HeadsOptions = {}): Promise<Heads> {
    return this.pool.run(async (session) => {
      const { latest, finalised } = await readHeads(session, this.finality);
      const { endpoint } = session;
      requireNotAhead(latest.header, latestSeconds, endpoint);
      return { endpoint, latest: plain(latest.header), finalised: plain(finalised.header) };
    }, options);
  }

  /** @returns in the order of the numbers; undefined where the node has no such block */
  headers(
    numbers: readonly bigint[],
    { avoid = [] }: Pick<HeadsOptions, 'avoid'> = {},
  ): Promise<(BlockHeader | undefined)[]> {
    if (numbers.length === 0) return Promise.resolve([]);
    return this.pool.run(
      async (session) => {
        const { results } = await session.batch(numbers.map(headerCall));
        return numbers.map((number, index) => {
          const header = parseHeaderOf(valueOf(results[index]), number, session.endpoint);
          return header && plain(header);
        });
      },
      { avoid },
    );
  }

  async hasCode(address: Address): Promise<boolean> {
    const call = { method: 'eth_getCode', params: [address, 'latest'] };
    const code = await this.one(call, (value) => bytes(value));
    return code !== '0x';
  }

  /**
   * What the token says of itself by every provider that answers.
   * @param known what the settings say instead of the chain
   * @throws PermanentError where the contract does not say and the settings do not either, or two providers tell different facts
   */
  async token(
    address: Address,
    known: { readonly symbol?: string | undefined; readonly decimals?: number | undefined } = {},
  ): Promise<TokenFacts> {
    if (known.symbol !== undefined && known.decimals !== undefined) {
      return { symbol: known.symbol, decimals: known.decimals };
    }
    const read = await readTokenFacts(this.pool, address, known);
    const symbol = known.symbol ?? read.symbol;
    const decimals = known.decimals ?? read.decimals;
    if (symbol === undefined) throw unreadable(address, 'symbol', 'TOKEN_SYMBOL');
    if (decimals === undefined) throw unreadable(address, 'decimals', 'TOKEN_DECIMALS');
    return { symbol, decimals };
  }

  /** @see PriceFeeds.latestRound */
  latestRound(feed: Address): Promise<PriceRound> {
    return this.feeds.latestRound(feed);
  }

  /** The names of all endpoints, in order of preference. */
  get endpoints(): readonly string[] {
    return this.pool.endpoints;
  }

  /** False while it is known that the contracts have no total to compare with; that is looked at again every minute. */
  get hasTotal(): boolean {
    return this.views.hasTotal;
  }

  /** False while it is known that the contracts do not tell a wallet's balance. */
  get hasBalances(): boolean {
    return this.views.hasBalances;
  }

  /** @see StakeViews.unanswered */
  get unansweredViews(): readonly string[] {
    return this.views.unanswered;
  }

  /** False where the settings say that there is no total to compare with. */
  get wantsTotal(): boolean {
    return this.views.wantsTotal;
  }

  get wantsBalances(): boolean {
    return this.views.wantsBalances;
  }

  /**
   * The sum of all stakes at the end of exactly this block, by the contracts' own account.
   * @returns undefined where no node has that block's state, or there is no such view
   */
  stakeTotal(block: BlockRef, options?: FigureOptions): Promise<bigint | undefined> {
    return this.views.total(block, options);
  }

  /** @see StakeViews.totalCalls */
  totalCalls(): Promise<TotalCalls | undefined> {
    return this.views.totalCalls();
  }

  /** The wallets' stakes at the end of exactly this block, in their order; undefined as for the total. */
  stakeBalances(
    wallets: readonly Address[],
    block: BlockRef,
    options?: FigureOptions,
  ): Promise<bigint[] | undefined> {
    return this.views.balancesOf(wallets, block, options);
  }

  private one<T>(call: RpcCall, read: (value: unknown) => T | undefined): Promise<T> {
    return this.pool.run(async (session) => {
      const { results } = await session.batch([call]);
      const value = read(valueOf(results[0]));
      if (value !== undefined) return value;
      throw new MalformedAnswerError(`${call.method} answered with something else`, session);
    });
  }
}

/** Without the bloom. */
function plain({ number, hash, parentHash, timestampSeconds }: BlockHeader): BlockHeader {
  return { number, hash, parentHash, timestampSeconds };
}

function unreadable(address: Address, what: string, variable: string): PermanentError {
  return new PermanentError(
    'TOKEN_UNREADABLE',
    `The token ${address} does not tell its ${what}. Check TOKEN_CONTRACT, or set ${variable}.`,
  );
}
