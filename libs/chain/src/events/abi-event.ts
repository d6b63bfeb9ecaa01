/** The only place that reads human-readable event signatures. */
import { parseAbiItem, toEventSelector } from 'viem/utils';
import { isRecord } from '../shape/hex.js';
import { StakeEventsError } from './stake-event-error.js';
import { type FieldSlot } from './stake-event.js';

export interface AbiField {
  readonly name: string;
  /** The canonical type: `uint256` for `uint`. */
  readonly type: string;
  /** Undefined where only a hash or an offset of the value is in the log. */
  readonly slot: FieldSlot | undefined;
}

export interface AbiEventLayout {
  readonly signature: string;
  readonly topic0: string;
  readonly topics: number;
  readonly dataWords: number;
  readonly fields: readonly AbiField[];
}

export interface Parameter {
  readonly type: string;
  readonly name?: string | undefined;
  readonly indexed?: boolean;
  readonly components?: readonly Parameter[];
}

/** @throws StakeEventsError with the reason */
export function parseEventLayout(text: string, where: string): AbiEventLayout {
  const item = parse(text, where);
  const inputs = item.inputs;
  const indexed = inputs.filter((input) => input.indexed);
  if (indexed.length > 3)
    throw new StakeEventsError(where, 'an event has at most three indexed fields');
  let topic = 1;
  let word = 0;
  const fields = inputs.map((input): AbiField => {
    const name = input.name ?? '';
    const words = headWords(input);
    if (input.indexed) {
      const slot: FieldSlot = { in: 'topic', index: topic++ };
      return {
        name,
        type: input.type,
        slot: words === 1 && isValue(input.type) ? slot : undefined,
      };
    }
    const slot: FieldSlot = { in: 'data', word };
    word += words;
    return { name, type: input.type, slot: isValue(input.type) ? slot : undefined };
  });
  const signature = `${item.name}(${inputs.map(canonicalType).join(',')})`;
  return {
    signature,
    topic0: toEventSelector(signature),
    topics: indexed.length + 1,
    dataWords: word,
    fields,
  };
}

function parse(text: string, where: string): { name: string; inputs: readonly Parameter[] } {
  if (!/^event\s/.test(text)) {
    throw new StakeEventsError(where, `"${text}" must begin with "event"`);
  }
  if (/\banonymous\s*;?\s*$/.test(text)) {
    throw new StakeEventsError(where, 'an anonymous event cannot be told from others');
  }
  let item: unknown;
  try {
    item = parseAbiItem(text as 'event E()');
  } catch (error) {
    // The library's message has several lines, its own version among them; the first two say what is wrong.
    const reason = error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : '';
    throw new StakeEventsError(where, `"${text}" is not an event signature: ${reason}`);
  }
  if (!isRecord(item) || item['type'] !== 'event' || typeof item['name'] !== 'string') {
    throw new StakeEventsError(where, `"${text}" is not an event signature`);
  }
  return { name: item['name'], inputs: (item['inputs'] ?? []) as readonly Parameter[] };
}

/** A type whose value is one word in the log itself. */
function isValue(type: string): boolean {
  return /^(?:u?int\d{1,3}|address|bool|bytes\d{1,2})$/.test(type);
}

/** Words that a field takes in the head of the data; a dynamic one takes one, its offset (Contract ABI specification). */
export function headWords(parameter: Parameter): number {
  const array = /^(.*)\[(\d*)\]$/.exec(parameter.type);
  if (array) {
    if (array[2] === '' || isDynamic(parameter)) return 1;
    return Number(array[2]) * headWords({ ...parameter, type: array[1] ?? '' });
  }
  if (parameter.type !== 'tuple' || isDynamic(parameter)) return 1;
  return (parameter.components ?? []).reduce((sum, part) => sum + headWords(part), 0);
}

function isDynamic(parameter: Parameter): boolean {
  if (/\[\]/.test(parameter.type) || parameter.type === 'string' || parameter.type === 'bytes')
    return true;
  const base = parameter.type.replace(/\[\d+\]/g, '');
  if (base === 'string' || base === 'bytes') return true;
  return base === 'tuple' && (parameter.components ?? []).some(isDynamic);
}

function canonicalType(parameter: Parameter): string {
  if (!parameter.type.startsWith('tuple')) return parameter.type;
  const parts = (parameter.components ?? []).map(canonicalType).join(',');
  return `(${parts})${parameter.type.slice('tuple'.length)}`;
}
