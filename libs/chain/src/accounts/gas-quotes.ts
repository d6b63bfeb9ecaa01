/**
 * The cost of a transaction as nodes quote it, bounded by our own limit. Only the cost is bounded, neither the price of
 * gas nor the amount: some rollups count what they pay to their parent chain as gas, at a low price.
 */
import { formatEther, formatGwei } from 'viem/utils';
import { type Address, RetryableError } from '#libs/domain';
import { MalformedAnswerError, unlessAllFail } from '../rpc/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { quantity, wideQuantity } from '../rpc/hex.js';

/** What a node quotes, with the margins at which a transaction is signed. */
export interface GasQuote {
  readonly endpoint: string;
  /** The account's next nonce by the node, after the transactions that wait. */
  readonly nonce: number;
  /** Half more than the node's price, in wei per unit of gas. */
  readonly gasPrice: bigint;
  /** A quarter more than the node's estimate. */
  readonly gas: bigint;
}

interface QuotedCall {
  readonly to: Address;
  /** Hex. */
  readonly data: string;
}

/** A transaction would cost more than the settings allow. Nothing was signed. */
export class GasRefusedError extends RetryableError {
  constructor(message: string) {
    super('GAS_REFUSED', message);
  }
}

/**
 * What every transaction takes. No node accepts one with less gas, and if its price were high, no replacement could pay
 * more.
 */
const LEAST_GAS = 21_000;

interface QuotesOptions {
  readonly pool: RpcPool;
  readonly account: Address;
  /** The most that one transaction may cost: its gas times its price of gas. */
  readonly maxWei: bigint;
}

export class GasQuotes {
  constructor(private readonly options: QuotesOptions) {}

  /**
   * A quote within the limit. If the quote of the first endpoint exceeds it, another endpoint is asked as well, because
   * one endpoint alone must not keep a transaction from being sent.
   * @throws GasRefusedError if the call would exceed the limit; ExecutionRevertedError if the contract would refuse it;
   * AllEndpointsFailedError
   */
  async affordable(call: QuotedCall): Promise<GasQuote> {
    const { pool } = this.options;
    const first = await this.quote(call);
    const fault = this.faultOf(first);
    if (!fault) return first;
    if (pool.endpoints.length < 2) throw fault;
    const others = { avoid: [first.endpoint], patienceMs: 0 };
    const second = await unlessAllFail(this.quote(call, others));
    if (!second || this.faultOf(second)) throw fault;
    return second;
  }

  /** The quote of one endpoint, within the limit or not. */
  quote({ to, data }: QuotedCall, options: RunOptions = {}): Promise<GasQuote> {
    const { pool, account } = this.options;
    return pool.run(async (session) => {
      const { results } = await session.batch([
        { method: 'eth_getTransactionCount', params: [account, 'pending'] },
        { method: 'eth_gasPrice', params: [] },
        // `latest`: a transaction that waits must not count as mined, because the quote may be for its replacement.
        { method: 'eth_estimateGas', params: [{ from: account, to, data }, 'latest'] },
      ]);
      const [nonce, price, gas] = results.map(valueOf);
      const [count, going, estimate = 0] = [quantity(nonce), wideQuantity(price), quantity(gas)];
      if (count === undefined || going === undefined || estimate < LEAST_GAS) {
        throw new MalformedAnswerError('a nonce, price or amount of gas cannot be true', session);
      }
      return {
        endpoint: session.endpoint,
        nonce: count,
        gasPrice: (going * 3n) / 2n,
        gas: (BigInt(estimate) * 5n) / 4n,
      };
    }, options);
  }

  faultOf({ endpoint, gasPrice, gas }: GasQuote): GasRefusedError | undefined {
    const { maxWei } = this.options;
    const wei = gasPrice * gas;
    if (wei <= maxWei) return undefined;
    const quoted = `${gas.toString()} gas at ${formatGwei(gasPrice)} gwei`;
    return new GasRefusedError(
      `${endpoint} quotes ${quoted}, margins included: ${formatEther(wei)} of the chain's coin, above the ${formatEther(maxWei)} that GAS_DAILY_COIN allows one transaction`,
    );
  }
}
