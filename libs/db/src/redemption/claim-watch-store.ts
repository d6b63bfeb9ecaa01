/**
 * The block up to which the claims of each vault were watched, and alarms about claims that no redemption authorised.
 */
import { type Address, type RedemptionState, type UnsettledKind, type UuidV7 } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressOf, hexOf, type RowOf } from '../connection/rows.js';
import { exclusively } from './exclusively.js';
import {
  beginVault,
  CLAIM_FAULTS,
  CLAIM_ROWS,
  columnsOf,
  type VaultClaim,
} from './vault-claims.js';

export interface WatchedVault {
  readonly vault: Address;
  /** Undefined where neither the watch nor the reconciliation has read a block of the vault yet. */
  readonly nextBlock: bigint | undefined;
}

/** A claim that no redemption explains. Kind `different`: amount, recipient or vault is not as planned. */
export interface ClaimAlarm {
  readonly vaultId: string;
  readonly transactionHash: string;
  readonly redemptionId: UuidV7 | undefined;
  readonly kind: Extract<UnsettledKind, 'without-row' | 'unpayable' | 'different'>;
  /** State of the redemption; null where there is no redemption. */
  readonly state: RedemptionState | null;
  /** The claim is of a time whose redemptions are missing in a restored ledger. */
  readonly mayBeLost: boolean;
}

export interface WatchedClaims {
  readonly chainId: number;
  readonly vault: Address;
  readonly claims: readonly VaultClaim[];
  /**
   * The next block to watch: all final claims of older blocks are in `claims` or were recorded before. Undefined
   * where this is not certain.
   */
  readonly nextBlock: bigint | undefined;
  readonly nowMs: number;
}

export interface WatchState {
  /** Number of alarms that wait for an operator. */
  readonly alarms: number;
  /**
   * Unix time in milliseconds of the last look at the vault that has waited longest; 0 where a
   * vault was never looked at.
   */
  readonly lookedAtMs: number;
}

interface VaultPlace {
  readonly chainId: number;
  /** Hex digits without `0x`. */
  readonly vault: string;
}

/**
 * The watch of a vault without a cursor starts at the checkpoint of the reconciliation, which has
 * compared all older claims.
 */
const VAULTS = named<{ chainId: number }>(
  'claim_watch_vaults',
  `SELECT '0x' || encode(p.vault, 'hex') AS vault, coalesce(w.next_block, p.block_number + 1)::text AS "nextBlock"
    FROM redemption.reconciliation_checkpoint p LEFT JOIN redemption.claim_watch w USING (chain_id, vault)
    WHERE p.chain_id = :chainId ORDER BY p.vault`,
);

const ADVANCE = named<VaultPlace & { nextBlock: bigint; now: Date }>(
  'claim_watch_advance',
  `INSERT INTO redemption.claim_watch AS w (chain_id, vault, next_block, looked_at)
    VALUES (:chainId, decode(:vault, 'hex'), :nextBlock, :now)
    ON CONFLICT (chain_id, vault) DO UPDATE
      SET next_block = greatest(w.next_block, EXCLUDED.next_block), looked_at = EXCLUDED.looked_at`,
);

const IS_ACKNOWLEDGED = (claim: string): string => `EXISTS (
    SELECT FROM redemption.claim_acknowledgement k
    WHERE (k.chain_id, k.vault, k.vault_id, k.transaction_hash)
      = (${claim}.chain_id, ${claim}.vault, ${claim}.vault_id, ${claim}.transaction_hash))`;

/**
 * Condition: the alarm waits for an operator. A claim that is settled, because its redemption is claimed
 * as planned, needs none.
 */
const IS_OPEN = `NOT ${IS_ACKNOWLEDGED('a')} AND NOT EXISTS (
    SELECT FROM redemption.vault_claim c WHERE c.settled
      AND (c.chain_id, c.vault, c.vault_id, c.transaction_hash) = (a.chain_id, a.vault, a.vault_id, a.transaction_hash))`;

