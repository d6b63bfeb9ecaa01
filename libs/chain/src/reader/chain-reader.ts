import { type Address, type BlockHeader } from '#libs/domain';
import { MalformedAnswerError } from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { headerCall, parseHeaderOf, plainHeader, requireNotAhead } from '../shape/header.js';
import { bytes } from '../shape/hex.js';
import {
  type KnownTokenFacts,
  type PriceRound,
  readLatestRound,
  readTokenFacts,
  type TokenFacts,
} from './contract-facts.js';
import { type Finality, parseFinality, readHeads } from './final-blocks.js';
import { type StakeViewOptions, StakeViews } from './stake-views.js';

export interface ChainReaderOptions extends StakeViewOptions {
  /** FINALITY: `finalized` (default), `safe` or `depth:<blocks>`. */
  readonly finality?: string;
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
  headers(numbers: readonly bigint[], options?: RunOptions): Promise<(BlockHeader | undefined)[]> {
    if (numbers.length === 0) return Promise.resolve([]);
    return this.pool.run(async (session) => {
      const { results } = await session.batch(numbers.map(headerCall));
      return numbers.map((number, index) => {
        const header = parseHeaderOf(valueOf(results[index]), number, session);
        return header && plainHeader(header);
      });
    }, options);
  }

  hasCode(address: Address): Promise<boolean> {
    return this.pool.run(async (session) => {
      const call = { method: 'eth_getCode', params: [address, 'latest'] };
      const code = bytes(valueOf((await session.batch([call])).results[0]));
      if (code !== undefined) return code !== '0x';
      throw new MalformedAnswerError('eth_getCode answered with something else', session);
    });
  }

  token(address: Address, known: KnownTokenFacts = {}): Promise<TokenFacts> {
    return readTokenFacts(this.pool, address, known);
  }

  latestRound(feed: Address): Promise<PriceRound> {
    return readLatestRound(this.pool, feed);
  }
}
