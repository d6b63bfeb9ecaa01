/**
 * What the three sides say about one redemption at the end, as plain values: the database, the chain, the partner's
 * books.
 */
import { type DeliveryState, type PartnerId, type RedemptionState } from '#libs/domain';

export interface ClaimFact {
  readonly transactionHash: string;
  readonly recipient: string;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly blockSeconds: number;
}

export interface RedemptionFacts {
  readonly id: string;
  readonly row: {
    readonly partner: PartnerId;
    readonly state: RedemptionState;
    readonly wallet: string;
    readonly points: number;
    readonly tokenAmount: bigint;
    readonly partnerTransactionId: string | null;
    /** Unix seconds; null where no payout was ever authorised. */
    readonly deadlineSeconds: number | null;
    readonly claimedAtMs: number | null;
    readonly revertedAtMs: number | null;
    readonly failedAtMs: number | null;
    /** Transaction hash of the paid evidence. */
    readonly claimHash: string | null;
    /** Number of transitions that committed a plan. */
    readonly plans: number;
  };
  /** From the partner's own books. */
  readonly books: {
    readonly deductions: readonly {
      readonly transactionId: string;
      readonly points: number;
      readonly reverted: boolean;
    }[];
  };
  /** From the chain, up to its final block. */
  readonly vault: {
    readonly status: 'none' | 'claimed' | 'cancelled';
    readonly claims: readonly ClaimFact[];
    readonly cancellations: number;
    readonly finalSeconds: number;
  };
  readonly confirmation: {
    readonly state: DeliveryState | null;
    readonly payload: string | null;
    /** The bodies of all confirmations that arrived at the partner. */
    readonly received: readonly string[];
  };
  /** X-API-REQUEST of calls that the partner saw and that have no row in the database. */
  readonly callsWithoutRow: readonly string[];
}