/** Stores alarms, and returns those that are new. */
const ALARM = named<Record<string, unknown>>(
  'claim_watch_alarm',
  `WITH claim AS (
      SELECT :chainId::bigint AS chain_id, decode(:vault, 'hex') AS vault, n.* FROM ${CLAIM_ROWS} AS n),
    judged AS (
      SELECT c.*, r.state, CASE ${CLAIM_FAULTS} END AS kind,
        EXISTS (SELECT FROM redemption.ledger_restore l
          WHERE c.block_at BETWEEN l.lost_since AND to_timestamp(l.vouchers_until_seconds)) AS may_be_lost
      FROM claim c LEFT JOIN redemption.redemption r ON r.id = c.redemption_id)
    INSERT INTO redemption.claim_alarm (chain_id, vault, vault_id, transaction_hash, redemption_id, block_number, block_at,
      recipient, amount, kind, state, may_be_lost, found_at)
    SELECT chain_id, vault, vault_id, transaction_hash, redemption_id, block_number, block_at,
      recipient, amount, kind, state, may_be_lost, :now
    FROM judged j WHERE kind IS NOT NULL AND NOT ${IS_ACKNOWLEDGED('j')}
    ON CONFLICT DO NOTHING
    RETURNING '0x' || encode(vault_id, 'hex') AS "vaultId", '0x' || encode(transaction_hash, 'hex') AS "transactionHash",
      redemption_id AS "redemptionId", kind, state, may_be_lost AS "mayBeLost"`,
);

const TO_PAUSE = named<{ chainId: number }>(
  'claim_watch_to_pause',
  `SELECT DISTINCT encode(vault, 'hex') AS vault FROM redemption.claim_alarm a
    WHERE chain_id = :chainId AND paused_at IS NULL AND NOT may_be_lost AND ${IS_OPEN}`,
);

const PAUSED = named<VaultPlace & { now: Date }>(
  'claim_watch_paused',
  `UPDATE redemption.claim_alarm SET paused_at = :now
    WHERE chain_id = :chainId AND vault = decode(:vault, 'hex') AND paused_at IS NULL`,
);

const STATE = named<{ chainId: number }>(
  'claim_watch_state',
  `SELECT
      (SELECT count(*)::int FROM redemption.claim_alarm a WHERE chain_id = :chainId AND ${IS_OPEN}) AS alarms,
      (SELECT min(coalesce(w.looked_at, to_timestamp(0))) FROM redemption.reconciliation_checkpoint p
        LEFT JOIN redemption.claim_watch w USING (chain_id, vault) WHERE p.chain_id = :chainId) AS looked_at`,
);

export class ClaimWatchStore {
  constructor(private readonly database: Database) {}

  /** @see exclusively */
  exclusively<T>(
    work: (lease: AbortSignal) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> {
    return exclusively(this.database, 'claim-watch', work);
  }

  /** The current vault, which the ledger may not name yet, and all vaults that the ledger names. */
  async vaults(
    { chainId, vault }: { readonly chainId: number; readonly vault: Address },
    startBlock: bigint,
  ): Promise<WatchedVault[]> {
    await beginVault(this.database, { chainId, vault }, startBlock);
    const rows = await this.database.query<RowOf<WatchedVault>>(VAULTS({ chainId }));
    return rows.map(({ vault, nextBlock: next }) => ({
      vault,
      nextBlock: next === null ? undefined : BigInt(next),
    }));
  }

  /**
   * Compares the claims with the redemptions and stores an alarm for each claim without an explanation. The cursor
   * moves on in the same transaction.
   * @returns the new alarms
   */
  record({ chainId, vault, claims, nextBlock, nowMs }: WatchedClaims): Promise<ClaimAlarm[]> {
    return this.database.transaction(async (client) => {
      const place = { chainId, vault: hexOf(vault), now: new Date(nowMs) };
      const rows =
        claims.length === 0
          ? []
          : await run<RowOf<ClaimAlarm>>(client, ALARM({ ...place, ...columnsOf(claims) }));
      if (nextBlock !== undefined) await run(client, ADVANCE({ ...place, nextBlock }));
      return rows.map((row) => ({ ...row, redemptionId: row.redemptionId ?? undefined }));
    });
  }

  /** Vaults with an alarm that asks for a pause, and that were not seen paused since this alarm. */
  async toPause(chainId: number): Promise<Address[]> {
    const rows = await this.database.query<{ vault: string }>(TO_PAUSE({ chainId }));
    return rows.map(({ vault }) => addressOf(vault));
  }

  /**
   * Records that the vault is paused. Its present alarms do not pause it again, because an operator who
   * unpauses it knows of them.
   */
  async paused(chainId: number, vault: Address, nowMs: number): Promise<void> {
    await this.database.query(PAUSED({ chainId, vault: hexOf(vault), now: new Date(nowMs) }));
  }

  async state(chainId: number): Promise<WatchState> {
    const [row] = await this.database.query<{ alarms: number; looked_at: Date | null }>(
      STATE({ chainId }),
    );
    return { alarms: row?.alarms ?? 0, lookedAtMs: row?.looked_at?.getTime() ?? 0 };
  }
}
