import { type Address, type BlockHash } from '#libs/domain';
import { type Price } from '../prices/price.js';
import { addressOf, hashOf } from '../rows.js';

/** What every answer is made of, whatever the wallet: one state of the index, and the price. */
export interface SnapshotState {
  /** Changes whenever something indexed may have been taken back. */
  readonly generation: string;
  readonly head: {
    readonly number: bigint;
    readonly hash: BlockHash;
    readonly timestampSeconds: number;
  };
  readonly finalisedSeconds: number | undefined;
  /** When the index was last level with the chain. */
  readonly syncedAt: Date | undefined;
  readonly haltedReason: string | undefined;
  readonly stakeContract: Address;
  readonly tokenContract: Address;
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
  /** The one that was read last, however old; absent while a price is held. */
  readonly price: Price | undefined;
}

type StateColumns = [
  generation: string,
  headNumber: string,
  headHash: string,
  headSeconds: number,
  finalisedSeconds: number | null,
  syncedAt: string | null,
  haltedReason: string | null,
  stakeContract: string,
  tokenContract: string,
  tokenSymbol: string,
  tokenDecimals: number,
  price: [usd: string, observedAt: string, source: string] | null,
];

/**
 * The state as one text, `s` being staking.index_state: as long as it is the same text, nothing has to be parsed.
 */
export const STATE_TEXT = `json_build_array(s.generation, s.head_number::text, encode(s.head_hash, 'hex'), s.head_seconds,
    s.finalised_seconds, s.synced_at, s.halted_reason, encode(s.stake_contract, 'hex'), encode(s.token_contract, 'hex'),
    s.token_symbol, s.token_decimals,
    (SELECT json_build_array(usd::text, observed_at, source) FROM staking.price
      WHERE NOT EXISTS (SELECT FROM staking.price_hold) ORDER BY read_at DESC LIMIT 1))::text`;

/** @param text of STATE_TEXT */
export function snapshotStateFrom(text: string): SnapshotState {
  const [generation, number, hash, timestampSeconds, finalisedSeconds, syncedAt, ...facts] =
    JSON.parse(text) as StateColumns;
  const [haltedReason, stakeContract, tokenContract, tokenSymbol, tokenDecimals, price] = facts;
  return {
    generation,
    head: { number: BigInt(number), hash: hashOf(hash), timestampSeconds },
    finalisedSeconds: finalisedSeconds ?? undefined,
    syncedAt: syncedAt === null ? undefined : new Date(syncedAt),
    haltedReason: haltedReason ?? undefined,
    stakeContract: addressOf(stakeContract),
    tokenContract: addressOf(tokenContract),
    tokenSymbol,
    tokenDecimals,
    price: price === null ? undefined : priceOf(price),
  };
}

function priceOf([usd, observedAt, source]: [string, string, string]): Price {
  return { usd, observedAt: new Date(observedAt), source };
}
