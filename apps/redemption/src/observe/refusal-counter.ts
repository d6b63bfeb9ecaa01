import { Counter, type Registry } from '#libs/service';
import { REFUSAL_REASONS, type RefusalReason } from '../payout/payout-refusal.js';

/** Counts redemptions that were not begun because they could not be paid. */
export function refusalCounter(registry: Registry): (reason: RefusalReason) => void {
  const refused = new Counter({
    name: 'lowmark_payouts_refused_total',
    help: 'Redemptions that were not begun because their payout was not possible, by reason',
    labelNames: ['reason'],
    registers: [registry],
  });
  // From 0 on: a series that begins at 1 is no increase to an alert.
  for (const reason of REFUSAL_REASONS) refused.inc({ reason }, 0);
  return (reason) => {
    refused.inc({ reason });
  };
}
