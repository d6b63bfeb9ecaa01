/** Reads from the database and the chain how each redemption ended; the partner's books are in memory. */
import { redemptionIdOf, VaultReader, RpcPool } from '#libs/chain';
import { type Database } from '#libs/db';
import {
  type BlockRef,
  type DeliveryState,
  type PartnerId,
  type RedemptionState,
} from '#libs/domain';
import { systemClock } from '#libs/platform';
import { type VaultBench } from '#libs/testing/vault';
import { type FailingPartner } from '../partner/failing-partner.js';
import { type ClaimFact, type RedemptionFacts } from './redemption-facts.js';

interface FactRow {
  id: string;
  partner: PartnerId;
  state: RedemptionState;
  wallet: string;
  points: number;
  token_amount: string;
  partner_transaction_id: string | null;
  deadline_seconds: number | null;
  claimed_at: Date | null;
  reverted_at: Date | null;
  failed_at: Date | null;
  claim_hash: string | null;
  plans: number;
  calls: string[];
  confirmation_state: DeliveryState | null;
  payload: string | null;
}

const ROWS = {
  text: `SELECT r.id, r.partner, r.state, '0x' || encode(r.wallet, 'hex') AS wallet, r.points::float8 AS points,
      r.token_amount::text, r.partner_transaction_id, r.plan_deadline_seconds::float8 AS deadline_seconds,
      r.claimed_at, r.reverted_at, r.failed_at, r.paid_evidence ->> 'transactionHash' AS claim_hash,
      (SELECT count(*)::int FROM redemption.transition t
        WHERE t.redemption_id = r.id AND t.event = 'plan-committed') AS plans,
      ARRAY(SELECT request_id::text FROM redemption.partner_call c WHERE c.redemption_id = r.id) AS calls,
      c.state AS confirmation_state, c.payload
    FROM redemption.redemption r LEFT JOIN redemption.confirmation c ON c.redemption_id = r.id ORDER BY r.id`,
};

export interface VaultFacts {
  readonly finalised: BlockRef;
  /** By redemption id. A claim of no known redemption is under its vault id. */
  readonly claims: ReadonlyMap<string, readonly ClaimFact[]>;
  readonly cancellations: ReadonlyMap<string, number>;
}

/** All events of the vault up to the final block. */
export async function vaultFacts({ chain, vault }: VaultBench): Promise<VaultFacts> {
  const pool = new RpcPool({ urls: [chain.rpc.url], clock: systemClock });
  const { token } = chain.contracts;
  const reader = new VaultReader(pool, { vault, token, finality: 'finalized' });
  const finalised = await reader.finalised();
  const claims = new Map<string, ClaimFact[]>();
  const cancellations = new Map<string, number>();
  for (const event of await reader.events({ from: 0n, head: finalised })) {
    const id = redemptionIdOf(event.vaultId) ?? event.vaultId;
    if (event.kind === 'cancelled') {
      cancellations.set(id, (cancellations.get(id) ?? 0) + 1);
      continue;
    }
    const { transactionHash, recipient, amount, block } = event;
    const claim = { transactionHash, recipient, amount, blockSeconds: block.timestampSeconds };
    claims.set(id, [...(claims.get(id) ?? []), claim]);
  }
  return { finalised, claims, cancellations };
}

export async function gatherFacts(
  database: Database,
  vault: VaultFacts,
  partner: FailingPartner,
): Promise<RedemptionFacts[]> {
  const rows = await database.query<FactRow>(ROWS);
  return rows.map((row) => factsOf(row, vault, partner));
}

function factsOf(row: FactRow, vault: VaultFacts, partner: FailingPartner): RedemptionFacts {
  const { id } = row;
  const claims = vault.claims.get(id) ?? [];
  const cancellations = vault.cancellations.get(id) ?? 0;
  const known = new Set(row.calls);
  return {
    id,
    row: {
      partner: row.partner,
      state: row.state,
      wallet: row.wallet,
      points: row.points,
      tokenAmount: BigInt(row.token_amount),
      partnerTransactionId: row.partner_transaction_id,
      deadlineSeconds: row.deadline_seconds,
      claimedAtMs: row.claimed_at?.getTime() ?? null,
      revertedAtMs: row.reverted_at?.getTime() ?? null,
      failedAtMs: row.failed_at?.getTime() ?? null,
      claimHash: row.claim_hash,
      plans: row.plans,
    },
    books: {
      deductions: partner.books.of(id).map(({ transactionId, points, revertId }) => ({
        transactionId,
        points,
        reverted: revertId !== undefined,
      })),
    },
    vault: {
      status: claims.length > 0 ? 'claimed' : cancellations > 0 ? 'cancelled' : 'none',
      claims,
      cancellations,
      finalSeconds: vault.finalised.timestampSeconds,
    },
    confirmation: {
      state: row.confirmation_state,
      payload: row.payload,
      received: partner.confirmations.get(id) ?? [],
    },
    callsWithoutRow: (partner.calls.get(id) ?? []).filter((call) => !known.has(call)),
  };
}
