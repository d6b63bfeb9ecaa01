import { type PayoutEvidence } from './payout-evidence.js';
import { type EventOf } from './redemption-event.js';
import { type UuidV7 } from './uuid-v7.js';

/**
 * What the chain's evidence means for the redemption it was gathered for.
 * @param recheckMs when the chain can be expected to say more
 */
export function payoutEvent(
  redemptionId: UuidV7,
  evidence: PayoutEvidence,
  recheckMs: number,
): EventOf<'payout-live' | 'payout-paid' | 'payout-dead'> {
  switch (evidence.outcome) {
    case 'paid':
      return { type: 'payout-paid', redemptionId, evidence };
    case 'dead':
      return { type: 'payout-dead', redemptionId, evidence };
    case 'live':
      return evidence.doubt?.kind === 'contradiction'
        ? { type: 'payout-live', recheckMs, contradiction: evidence.doubt.text }
        : { type: 'payout-live', recheckMs };
  }
}
