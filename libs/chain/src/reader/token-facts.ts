/** What a token says of itself. It is read once and kept, so that one provider alone is not believed where there are several. */
import { type Address, PermanentError } from '#libs/domain';
import { ExecutionRevertedError, isOutage } from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RunOptions } from '../rpc/rpc-pool.js';
import { bytes } from '../shape/hex.js';
import { otherProvidersThan, OUTAGE_PATIENCE_MS, ownProvider } from '../verification/providers.js';
import { decodeText } from './view-notation.js';
import { ethCall, wordOf } from './pinned-calls.js';

/** As far as the contract tells them. */
export interface ReadTokenFacts {
  readonly symbol: string | undefined;
  readonly decimals: number | undefined;
}

/** keccak256 of the signatures, the first four bytes. */
const SYMBOL = '0x95d89b41';
const DECIMALS = '0x313ce567';
const MOST_DECIMALS = 255n;

/**
 * The facts as every provider that answers has them.
 * @param known what the settings say instead: about that no provider is asked for its word
 * @throws PermanentError where two tell different ones; AllEndpointsFailedError where none answers, or one answers with something else
 */
export async function readTokenFacts(
  pool: RpcPool,
  address: Address,
  known: { readonly symbol?: string | undefined; readonly decimals?: number | undefined },
): Promise<ReadTokenFacts> {
  const first = await ask(pool, address);
  let left = otherProvidersThan(first.endpoint, pool.endpoints);
  while (left.length > 0) {
    const avoid = pool.endpoints.filter((endpoint) => !left.includes(endpoint));
    const next = await unlessOut(() =>
      ask(pool, address, { avoid, patienceMs: OUTAGE_PATIENCE_MS }),
    );
    if (!next) return first;
    const isOtherSymbol = known.symbol === undefined && next.symbol !== first.symbol;
    const isOtherDecimals = known.decimals === undefined && next.decimals !== first.decimals;
    if (isOtherSymbol || isOtherDecimals) {
      throw new PermanentError(
        'TOKEN_DISPUTED',
        `The token ${address} has ${textOf(first)}, but ${textOf(next)}. Find out which provider is wrong and take it out of RPC_URLS, or ` +
          `set TOKEN_SYMBOL and TOKEN_DECIMALS.`,
      );
    }
    const told = ownProvider(next.endpoint, pool.endpoints);
    left = left.filter((endpoint) => !told.includes(endpoint));
  }
  return first;
}

interface ToldFacts extends ReadTokenFacts {
  readonly endpoint: string;
}

function ask(pool: RpcPool, address: Address, options?: RunOptions): Promise<ToldFacts> {
  return pool.run(async (session) => {
    const { results } = await session.batch(
      [SYMBOL, DECIMALS].map((data) => ethCall({ to: address, data }, 'latest')),
    );
    const [symbol, decimals] = results;
    const reverted = symbol && !symbol.ok && symbol.error instanceof ExecutionRevertedError;
    const text = reverted ? undefined : bytes(valueOf(symbol));
    const word = wordOf(decimals);
    return {
      endpoint: session.endpoint,
      symbol: text && decodeText(text),
      decimals: word !== undefined && word <= MOST_DECIMALS ? Number(word) : undefined,
    };
  }, options);
}

function textOf({ endpoint, symbol, decimals }: ToldFacts): string {
  return `the symbol ${symbol ?? 'none'} and ${decimals ?? 'no'} decimals by ${endpoint}`;
}

/** A provider that is out is left out: the facts can be set, and `doctor` compares them at any time. */
async function unlessOut<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}
