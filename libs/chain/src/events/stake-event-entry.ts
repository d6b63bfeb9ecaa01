import { isRecord } from '../shape/hex.js';
import { StakeEventsError } from './stake-event-error.js';
import { type StakeEffect } from './stake-event.js';

/** One entry of STAKE_EVENTS as an operator writes it. */
export interface StakeEventEntry {
  /** `event Name(type [indexed] field, …)` */
  readonly event: string;
  /** The field whose stake changes; for a transfer, the giver's (by default `from`). */
  readonly account: string;
  /** For a transfer, the receiver's field (by default `to`). */
  readonly receiver?: string;
  /** A field; or a number that every such event counts for, `1` where each is of one token. */
  readonly amount: string;
  readonly effect: StakeEffect;
  /** Field names with the value that the event must have to count. */
  readonly where?: Readonly<Record<string, string>>;
}

const FIELDS = new Set(['event', 'account', 'from', 'to', 'amount', 'effect', 'where']);
const EFFECTS: readonly string[] = ['increase', 'decrease', 'transfer'] satisfies StakeEffect[];

/** Checks the form of one entry; whether its fields exist is checked against the event. @throws StakeEventsError */
export function parseEntry(value: unknown, where: string): StakeEventEntry {
  if (!isRecord(value)) throw new StakeEventsError(where, 'must be an object');
  const unknown = Object.keys(value).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) {
    throw new StakeEventsError(
      where,
      `has an unknown key "${unknown}"; known: ${[...FIELDS].join(', ')}`,
    );
  }
  const effect = text(value, 'effect', where);
  if (!EFFECTS.includes(effect)) {
    throw new StakeEventsError(
      where,
      `effect must be one of ${EFFECTS.join(', ')}, not "${effect}"`,
    );
  }
  const entry = {
    event: text(value, 'event', where),
    amount: amountOf(value, where),
    effect: effect as StakeEffect,
    ...conditions(value['where'], where),
  };
  if (effect !== 'transfer') {
    if (value['from'] !== undefined || value['to'] !== undefined) {
      throw new StakeEventsError(where, `"from" and "to" belong to effect "transfer" only`);
    }
    return { ...entry, account: text(value, 'account', where) };
  }
  if (value['account'] !== undefined && value['from'] !== undefined) {
    throw new StakeEventsError(where, 'has both "account" and "from", which mean the same');
  }
  const giver = value['from'] === undefined ? 'account' : 'from';
  return {
    ...entry,
    account: value[giver] === undefined ? 'from' : text(value, giver, where),
    receiver: value['to'] === undefined ? 'to' : text(value, 'to', where),
  };
}

function amountOf(value: Record<string, unknown>, where: string): string {
  const { amount } = value;
  return Number.isSafeInteger(amount) ? String(amount) : text(value, 'amount', where);
}

function text(value: Record<string, unknown>, key: string, where: string): string {
  const found = value[key];
  if (typeof found !== 'string' || found.trim() === '') {
    throw new StakeEventsError(where, `needs "${key}", a text`);
  }
  return found.trim();
}

function conditions(value: unknown, where: string): { where?: Record<string, string> } {
  if (value === undefined) return {};
  if (!isRecord(value))
    throw new StakeEventsError(where, '"where" must be an object of field names and values');
  const entries = Object.entries(value).map(([field, wanted]): [string, string] => {
    if (typeof wanted === 'string') return [field, wanted.trim()];
    if (typeof wanted === 'boolean' || Number.isSafeInteger(wanted)) return [field, String(wanted)];
    throw new StakeEventsError(
      where,
      `"where.${field}" must be a text, true or false, or a whole number`,
    );
  });
  return { where: Object.fromEntries(entries) };
}
