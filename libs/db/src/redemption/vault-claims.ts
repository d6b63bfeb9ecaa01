/**
 * Claims as the chain has them, the block up to which they were read, and what is wrong with a claim compared with its
 * redemption; and the vaults that the ledger names.
 */
import { type Address, type BlockRef, type Tokens, type UuidV7 } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import {
  type BlockColumns,
  blockOf,
  hexOf,
  type Nullable,
  type RowOf,
} from '../connection/rows.js';

export interface VaultPlace {
  readonly chainId: number;
  readonly vault: Address;
}

/** The block up to which the claims of one vault were read. */
export interface Checkpoint extends VaultPlace {
  /** The vault has no events in older blocks. */
  readonly startBlock: bigint;
  /** The last block that was read; undefined where none was. */
  readonly block: BlockRef | undefined;
  /** Number and tokens of the claims up to `block`. */
  readonly claims: Tokens;
}

/** A final claim on chain. */
export interface VaultClaim {
  /** `0x` and 64 hex digits. */
  readonly vaultId: string;
  /** Undefined where the vault's id was not made from the id of a redemption. */
  readonly redemptionId: UuidV7 | undefined;
  readonly transactionHash: string;
  readonly block: BlockRef;
  readonly recipient: Address;
  readonly amount: bigint;
}

const BEGIN = named<{ chainId: number; vault: string; startBlock: bigint }>(
  'reconciliation_begin',
  `INSERT INTO redemption.reconciliation_checkpoint (chain_id, vault, start_block)
    VALUES (:chainId, decode(:vault, 'hex'), :startBlock) ON CONFLICT DO NOTHING`,
);

/** Adds the checkpoint of the vault. Does nothing where there is one, whose start block stays. */
export async function beginVault(
  database: Database,
  { chainId, vault }: VaultPlace,
  startBlock: bigint,
): Promise<void> {
  await database.query(BEGIN({ chainId, vault: hexOf(vault), startBlock }));
}

export const CHECKPOINT_COLUMNS = `chain_id AS "chainId", '0x' || encode(vault, 'hex') AS vault, start_block AS "startBlock",
  ARRAY[block_number::text, encode(block_hash, 'hex'), extract(epoch FROM block_at)::bigint::text] AS block, claims, tokens`;

export interface CheckpointRow extends Record<
  'chainId' | 'startBlock' | 'claims' | 'tokens',
  string
> {
  readonly vault: Address;
  readonly block: Nullable<BlockColumns>;
}

export function checkpointOf(row: CheckpointRow): Checkpoint {
  return {
    chainId: Number(row.chainId),
    vault: row.vault,
    startBlock: BigInt(row.startBlock),
    block: blockOf(...row.block),
    claims: { count: Number(row.claims), tokens: BigInt(row.tokens) },
  };
}

/** One array for each column of CLAIM_ROWS. */
export function columnsOf(claims: readonly VaultClaim[]) {
  return {
    vaultIds: claims.map(({ vaultId }) => vaultId.slice(2)),
    redemptionIds: claims.map(({ redemptionId }) => redemptionId ?? null),
    transactionHashes: claims.map(({ transactionHash }) => transactionHash.slice(2)),
    blockNumbers: claims.map(({ block }) => block.number.toString()),
    blockSeconds: claims.map(({ block }) => block.timestampSeconds),
    recipients: claims.map(({ recipient }) => hexOf(recipient)),
    amounts: claims.map(({ amount }) => amount.toString()),
  };
}

/** The claims of `columnsOf`, as an item of a FROM clause. */
export const CLAIM_ROWS = `(SELECT decode(vault_id, 'hex') AS vault_id, redemption_id, decode(transaction_hash, 'hex') AS transaction_hash,
      block_number, to_timestamp(block_seconds) AS block_at, decode(recipient, 'hex') AS recipient, amount
    FROM unnest(:vaultIds::text[], :redemptionIds::uuid[], :transactionHashes::text[], :blockNumbers::bigint[],
        :blockSeconds::bigint[], :recipients::text[], :amounts::numeric[])
      AS given (vault_id, redemption_id, transaction_hash, block_number, block_seconds, recipient, amount))`;

