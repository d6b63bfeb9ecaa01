/** The phase of a redemption as its player sees it. Pure: texts and page are derived from it. */
import { type Redemption } from '../config';
import { type SentClaim } from './claims-store';

/** The voucher's status up to the chain's newest block; undefined where the wallet was not asked. */
export type SeenOnChain = 'open' | 'claimed' | 'cancelled' | undefined;

export const PHASES = [
  'starting',
  'taking',
  'preparing',
  'claimable',
  'sent',
  'inBlock',
  'over',
  'sentOver',
  'cancelling',
  'returning',
  'attention',
  'claimed',
  'reverted',
  'failed',
] as const;
export type Phase = (typeof PHASES)[number];

const BY_STAGE: Readonly<Record<Redemption['stage'], Phase | undefined>> = {
  created: 'starting',
  deducting: 'taking',
  deducted: 'preparing',
  authorised: undefined,
  reverting: 'returning',
  attention: 'attention',
  claimed: 'claimed',
  reverted: 'reverted',
  failed: 'failed',
};

const ENDED: readonly Phase[] = ['claimed', 'reverted', 'failed'];

export function hasEnded({ stage }: Pick<Redemption, 'stage'>): boolean {
  const phase = BY_STAGE[stage];
  return phase !== undefined && ENDED.includes(phase);
}

export function phaseOf(
  { stage, cancelRequested, voucher, payableUntil }: Redemption,
  { sent, seen, nowMs }: { sent: SentClaim | undefined; seen: SeenOnChain; nowMs: number },
): Phase {
  const phase = BY_STAGE[stage];
  if (phase !== undefined) return phase;
  if (seen === 'claimed') return 'inBlock';
  if (cancelRequested || seen === 'cancelled') return 'cancelling';
  if (voucher === null || nowMs >= Date.parse(payableUntil ?? '')) {
    return sent === undefined ? 'over' : 'sentOver';
  }
  return sent === undefined ? 'claimable' : 'sent';
}

export type StepName =
  | 'started'
  | 'taken'
  | 'voucher'
  | 'claimSent'
  | 'claimed'
  | 'returning'
  | 'reverted'
  | 'failed'
  | 'attention';

export interface Step {
  readonly name: StepName;
  readonly state: 'done' | 'now' | 'next';
  /** Time of the step; null where it is unknown or has not happened. */
  readonly at: string | null;
}

/** The steps from the beginning to the actual end, or to the end that follows if all goes well. */
export function stepsOf(redemption: Redemption, phase: Phase, sent: SentClaim | undefined): Step[] {
  const { initialAt, deductedAt, authorisedAt, claimedAt, revertedAt, failedAt } = redemption;
  const steps = [done('started', initialAt)];
  if (phase === 'failed') return [...steps, done('failed', failedAt)];
  const wasTaken = deductedAt !== null;
  if (wasTaken || !isBackwards(phase))
    steps.push(one('taken', deductedAt, phase === 'starting' || phase === 'taking'));
  if (authorisedAt !== null || !isBackwards(phase)) {
    steps.push(one('voucher', authorisedAt, phase === 'preparing'));
  }
  if (phase === 'attention') return [...steps, { name: 'attention', state: 'now', at: null }];
  if (isBackwards(phase)) {
    steps.push(one('returning', phase === 'reverted' ? revertedAt : null, phase !== 'reverted'));
    return [...steps, one('reverted', revertedAt, false)];
  }
  // Without a stored claim only the time of the claim is known, not when it was sent.
  if (phase === 'claimed' && sent === undefined) return [...steps, done('claimed', claimedAt)];
  const isSent = sent !== undefined || phase === 'inBlock';
  const sentAt = sent === undefined ? null : new Date(sent.sentAtMs).toISOString();
  steps.push({
    name: 'claimSent',
    state: isSent ? 'done' : phase === 'claimable' || phase === 'over' ? 'now' : 'next',
    at: sentAt,
  });
  return [...steps, one('claimed', claimedAt, isSent)];
}

function isBackwards(phase: Phase): boolean {
  return phase === 'cancelling' || phase === 'returning' || phase === 'reverted';
}

function done(name: StepName, at: string | null): Step {
  return { name, state: 'done', at };
}

function one(name: StepName, at: string | null, isNow: boolean): Step {
  return { name, at, state: at !== null ? 'done' : isNow ? 'now' : 'next' };
}
