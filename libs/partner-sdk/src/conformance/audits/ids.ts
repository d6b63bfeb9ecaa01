import { type Exchange } from '../wire/exchange.js';
import { type Fault } from './fault.js';

/** Ids that two answers share, and reverts that have the id of a transaction. */
export function judgeIds(exchanges: readonly Exchange[]): Fault[] {
  const faults: Fault[] = [];
  const transactions = new Map<string, string>();
  for (const exchange of successes(exchanges, 'deduct')) {
    const id = idIn(exchange, 'partnerTransactionId');
    const redemption = redemptionOf(exchange);
    if (id === undefined) continue;
    const before = transactions.get(id);
    transactions.set(id, before ?? redemption);
    if (before === undefined || before === redemption) continue;
    const observed = `partnerTransactionId ${id} was given to two redemptions, ${before} and ${redemption}.`;
    faults.push({ check: 'transaction-ids-unique', observed, exchange });
  }
  const reverts = new Map<string, string>();
  for (const exchange of successes(exchanges, 'revert')) {
    const id = idIn(exchange, 'partnerRevertId');
    const redemption = redemptionOf(exchange);
    if (id === undefined) continue;
    const before = reverts.get(id);
    reverts.set(id, before ?? redemption);
    if (transactions.has(id)) {
      const observed = `partnerRevertId ${id} is the id of a deduction.`;
      faults.push({ check: 'revert-ids-distinct', observed, exchange });
    } else if (before !== undefined && before !== redemption) {
      const observed = `partnerRevertId ${id} was given to two redemptions, ${before} and ${redemption}.`;
      faults.push({ check: 'revert-ids-distinct', observed, exchange });
    }
  }
  return faults;
}

function successes(exchanges: readonly Exchange[], step: 'deduct' | 'revert'): Exchange[] {
  return exchanges.filter(
    (exchange) => exchange.step === step && exchange.reading.kind === 'success',
  );
}

function idIn({ reading }: Exchange, name: string): string | undefined {
  const value = reading.kind === 'success' ? reading.fields[name] : undefined;
  // Anything else is no id; that is said by the check of the fields.
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function redemptionOf({ sent }: Exchange): string {
  const { svcRedemptionId } = JSON.parse(sent.body) as { svcRedemptionId?: unknown };
  return String(svcRedemptionId);
}
