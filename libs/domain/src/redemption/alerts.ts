/** The alerts that follow from the events of a redemption. */
import { type PartnerStep, type UnknownReason } from './partner-call.js';
import { type RedemptionEvent } from './redemption-event.js';
import { type Redemption, type RedemptionReason } from './redemption.js';

export interface RedemptionAlert {
  /** `critical`: the records of the two parties may disagree. */
  readonly severity: 'warning' | 'critical';
  readonly code: RedemptionReason | UnknownReason | 'contradiction';
  readonly step?: PartnerStep;
}

/** Faults of a call that raise an alert, by step (fault table of rule I). */
const ALERTED: Readonly<Record<PartnerStep, readonly UnknownReason[]>> = {
  balance: ['signature-missing', 'signature-wrong', 'auth-failed'],
  deduct: [
    'signature-missing',
    'signature-wrong',
    'invalid-transaction-id',
    'auth-failed',
    'redirect',
    'too-slow',
    'too-large',
  ],
  revert: ['signature-missing', 'signature-wrong', 'auth-failed'],
  confirm: ['auth-failed'],
};

export function isAlerted(step: PartnerStep, reason: UnknownReason): boolean {
  return ALERTED[step].includes(reason);
}

/** Reasons for which the records of the two parties may disagree. */
const CRITICAL: readonly (RedemptionReason | null)[] = [
  'paid-after-dead',
  'claimed-without-plan',
  'transaction-id-reused',
  'amount-disputed',
  'evidence-invalid',
];

const UNKNOWN_STEPS = {
  'balance-unknown': 'balance',
  'deduct-unknown': 'deduct',
  'revert-unknown': 'revert',
} as const;

/**
 * The alerts for the transition from `before` to `next` by the event: first what was learnt, then that the redemption
 * waits for an operator.
 */
export function alertsOf(
  event: RedemptionEvent,
  before: Redemption,
  next: Redemption,
): RedemptionAlert[] {
  const alerts: RedemptionAlert[] = [];
  if (event.type === 'payout-live' && event.contradiction !== undefined) {
    alerts.push({ severity: 'critical', code: 'contradiction' });
  }
  if (
    event.type === 'balance-unknown' ||
    event.type === 'deduct-unknown' ||
    event.type === 'revert-unknown'
  ) {
    const step = UNKNOWN_STEPS[event.type];
    const { reason } = event;
    if (reason !== undefined && isAlerted(step, reason)) {
      alerts.push({ severity: 'warning', code: reason, step });
    }
  }
  const { state, reason } = next;
  if (state === 'attention' && before.state !== 'attention' && reason !== null) {
    alerts.push({ severity: CRITICAL.includes(reason) ? 'critical' : 'warning', code: reason });
  }
  return alerts;
}
