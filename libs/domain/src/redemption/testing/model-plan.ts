/** The inputs of a run of the model, and the times that its parties keep. */
import { type BlockHash } from '../../chain/block.js';
import { type PartnerPolicy } from '../partner-call.js';
import { type PayoutTerms } from '../payout-evidence.js';
import { type RedemptionEvent } from '../redemption-event.js';
import { type BookingStep, type Redemption } from '../redemption.js';
import { type Fault } from './model-network.js';
import { type PartnerNature } from './model-partner.js';

export interface RunPlan {
  readonly tape: readonly number[];
  readonly nature: PartnerNature;
  readonly policy: PartnerPolicy;
  /** The faults that may happen to a call of each step, all equally likely. */
  readonly faults: Readonly<Record<BookingStep, readonly Fault[]>>;
  /** The fault of every call after the end of the tape. */
  readonly lastFault: Fault;
}

const NO_HASH = `0x${'0'.repeat(64)}` as BlockHash;
/** A call without an answer within this time counts as lost. */
export const LEASE_MS = 45_000;
export const MAX_STEPS = 600;
/** Lifetime of a voucher, and the largest difference between clocks. */
export const TTL_SECONDS = 1800;
export const CLOCKS_SECONDS = 600;
export const DELAYS_MS = [1000, 60_000, 250_000, 299_000, 400_000, 1_200_000, 20_000_000] as const;

export function planFor(
  { wallet: recipient, tokenAmount: amount }: Redemption,
  nowSeconds: number,
): PayoutTerms {
  return { recipient, amount, deadlineSeconds: nowSeconds + TTL_SECONDS };
}

export function faultFor(
  { faults, nature }: RunPlan,
  step: BookingStep,
  choose: (size: number) => number,
): Fault {
  const fault = faults[step][choose(faults[step].length)] ?? 'none';
  // A copy is harmless only where the partner refuses it as a copy; otherwise the interface offers no defence.
  const knowsCopies = nature.does.includes('enforces-freshness');
  return fault === 'reply-of-a-copy' && !knowsCopies ? 'reply-lost' : fault;
}

/**
 * Events of an observer that prove nothing: a final block whose time is the deadline, and a cancellation that is not
 * final.
 */
export function hastyEvents({ id: redemptionId, plan }: Redemption): RedemptionEvent[] {
  if (plan === null) return [];
  const finalised = { number: 1n, hash: NO_HASH, timestampSeconds: plan.deadlineSeconds };
  const evidence = { outcome: 'dead', reason: 'expired', finalised } as const;
  const early = { reason: 'cancelled', block: { ...finalised, number: 2n } } as const;
  const cancelled = { ...evidence, ...early, transactionHash: NO_HASH };
  return [
    { type: 'payout-dead', redemptionId, evidence },
    { type: 'payout-dead', redemptionId, evidence: cancelled },
  ];
}
