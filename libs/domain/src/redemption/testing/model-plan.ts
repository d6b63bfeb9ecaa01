/** What a run of the model is made of, and the times that its players keep to. */
import { type BlockHash } from '../../chain/block.js';
import { type PartnerPolicy } from '../partner-call.js';
import { type RedemptionEvent } from '../redemption-event.js';
import { type BookingStep, type Redemption } from '../redemption.js';
import { type Fault } from './model-network.js';
import { type PartnerNature } from './model-partner.js';

export interface RunPlan {
  readonly tape: readonly number[];
  readonly nature: PartnerNature;
  readonly policy: PartnerPolicy;
  /** What may happen to a call of each step, each as likely as the others. */
  readonly faults: Readonly<Record<BookingStep, readonly Fault[]>>;
  /** What happens to every call after the tape. */
  readonly lastFault: Fault;
}

const NO_HASH = `0x${'0'.repeat(64)}` as BlockHash;
/** A call that nobody answered for within the time allowed is taken for lost. */
export const LEASE_MS = 45_000;
export const MAX_STEPS = 600;
/** A voucher's life, and what clocks may differ by. */
export const TTL_SECONDS = 1800;
export const CLOCKS_SECONDS = 600;
export const DELAYS_MS = [1000, 60_000, 250_000, 299_000, 400_000, 1_200_000, 20_000_000] as const;

export function faultFor(
  { faults, nature }: RunPlan,
  step: BookingStep,
  choose: (size: number) => number,
): Fault {
  const fault = faults[step][choose(faults[step].length)] ?? 'none';
  // A copy is harmless only where it is refused as one; elsewhere the interface leaves no defence.
  const knowsCopies = nature.does.includes('enforces-freshness');
  return fault === 'reply-of-a-copy' && !knowsCopies ? 'reply-lost' : fault;
}

/** Of an observer that proves nothing: a final block of just the deadline, and a cancellation that is not final. */
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
