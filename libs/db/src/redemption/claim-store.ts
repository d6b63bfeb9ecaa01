/**
 * Claims on chain that no redemption explains, for an operator who looks into them, and the operators'
 * acknowledgements, which are kept for good.
 */
import {
  type Address,
  PermanentError,
  type RedemptionState,
  type UnsettledKind,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type PageRequest } from '../connection/page.js';
import { type Nullable, type RowOf } from '../connection/rows.js';
import { unsettledClaims } from './vault-claims.js';

export interface Acknowledgement {
  readonly at: Date;
  /** `operator:NAME` */
  readonly actor: string;
  readonly note: string;
}

export interface UnexplainedClaim {
  /** Id of the redemption; `0x` and 64 hex digits where the vault's id was not made from the id of a redemption. */
  readonly id: string;
  readonly kind: UnsettledKind;
  /** State of the redemption; null where there is no redemption. */
  readonly state: RedemptionState | null;
  readonly chainId: number;
  readonly vault: Address;
  readonly recipient: Address;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly block: bigint;
  readonly blockAt: Date;
  readonly transactionHash: string;
  readonly acknowledged: Acknowledgement | null;
}

export interface AcknowledgeRequest {
  /** `id` of the claim in the list. */
  readonly id: string;
  readonly atMs: number;
  readonly actor: string;
  readonly command: string;
  /** 1 to 255 characters. */
  readonly note: string;
}

export class NoSuchClaimError extends PermanentError {
  constructor(id: string) {
    super(
      'CLAIM_NOT_FOUND',
      `No claim of ${id} waits for an explanation: \`reconciliation list\` has those that do.`,
    );
  }
}

/** Kinds of claims that can be acknowledged. Open and overdue claims are for the worker to record. */
const ACKNOWLEDGEABLE = `kind IN ('without-row', 'unpayable', 'different')`;

type ClaimRow = RowOf<Omit<UnexplainedClaim, 'chainId' | 'acknowledged'>> &
  Nullable<Acknowledgement> & { readonly chainId: string };

/**
 * Claims that the claim watch found and that no reconciliation has read yet. Kind and state of an alarm are those of
 * the moment when it was found and never change, so its acknowledgement is matched without them. When the
 * reconciliation reads the claim, it is judged again, and an acknowledgement counts for the same kind and state only.
 */
const ALARMS = `
    SELECT a.chain_id, a.vault, a.vault_id, a.amount, a.recipient, a.block_number, a.block_at, a.transaction_hash,
      coalesce(a.redemption_id::text, '0x' || encode(a.vault_id, 'hex')) AS id, a.state, a.kind,
      k.at AS acknowledged_at, k.actor AS acknowledged_by, k.note
    FROM redemption.claim_alarm a
      LEFT JOIN LATERAL (
        SELECT at, actor, note FROM redemption.claim_acknowledgement k
        WHERE (k.chain_id, k.vault, k.vault_id, k.transaction_hash) = (a.chain_id, a.vault, a.vault_id, a.transaction_hash)
        ORDER BY k.id DESC LIMIT 1) AS k ON true
    WHERE NOT EXISTS (
      SELECT FROM redemption.vault_claim c
      WHERE (c.chain_id, c.vault, c.vault_id, c.transaction_hash) = (a.chain_id, a.vault, a.vault_id, a.transaction_hash))`;

/** All claims without an explanation. A claim that was first seen before `overdue` should have been recorded. */
const UNEXPLAINED = `
    SELECT chain_id, vault, vault_id, amount, recipient, block_number, block_at, transaction_hash, id, state, kind,
      acknowledged_at, acknowledged_by, note
    FROM (${unsettledClaims(':overdue')}) AS u
    UNION ALL ${ALARMS}`;

export type ClaimKey = Pick<UnexplainedClaim, 'block' | 'id' | 'transactionHash'>;

interface Listed {
  readonly overdue: Date;
  readonly all: boolean;
  readonly limit: number;
  readonly block: bigint | null;
  readonly id: string | null;
  readonly transaction: string | null;
}

const LIST = named<Listed>(
  'claim_list',
  `SELECT id, kind, state, chain_id AS "chainId", '0x' || encode(vault, 'hex') AS vault,
      '0x' || encode(recipient, 'hex') AS recipient, amount, block_number AS block, block_at AS "blockAt",
      '0x' || encode(transaction_hash, 'hex') AS "transactionHash", acknowledged_at AS at, acknowledged_by AS actor, note
    FROM (${UNEXPLAINED}) AS u
    WHERE kind <> 'open' AND (:all OR acknowledged_at IS NULL)
      AND (:block::bigint IS NULL OR (block_number, id, transaction_hash) > (:block, :id::text, decode(:transaction::text, 'hex')))
    ORDER BY block_number, id, u.transaction_hash LIMIT :limit`,
);

const ACKNOWLEDGE = named<Record<string, unknown>>(
  'claim_acknowledge',
  `WITH found AS MATERIALIZED (
      SELECT * FROM (${UNEXPLAINED}) AS u WHERE id = :id AND ${ACKNOWLEDGEABLE}
    ), noted AS (
      INSERT INTO redemption.claim_acknowledgement (at, chain_id, vault, vault_id, transaction_hash, kind, state, actor, note)
      SELECT :at, chain_id, vault, vault_id, transaction_hash, kind, state, :actor, :note FROM found RETURNING id
    ), audited AS (
      INSERT INTO redemption.audit (actor, command, redemption_id, arguments, outcome)
      SELECT :actor, :command, (SELECT r.id FROM redemption.redemption r WHERE r.id::text = :id), :arguments, 'acknowledged'
      WHERE EXISTS (SELECT FROM found)
    )
    SELECT count(*)::int AS count FROM noted`,
);

export class ClaimStore {
  constructor(private readonly database: Database) {}

  /**
   * Unexplained claims, oldest first: those up to the block that the last reconciliation has read, and those that the
   * claim watch has found since.
   * @param overdueBeforeMs claims that were first seen before this moment should have been recorded
   */
  async list(
    overdueBeforeMs: number,
    { all, limit, after }: { readonly all: boolean } & PageRequest<ClaimKey>,
  ): Promise<UnexplainedClaim[]> {
    const statement = LIST({
      overdue: new Date(overdueBeforeMs),
      ...{ all, limit },
      block: after?.block ?? null,
      id: after?.id ?? null,
      transaction: after?.transactionHash.slice(2) ?? null,
    });
    return (await this.database.query<ClaimRow>(statement)).map(claimOf);
  }

  /**
   * Acknowledges a claim and writes an audit row. The acknowledgement is valid for the claim as it is: with another
   * transaction or another state of the redemption, the claim is a difference again.
   * @returns number of claims; one id may be claimed on several vaults
   * @throws NoSuchClaimError
   */
  async acknowledge({ id, atMs, actor, command, note }: AcknowledgeRequest): Promise<number> {
    const at = new Date(atMs);
    const given = { overdue: at, at, id, actor, note, command };
    const [row] = await this.database.query<{ count: number }>(
      ACKNOWLEDGE({ ...given, arguments: JSON.stringify({ id, note }) }),
    );
    const count = row?.count ?? 0;
    if (count === 0) throw new NoSuchClaimError(id);
    return count;
  }
}

function claimOf({ at, actor, note, ...row }: ClaimRow): UnexplainedClaim {
  const isAcknowledged = at !== null && actor !== null && note !== null;
  return {
    ...row,
    chainId: Number(row.chainId),
    amount: BigInt(row.amount),
    block: BigInt(row.block),
    acknowledged: isAcknowledged ? { at, actor, note } : null,
  };
}
