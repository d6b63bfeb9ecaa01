/** Between the rows of the reconciliation and its values. */
import {
  type Address,
  type BlockRef,
  type LedgerFigures,
  type Tokens,
  UNSETTLED_KINDS,
  type UnsettledClaims,
  type UnsettledKind,
  type UuidV7,
  type VaultFigures,
} from '#libs/domain';
import { addressOf, blockOf, hexOf } from '../rows.js';
import { moneyOf } from './reconciliation-json.js';

/** How far the claims of one vault were read. */
export interface Checkpoint {
  readonly chainId: number;
  readonly vault: Address;
  /** Nothing of the vault is older. */
  readonly startBlock: bigint;
  /** The last block read; undefined where none was. */
  readonly block: BlockRef | undefined;
  /** Up to there. */
  readonly claims: Tokens;
}

/** A final claim, as the chain has it. */
export interface VaultClaim {
  /** `0x` and 64 hex digits. */
  readonly vaultId: string;
  /** Undefined where the id was not made of one of ours. */
  readonly redemptionId: UuidV7 | undefined;
  readonly transactionHash: string;
  readonly block: BlockRef;
  readonly recipient: Address;
  readonly amount: bigint;
}

export interface CheckpointRow {
  chain_id: string;
  vault: string;
  start_block: string;
  block_number: string | null;
  block_hash: string | null;
  block_seconds: string | null;
  claims: string;
  tokens: string;
}

export interface TokensRow {
  count: number;
  tokens: string;
}

export type Column = 'deducted' | 'claimed' | 'reverted' | 'open';
export type LedgerRow = { partner: string } & Record<`${Column}_count`, number> &
  Record<`${Column}_points` | `${Column}_tokens`, string>;

export interface VaultRow extends CheckpointRow {
  ledger_count: number;
  ledger_tokens: string;
  missing_count: number;
  missing_tokens: string;
  missing_examples: string[] | null;
  missing_from: string | null;
}

export interface UnsettledRow extends TokensRow {
  vault: string;
  kind: UnsettledKind;
  ledger_count: number;
  ledger_tokens: string;
  examples: string[];
}

const NOTHING: Tokens = { count: 0, tokens: 0n };

/** One array for each column, in the order of ADD_CLAIMS. */
export function columnsOf(claims: readonly VaultClaim[]): unknown[][] {
  return [
    claims.map(({ vaultId }) => vaultId.slice(2)),
    claims.map(({ redemptionId }) => redemptionId ?? null),
    claims.map(({ transactionHash }) => transactionHash.slice(2)),
    claims.map(({ block }) => block.number.toString()),
    claims.map(({ block }) => block.timestampSeconds),
    claims.map(({ recipient }) => hexOf(recipient)),
    claims.map(({ amount }) => amount.toString()),
  ];
}

export function checkpointOf(row: CheckpointRow): Checkpoint {
  return {
    chainId: Number(row.chain_id),
    vault: addressOf(row.vault),
    startBlock: BigInt(row.start_block),
    block: blockOf(row.block_number, row.block_hash, row.block_seconds),
    claims: { count: Number(row.claims), tokens: BigInt(row.tokens) },
  };
}

export function tokensOf(row: TokensRow | undefined): Tokens {
  return row ? { count: row.count, tokens: BigInt(row.tokens) } : NOTHING;
}

export function plus(one: Tokens, other: Tokens): Tokens {
  return { count: one.count + other.count, tokens: one.tokens + other.tokens };
}

export function ledgerOf(row: LedgerRow): LedgerFigures {
  const money = (column: Column) =>
    moneyOf({
      count: row[`${column}_count`],
      points: row[`${column}_points`],
      tokens: row[`${column}_tokens`],
    });
  return {
    partner: row.partner,
    deducted: money('deducted'),
    claimed: money('claimed'),
    reverted: money('reverted'),
    open: money('open'),
  };
}

export function vaultOf(row: VaultRow, unsettled: readonly UnsettledRow[]): VaultFigures {
  const { chainId, vault, block, claims } = checkpointOf(row);
  const kinds = UNSETTLED_KINDS.map((kind): [UnsettledKind, UnsettledClaims] => {
    const found = unsettled.find((one) => one.vault === row.vault && one.kind === kind);
    const ledger = found
      ? { count: found.ledger_count, tokens: BigInt(found.ledger_tokens) }
      : NOTHING;
    return [kind, { chain: tokensOf(found), ledger, examples: found?.examples ?? [] }];
  });
  return {
    chainId,
    vault,
    blockNumber: block?.number ?? 0n,
    chain: claims,
    ledger: { count: row.ledger_count, tokens: BigInt(row.ledger_tokens) },
    unsettled: Object.fromEntries(kinds) as Record<UnsettledKind, UnsettledClaims>,
    missing: {
      count: row.missing_count,
      tokens: BigInt(row.missing_tokens),
      examples: row.missing_examples ?? [],
    },
  };
}
