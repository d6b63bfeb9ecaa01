import { ChainReader, type RpcPool } from '#libs/chain';
import { LowmarkError } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type PriceReading, priceReader, type SourceReading } from '#libs/price';
import { type DoctorSettings } from './doctor.settings.js';

/** What the source of the price said when it was asked once, as the indexer asks it. */
export type SeenPrice =
  | {
      readonly kind: 'read';
      readonly reading: PriceReading;
      /** Each of several. */
      readonly sources: readonly SourceReading[];
    }
  | {
      readonly kind: 'failed';
      readonly error: LowmarkError;
      readonly sources: readonly SourceReading[];
    }
  /** PRICE_SOURCE is none or not set. */
  | { readonly kind: 'off' }
  /** A source is a contract, and no endpoint of its chain answers. */
  | { readonly kind: 'no-chain' };

export interface PriceQuestion {
  readonly settings: DoctorSettings;
  readonly clock: Clock;
  chain(): Promise<RpcPool | undefined>;
}

export async function readPrice(subject: PriceQuestion): Promise<SeenPrice> {
  const { settings, clock } = subject;
  const { priceSource = [], priceMaxSpread: spread, priceMaxAgeSeconds: maxAgeSeconds } = settings;
  const isOnChain = priceSource.some(({ kind }) => kind === 'chainlink');
  const pool = isOnChain ? await subject.chain() : undefined;
  if (isOnChain && pool === undefined) return { kind: 'no-chain' };
  const chain = pool === undefined ? NO_CHAIN : new ChainReader(pool);
  const sources: SourceReading[] = [];
  const onSource = (reading: SourceReading): void => void sources.push(reading);
  const read = priceReader(priceSource, { chain, clock, spread, maxAgeSeconds, onSource });
  if (read === undefined) return { kind: 'off' };
  try {
    return { kind: 'read', reading: await read(), sources };
  } catch (error) {
    if (error instanceof LowmarkError) return { kind: 'failed', error, sources };
    throw error;
  }
}

const NO_CHAIN = {
  latestRound: () => Promise.reject(new TypeError('only a feed is asked for its round')),
};
