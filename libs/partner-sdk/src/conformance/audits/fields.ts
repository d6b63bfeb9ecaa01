import { type CheckId } from '../checks/all-checks.js';
import { idText } from '../run/books.js';
import { type Exchange, type Step } from '../wire/exchange.js';
import { text } from '../wire/transport.js';

/** What one answer does wrong. */
export interface Fault {
  readonly check: CheckId;
  readonly observed: string;
  readonly exchange: Exchange;
}

type Rule = readonly [name: string, isRight: (value: unknown) => boolean, expected: string];

/** Control characters and lone surrogates, which not everything can store. */
const UNSPEAKABLE = /[\p{Cc}\p{Cs}]/u;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

const isText =
  (maxLength: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    !UNSPEAKABLE.test(value);

const isPoints = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isAddress = (value: unknown): boolean => typeof value === 'string' && ADDRESS.test(value);

const ID = 'a text of 1 to 255 characters';

const RULES: Readonly<Record<Step, readonly Rule[]>> = {
  balance: [
    ['partnerUserId', isText(255), ID],
    ['address', isAddress, '0x and 40 hex digits'],
    ['points', isPoints, 'a whole number, 0 or more'],
    ['chain', isText(64), 'a text of 1 to 64 characters'],
  ],
  deduct: [['partnerTransactionId', isText(255), ID]],
  revert: [
    ['partnerTransactionId', isText(255), ID],
    ['partnerRevertId', isText(255), ID],
  ],
  confirm: [],
};

/** The fields of a success, by exact type. */
export function judgeFields(exchange: Exchange): Fault[] {
  const { step, reading } = exchange;
  if (reading.kind !== 'success' || step === 'confirm') return [];
  const { fields } = reading;
  return RULES[step].flatMap(([name, isRight, expected]) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (isRight(value)) return [];
    const observed = `${name} is ${text(value)}. Expected: ${expected}.`;
    return [{ check: `${step}-fields`, observed, exchange }];
  });
}

/** Ids that two answers share, reverts that have the id of a transaction, and duplicates that name another deduction. */
export function judgeIds(exchanges: readonly Exchange[]): Fault[] {
  const faults: Fault[] = judgeNamed(exchanges);
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

/** Whatever a duplicate names is an id that a success of its redemption gave. */
function judgeNamed(exchanges: readonly Exchange[]): Fault[] {
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
      return [{ check: 'deduct-repeat-right-id', observed, exchange }];
    });
  });
}

/** Read as kindly as the books read it. */
function transactionIn({ reading }: Exchange): string {
  return reading.kind === 'unreadable' ? '' : idText(reading.fields['partnerTransactionId']);
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
