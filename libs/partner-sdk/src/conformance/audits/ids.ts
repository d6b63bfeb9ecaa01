/** Ids that answers share, and that they name: judged over all of them together. */
import { transactionIn } from '../run/books.js';
import { type Exchange } from '../wire/exchange.js';

/** What one answer does wrong. */
export interface Fault {
  readonly observed: string;
  readonly exchange: Exchange;
}

/** Ids that were given to two redemptions, and of reverts those that are the id of a deduction. */
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

/** Whatever a duplicate names is an id that a success of its redemption gave. */
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
    // Nothing to compare with: the id was in an answer that was lost, or missing, which has a check of its own.
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
  // Anything else is no id; that is said by the check of the fields.
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function redemptionOf({ sent }: Exchange): string {
  const { svcRedemptionId } = JSON.parse(sent.body) as { svcRedemptionId?: unknown };
  return String(svcRedemptionId);
}
