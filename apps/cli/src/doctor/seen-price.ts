import { ChainReader, type RpcPool } from '#libs/chain';
import { LowmarkError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type PriceReading, priceReader } from '#libs/price';
import { type DoctorSettings } from './doctor.settings.js';

/** What the source of the price said when it was asked once, as the indexer asks it. */
export type SeenPrice =
  | { readonly kind: 'read'; readonly reading: PriceReading }
  | { readonly kind: 'failed'; readonly error: LowmarkError }
  /** PRICE_SOURCE is none or not set. */
  | { readonly kind: 'off' }
  /** The source is a contract, and no endpoint of its chain answers. */
  | { readonly kind: 'no-chain' };

export interface PriceQuestion {
  readonly settings: DoctorSettings;
  readonly clock: Clock;
  chain(): Promise<RpcPool | undefined>;
}

export async function readPrice(subject: PriceQuestion): Promise<SeenPrice> {
  const { settings, clock } = subject;
  const { priceSource: source = { kind: 'none' } } = settings;
  const pool = source.kind === 'chainlink' ? await subject.chain() : undefined;
  if (source.kind === 'chainlink' && pool === undefined) return { kind: 'no-chain' };
  const chain = pool === undefined ? NO_CHAIN : new ChainReader(pool);
  const read = priceReader(source, { chain, clock });
  if (read === undefined) return { kind: 'off' };
  try {
    return { kind: 'read', reading: await read() };
  } catch (error) {
    if (error instanceof LowmarkError) return { kind: 'failed', error };
    throw error;
  }
}

const NO_CHAIN = {
  latestRound: () => Promise.reject(new TypeError('only a feed is asked for its round')),
};
