/** Converts an entry of STAKE_EVENTS into the form that the decoder works with. */
import { encodeWord, objectWith, StakeEventsError, textOf, valuesOf } from './abi-notation.js';
import {
  type AbiField,
  type AmountSlot,
  type FieldCondition,
  type FieldSlot,
  parseEventLayout,
  type StakeEffect,
  type StakeEventSpec,
} from './stake-event.js';

/** @throws StakeEventsError */
export function eventSpecOf(entry: StakeEventEntry, where: string): StakeEventSpec {
  const { signature, topic0, topics, dataWords, fields } = parseEventLayout(entry.event, where);
  const of = new EventFields(signature, fields, where);
  return {
    signature,
    topic0,
    topics,
    dataWords,
    effect: entry.effect,
    account: of.address(entry.account),
    ...(entry.receiver !== undefined && { receiver: of.address(entry.receiver) }),
    amount: of.amount(entry.amount),
    where: entry.where.map(([name, value]) => of.condition(name, value)),
  };
}

/** The fields of one event, by the names in an entry. Each method throws StakeEventsError. */
class EventFields {
  constructor(
    private readonly signature: string,
    private readonly fields: readonly AbiField[],
    private readonly where: string,
  ) {}

  address(name: string): FieldSlot {
    return this.slot(name, /^address$/, 'an address');
  }

  amount(amount: string): AmountSlot {
    if (!/^-?\d/.test(amount)) return this.slot(amount, /^uint\d+$/, 'an unsigned integer');
    const word = encodeWord('uint256', amount);
    if (word !== undefined && BigInt(amount) > 0n) return { in: 'constant', word };
    throw this.fault(`amount ${amount} must be a field, or a whole number from 1`);
  }

  condition(name: string, value: string): FieldCondition {
    const { slot, type } = this.field(name);
    if (!slot) throw this.mismatch(name, `${type}, on which "where" cannot filter`);
    const word = encodeWord(type, value);
    if (word !== undefined) return { slot, word };
    throw this.fault(`"where.${name}": "${value}" is not a value of ${type}`);
  }

  private slot(name: string, must: RegExp, kind: string): FieldSlot {
    const { slot, type } = this.field(name);
    if (must.test(type) && slot) return slot;
    throw this.mismatch(name, `${type}, not ${kind}`);
  }

  private field(name: string): AbiField {
    const found = this.fields.filter((field) => field.name === name);
    if (found.length === 1 && found[0]) return found[0];
    const names = this.fields.map((field) => field.name || '(unnamed)').join(', ');
    throw this.fault(
      `${this.signature} has ${found.length === 0 ? 'no' : 'more than one'} field "${name}"; its fields: ${names}`,
    );
  }

  private mismatch(name: string, reason: string): StakeEventsError {
    return this.fault(`field "${name}" of ${this.signature} is ${reason}`);
  }

  private fault(reason: string): StakeEventsError {
    return new StakeEventsError(this.where, reason);
  }
}

/**
 * Refuses entries that would count the same effect of the same event twice, unless their conditions exclude each other.
 * @throws StakeEventsError
 */
export function refuseDoubles(specs: readonly StakeEventSpec[]): void {
  for (const [index, spec] of specs.entries()) {
    const earlier = specs.slice(0, index).findIndex((other) => isDouble(spec, other));
    if (earlier >= 0) {
      throw new StakeEventsError(
        `STAKE_EVENTS[${index}]`,
        `counts ${spec.signature} a second time, after STAKE_EVENTS[${earlier}]`,
      );
    }
  }
}

function isDouble(one: StakeEventSpec, other: StakeEventSpec): boolean {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  return (
    one.topic0 === other.topic0 &&
    one.topics === other.topics &&
    one.effect === other.effect &&
    same(one.account, other.account) &&
    same(one.amount, other.amount) &&
    !one.where.some((a) => other.where.some((b) => same(a.slot, b.slot) && a.word !== b.word))
  );
}

interface StakeEventEntry {
  /** `event Name(type [indexed] field, …)` */
  readonly event: string;
  /** The field of the wallet whose stake changes; for a transfer, that of the sender (by default `from`). */
  readonly account: string;
  /** For a transfer, the field of the receiver (by default `to`). */
  readonly receiver?: string;
  /** A field; or a number that every event counts for: `1` where each event is about one token. */
  readonly amount: string;
  readonly effect: StakeEffect;
  /** Field names, each with the value that the event must have to count. */
  readonly where: readonly (readonly [field: string, value: string])[];
}

const FIELDS = ['event', 'account', 'from', 'to', 'amount', 'effect', 'where'];
const EFFECTS: readonly string[] = ['increase', 'decrease', 'transfer'] satisfies StakeEffect[];

/** Checks the form of one entry; whether its fields exist is checked against the event. @throws StakeEventsError */
export function parseEntry(json: unknown, where: string): StakeEventEntry {
  const value = objectWith(FIELDS, json, where);
  const text = (key: string): string => textOf(value, key, where);
  const effect = text('effect');
  if (!EFFECTS.includes(effect)) {
    throw new StakeEventsError(
      where,
      `effect must be one of ${EFFECTS.join(', ')}, not "${effect}"`,
    );
  }
  const entry = {
    event: text('event'),
    amount: text('amount'),
    effect: effect as StakeEffect,
    where: valuesOf(value, 'where', where),
  };
  if (effect !== 'transfer') {
    if (value['from'] !== undefined || value['to'] !== undefined) {
      throw new StakeEventsError(where, `"from" and "to" belong to effect "transfer" only`);
    }
    return { ...entry, account: text('account') };
  }
  if (value['account'] !== undefined && value['from'] !== undefined) {
    throw new StakeEventsError(where, 'has both "account" and "from", which mean the same');
  }
  const giver = value['from'] === undefined ? 'account' : 'from';
  return {
    ...entry,
    account: value[giver] === undefined ? 'from' : text(giver),
    receiver: value['to'] === undefined ? 'to' : text('to'),
  };
}
