import { readFile } from 'node:fs/promises';
import { isRecord } from '../shape/hex.js';
import { type AbiEventLayout, type AbiField, parseEventLayout } from './abi-event.js';
import { encodeWord } from './encode-word.js';
import { STAKE_EVENT_PRESETS } from './presets.js';
import { parseEntry, type StakeEventEntry } from './stake-event-entry.js';
import { StakeEventsError } from './stake-event-error.js';
import { type FieldCondition, type FieldSlot, type StakeEventSpec } from './stake-event.js';

/**
 * The setting STAKE_EVENTS: the name of a preset, or the path of a JSON file.
 * @throws StakeEventsError saying which entry is wrong and why
 */
export async function loadStakeEvents(setting: string): Promise<StakeEventSpec[]> {
  if (Object.hasOwn(STAKE_EVENT_PRESETS, setting)) return parseStakeEvents(setting);
  let text: string;
  try {
    text = await readFile(setting, 'utf8');
  } catch (error) {
    const presets = Object.keys(STAKE_EVENT_PRESETS).join(', ');
    const reason =
      isRecord(error) && typeof error['code'] === 'string' ? error['code'] : 'unreadable';
    throw new StakeEventsError(
      'STAKE_EVENTS',
      `"${setting}" is neither a preset (${presets}) nor a file that can be read (${reason})`,
    );
  }
  return parseStakeEvents(text);
}

/**
 * @param text the name of a preset, or a JSON list of entries
 * @throws StakeEventsError saying which entry is wrong and why
 */
export function parseStakeEvents(text: string): StakeEventSpec[] {
  const preset = Object.hasOwn(STAKE_EVENT_PRESETS, text) ? STAKE_EVENT_PRESETS[text] : undefined;
  const entries = preset ?? parseEntries(text);
  const specs = entries.map((entry, index) => specOf(entry, `STAKE_EVENTS[${index}]`));
  refuseDoubles(specs);
  return specs;
}

function parseEntries(text: string): StakeEventEntry[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StakeEventsError('STAKE_EVENTS', `is not JSON: ${error.message}`);
  }
  if (!Array.isArray(list) || list.length === 0) {
    throw new StakeEventsError('STAKE_EVENTS', 'must be a JSON list with at least one event');
  }
  return list.map((entry: unknown, index) => parseEntry(entry, `STAKE_EVENTS[${index}]`));
}

function specOf(entry: StakeEventEntry, where: string): StakeEventSpec {
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
    amount: slotOf(layout, entry.amount, { where, must: /^uint\d+$/, kind: 'an unsigned integer' }),
    where: Object.entries(entry.where ?? {}).map(([name, value]) =>
      conditionOf(layout, name, { value, where }),
    ),
  };
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

/** The same effect of the same event twice would count it twice, unless their conditions exclude each other. */
function refuseDoubles(specs: readonly StakeEventSpec[]): void {
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
