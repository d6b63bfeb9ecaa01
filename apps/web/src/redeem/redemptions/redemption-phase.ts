/** Where a redemption is, for its player. Pure: the texts and the page follow from it. */
import { type Redemption } from '../config';
import { type SentClaim } from './claims-store';

/** What the chain says of the voucher up to its newest block, where the wallet was asked. */
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
  /** When it happened; null where that is not known, or not yet. */
  readonly at: string | null;
}

/** From the beginning to the end that it has, or to the one that it will have if all goes well. */
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
  // Of an earlier day it is only known that it was claimed.
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
