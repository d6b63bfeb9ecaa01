import { type Address, type BlockRef } from '#libs/domain';
import { addressOf, blockOf, hashOf } from '../rows.js';

/** The one row that says what the index holds and how far it is. */
export interface IndexState {
  /** Of the settings that decide what the rows mean; another one refuses the existing rows. */
  readonly fingerprint: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly chainId: number;
  readonly stakeContract: Address;
  readonly tokenContract: Address;
  readonly tokenSymbol: string;
  readonly tokenDecimals: number;
  /** Of the newest leader: writes of an older one are refused. */
  readonly fence: bigint;
  /** The newest indexed block; at first the block before the first one. */
  readonly head: BlockRef;
  readonly finalised: BlockRef | undefined;
  /** The newest block at which the sum of balances agreed with the contract. */
  readonly verifiedNumber: bigint | undefined;
  /** The sum of all balances at the head, in the token's smallest unit. */
  readonly total: bigint;
  /** Grows with each rollback. */
  readonly rollbacks: bigint;
  /** When the index was last level with the chain. */
  readonly syncedAt: Date | undefined;
  readonly halted: { readonly at: Date; readonly reason: string } | undefined;
}

/** What an index starts with. `head` is the block before the first one. */
export type InitialIndexState = Pick<
  IndexState,
  | 'fingerprint'
  | 'settings'
  | 'chainId'
  | 'stakeContract'
  | 'tokenContract'
  | 'tokenSymbol'
  | 'tokenDecimals'
  | 'head'
>;

/** The columns that make an IndexStateRow; `s` is staking.index_state. */
export const STATE_COLUMNS = `s.fingerprint, s.settings, s.chain_id, encode(s.stake_contract, 'hex') AS stake_contract,
  encode(s.token_contract, 'hex') AS token_contract, s.token_symbol, s.token_decimals, s.fence,
  s.head_number, encode(s.head_hash, 'hex') AS head_hash, s.head_seconds,
  s.finalised_number, encode(s.finalised_hash, 'hex') AS finalised_hash, s.finalised_seconds,
  s.verified_number, s.total, s.rollbacks, s.synced_at, s.halted_at, s.halted_reason`;

export interface IndexStateRow {
  fingerprint: string;
  settings: Record<string, unknown>;
  chain_id: string;
  stake_contract: string;
  token_contract: string;
  token_symbol: string;
  token_decimals: number;
  fence: string;
  head_number: string;
  head_hash: string;
  head_seconds: string;
  finalised_number: string | null;
  finalised_hash: string | null;
  finalised_seconds: string | null;
  verified_number: string | null;
  total: string;
  rollbacks: string;
  synced_at: Date | null;
  halted_at: Date | null;
  halted_reason: string | null;
}

export function indexStateOf(row: IndexStateRow): IndexState {
  return {
    fingerprint: row.fingerprint,
    settings: row.settings,
    chainId: Number(row.chain_id),
    stakeContract: addressOf(row.stake_contract),
    tokenContract: addressOf(row.token_contract),
    tokenSymbol: row.token_symbol,
    tokenDecimals: row.token_decimals,
    fence: BigInt(row.fence),
    head: {
      number: BigInt(row.head_number),
      hash: hashOf(row.head_hash),
      timestampSeconds: Number(row.head_seconds),
    },
    finalised: blockOf(row.finalised_number, row.finalised_hash, row.finalised_seconds),
    verifiedNumber: row.verified_number === null ? undefined : BigInt(row.verified_number),
    total: BigInt(row.total),
    rollbacks: BigInt(row.rollbacks),
    syncedAt: row.synced_at ?? undefined,
    halted:
      row.halted_at === null ? undefined : { at: row.halted_at, reason: row.halted_reason ?? '' },
  };
}
