import { Injectable } from '@nestjs/common';
import { Counter, Registry } from '#libs/service';

/** Why no payout can be begun; the values of the label `reason` of lowmark_payouts_refused_total. */
export const REFUSAL_REASONS = [
  'chain',
  'paused',
  'set-up',
  'balance',
  'window',
  'too-much',
] as const;

export type RefusalReason = (typeof REFUSAL_REASONS)[number];

export interface PayoutRefusal {
  readonly reason: RefusalReason;
  /** Text for the user. */
  readonly message: string;
  /** Given where waiting may help. */
  readonly retryAfterSeconds?: number;
}

/** Seconds for which an answer about the vault is kept: a request within this time gets the same answer. */
export const CONDITIONS_KEPT_SECONDS = 10;

const LATER = 'Try again later.';
const LESS =
  'The vault cannot pay this much at the moment. Redeem fewer points, or try again later.';

const MESSAGES: Readonly<Record<RefusalReason, string>> = {
  chain: `The chain cannot be reached at the moment. ${LATER}`,
  paused: `Payouts are paused at the moment. ${LATER}`,
  'set-up': `Payouts are not possible at the moment. ${LATER}`,
  balance: LESS,
  window: LESS,
  'too-much': 'This is more than is ever paid at once. Redeem fewer points.',
};

export function payoutRefusal(reason: RefusalReason): PayoutRefusal {
  const message = MESSAGES[reason];
  // Waiting does not help against the vault's cap.
  if (reason === 'too-much') return { reason, message };
  return { reason, message, retryAfterSeconds: CONDITIONS_KEPT_SECONDS };
}

@Injectable()
export class RefusalCounter {
  private readonly refused: Counter<'reason'>;

  constructor(registry: Registry) {
    this.refused = new Counter({
      name: 'lowmark_payouts_refused_total',
      help: 'Redemptions that were not begun because their payout was not possible, by reason',
      labelNames: ['reason'],
      registers: [registry],
    });
    // Series begin at 0: an alert does not see a series that begins at 1 as an increase.
    for (const reason of REFUSAL_REASONS) this.refused.inc({ reason }, 0);
  }

  count(reason: RefusalReason): void {
    this.refused.inc({ reason });
  }
}
