/** Judges the ids in all answers together: ids that two answers share, and ids that a duplicate names. */
import { transactionIn } from '../run/deduction-ledger.js';
import { type Exchange } from '../wire/exchange.js';

export interface Fault {
  readonly observed: string;
  readonly exchange: Exchange;
}

/** Ids that two redemptions have in common, and ids of reverts that are also ids of deductions. */
export function idClashes(
  exchanges: readonly Exchange[],
  step: 'deduct' | 'revert',
  name: 'partnerTransactionId' | 'partnerRevertId',
): Fault[] {
  const deductions = successes(step === 'revert' ? exchanges : [], 'deduct');
  const ofDeductions = deductions.map((exchange) => idIn(exchange, 'partnerTransactionId'));
  const owners = new Map<string, string>();
  return successes(exchanges, step).flatMap((exchange): Fault[] => {
    const id = idIn(exchange, name);
    if (id === undefined) return [];
    const redemption = redemptionOf(exchange);
    const owner = owners.get(id) ?? redemption;
    owners.set(id, owner);
    if (ofDeductions.includes(id)) {
      return [{ observed: `${name} ${id} is the id of a deduction.`, exchange }];
    }
    const observed = `${name} ${id} was given to two redemptions, ${owner} and ${redemption}.`;
    return owner === redemption ? [] : [{ observed, exchange }];
  });
}

/** Refused deductions that name a transaction id which no success of the same redemption had. */
export function wronglyNamed(exchanges: readonly Exchange[]): Fault[] {
  const deductions = new Map<string, Exchange[]>();
  for (const exchange of exchanges) {
    if (exchange.step !== 'deduct') continue;
    const redemption = redemptionOf(exchange);
    deductions.set(redemption, [...(deductions.get(redemption) ?? []), exchange]);
  }
  return [...deductions.values()].flatMap((ofOne) => {
    const succeeded = successes(ofOne, 'deduct');
    const given = succeeded.map(transactionIn).filter((id) => id !== '');
    // There is no id to compare with: it was in a lost answer, or it is missing, which another check reports.
    const isAllRead = ofOne.every(({ reading }) => reading.kind !== 'unreadable');
    if (given.length === 0 && (succeeded.length > 0 || !isAllRead)) return [];
    const known = given[0] === undefined ? 'No deduction was made' : `The deduction is ${given[0]}`;
    return ofOne.flatMap((exchange): Fault[] => {
      const named = transactionIn(exchange);
      if (exchange.reading.kind !== 'refusal' || named === '' || given.includes(named)) return [];
      const observed = `The answer (${exchange.purpose}) names ${named}. ${known}.`;
      return [{ observed, exchange }];
    });
  });
}

function successes(exchanges: readonly Exchange[], step: 'deduct' | 'revert'): Exchange[] {
  return exchanges.filter(
    (exchange) => exchange.step === step && exchange.reading.kind === 'success',
  );
}

function idIn({ reading }: Exchange, name: string): string | undefined {
  const value = reading.kind === 'success' ? reading.fields[name] : undefined;
  // Any other value is no id, which the check of the fields reports.
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function redemptionOf({ sent }: Exchange): string {
  const { svcRedemptionId } = JSON.parse(sent.body) as { svcRedemptionId?: unknown };
  return String(svcRedemptionId);
}
