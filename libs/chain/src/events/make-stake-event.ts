/** From an entry of STAKE_EVENTS to what the decoder looks for. */
import { type AbiEventLayout, type AbiField, parseEventLayout } from './abi-event.js';
import { encodeWord } from './encode-word.js';
import { type StakeEventEntry } from './stake-event-entry.js';
import { StakeEventsError } from './stake-event-error.js';
import {
  type AmountSlot,
  type FieldCondition,
  type FieldSlot,
  type StakeEventSpec,
} from './stake-event.js';

/** The form that the decoder works with. @throws StakeEventsError */
export function eventSpecOf(entry: StakeEventEntry, where: string): StakeEventSpec {
  const layout = parseEventLayout(entry.event, where);
  const receiver = entry.receiver;
  return {
    signature: layout.signature,
    topic0: layout.topic0,
    topics: layout.topics,
    dataWords: layout.dataWords,
    effect: entry.effect,
    account: slotOf(layout, entry.account, { where, must: /^address$/, kind: 'an address' }),
    ...(receiver === undefined
      ? {}
      : { receiver: slotOf(layout, receiver, { where, must: /^address$/, kind: 'an address' }) }),
    amount: amountOf(layout, entry.amount, where),
    where: Object.entries(entry.where ?? {}).map(([name, value]) =>
      conditionOf(layout, name, { value, where }),
    ),
  };
}

function amountOf(layout: AbiEventLayout, amount: string, where: string): AmountSlot {
  if (!/^-?\d/.test(amount)) {
    return slotOf(layout, amount, { where, must: /^uint\d+$/, kind: 'an unsigned integer' });
  }
  const word = encodeWord('uint256', amount);
  if (word !== undefined && BigInt(amount) > 0n) return { in: 'constant', word };
  throw new StakeEventsError(where, `amount ${amount} must be a field, or a whole number from 1`);
}

function slotOf(
  layout: AbiEventLayout,
  name: string,
  wanted: { readonly where: string; readonly must: RegExp; readonly kind: string },
): FieldSlot {
  const field = fieldOf(layout, name, wanted.where);
  if (!wanted.must.test(field.type) || !field.slot) {
    throw new StakeEventsError(
      wanted.where,
      `field "${name}" of ${layout.signature} is ${field.type}, not ${wanted.kind}`,
    );
  }
  return field.slot;
}

function conditionOf(
  layout: AbiEventLayout,
  name: string,
  { value, where }: { readonly value: string; readonly where: string },
): FieldCondition {
  const field = fieldOf(layout, name, where);
  if (!field.slot) {
    throw new StakeEventsError(
      where,
      `field "${name}" of ${layout.signature} is ${field.type}, on which "where" cannot filter`,
    );
  }
  const word = encodeWord(field.type, value);
  if (word === undefined) {
    throw new StakeEventsError(
      where,
      `"where.${name}": "${value}" is not a value of ${field.type}`,
    );
  }
  return { slot: field.slot, word };
}

function fieldOf(layout: AbiEventLayout, name: string, where: string): AbiField {
  const found = layout.fields.filter((field) => field.name === name);
  if (found.length === 1 && found[0]) return found[0];
  const names = layout.fields.map((field) => field.name || '(unnamed)').join(', ');
  throw new StakeEventsError(
    where,
    `${layout.signature} has ${found.length === 0 ? 'no' : 'more than one'} field "${name}"; its fields: ${names}`,
  );
}

/** The same effect of the same event twice would count it twice, unless their conditions exclude each other. @throws StakeEventsError */
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