/** The claim is as planned: it agrees with the row's frozen plan, and was paid by the plan's vault. */
export const FITS = `(r.plan_vault = c.vault AND r.plan_chain_id = c.chain_id AND r.plan_recipient = c.recipient AND r.plan_amount = c.amount)`;

export const CLAIM_BLOCK = `(r.paid_evidence -> 'block' ->> 'number')::numeric`;
export const IN_LEDGER = `r.state = 'claimed' AND r.plan_chain_id = p.chain_id AND r.plan_vault = p.vault
  AND ${CLAIM_BLOCK} <= p.block_number`;

/**
 * What is wrong with a claim `c` compared with its row `r`, as branches of a CASE. No branch applies where
 * the claim is as planned.
 */
export const CLAIM_FAULTS = `WHEN r.id IS NULL THEN 'without-row'
          WHEN r.plan_amount IS NULL
            OR NOT (r.state IN ('authorised', 'claimed') OR r.state = 'attention' AND r.resume = 'authorised') THEN 'unpayable'
          WHEN NOT ${FITS} THEN 'different'`;

/**
 * The claims that are not settled, each with its kind. A claim that was first seen before `overdue`
 * should have been recorded.
 */
export const unsettledClaims = (overdue: string): string => `
    SELECT k.*, a.at AS acknowledged_at, a.actor AS acknowledged_by, a.note
    FROM (
      SELECT c.chain_id, c.vault, c.vault_id, c.amount, c.recipient, c.block_number, c.block_at, c.transaction_hash,
        coalesce(c.redemption_id::text, '0x' || encode(c.vault_id, 'hex')) AS id,
        r.state, r.token_amount, coalesce(${IN_LEDGER}, false) AS in_ledger,
        CASE ${CLAIM_FAULTS}
          WHEN r.state = 'claimed' THEN 'settled'
          WHEN c.seen_at < ${overdue} THEN 'overdue'
          ELSE 'open' END AS kind
      FROM redemption.vault_claim c
        JOIN redemption.reconciliation_checkpoint p USING (chain_id, vault)
        LEFT JOIN redemption.redemption r ON r.id = c.redemption_id
      WHERE NOT c.settled) AS k
      LEFT JOIN LATERAL (
        SELECT at, actor, note FROM redemption.claim_acknowledgement a
        WHERE (a.chain_id, a.vault, a.vault_id, a.transaction_hash, a.kind)
            = (k.chain_id, k.vault, k.vault_id, k.transaction_hash, k.kind)
          AND a.state IS NOT DISTINCT FROM k.state
        ORDER BY a.id DESC LIMIT 1) AS a ON true
    WHERE k.kind <> 'settled'`;

/** A vault that may have paid redemptions of this ledger. */
export interface KnownVault {
  readonly vault: Address;
  /** Older blocks have no events of the vault that matter. */
  readonly startBlock: bigint;
}

/** The vaults of which claims were read, and those that plans name. */
const KNOWN = named<{ chainId: number }>(
  'vaults_known',
  `SELECT '0x' || encode(vault, 'hex') AS vault, min(start_block)::text AS "startBlock" FROM (
      SELECT vault, start_block FROM redemption.reconciliation_checkpoint WHERE chain_id = :chainId
      UNION ALL
      SELECT plan_vault, min(plan_from_block) FROM redemption.redemption WHERE plan_chain_id = :chainId GROUP BY plan_vault) AS v
    GROUP BY vault ORDER BY vault`,
);

/** The current vault and those that it replaced, as far as the ledger names them. */
export class KnownVaults {
  constructor(private readonly database: Database) {}

  /**
   * Adds a vault. Called before anything is planned on it, so that every later backup names it. A
   * known vault stays as it is.
   */
  async add(chainId: number, { vault, startBlock }: KnownVault): Promise<void> {
    await beginVault(this.database, { chainId, vault }, startBlock);
  }

  /** Reads every redemption, so it must not be called for each redemption. */
  async of(chainId: number): Promise<KnownVault[]> {
    const rows = await this.database.query<RowOf<KnownVault>>(KNOWN({ chainId }));
    return rows.map(({ vault, startBlock }) => ({ vault, startBlock: BigInt(startBlock) }));
  }
}
