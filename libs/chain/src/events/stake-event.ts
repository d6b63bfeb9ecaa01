/** The only file that parses human-readable event signatures. */
import { parseAbiItem, toEventSelector } from 'viem/utils';
import { PermanentError } from '#libs/domain';
import { isRecord } from '../shape/hex.js';

export interface AbiField {
  readonly name: string;
  /** The canonical type: `uint256` for `uint`. */
  readonly type: string;
  /** Undefined where the log holds only a hash or an offset of the value. */
  readonly slot: FieldSlot | undefined;
}

interface AbiEventLayout {
  readonly signature: string;
  readonly topic0: string;
  readonly topics: number;
  readonly dataWords: number;
  readonly fields: readonly AbiField[];
}

interface Parameter {
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
    // The library's message has several lines, its own version among them; the first two give the reason.
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

/**
 * Words of a field in the head of the data; a dynamic field takes one word, its offset (Contract ABI specification).
 */
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

/**
 * Encodes one static ABI value as its 32-byte word.
 * @param type canonical: `uint256`, `int64`, `address`, `bool`, `bytes32`
 * @returns 64 lower-case hex digits, or undefined where the text is not a value of the type
 */
export function encodeWord(type: string, text: string): string | undefined {
  const integer = /^(u?)int(\d+)$/.exec(type);
  if (integer) return encodeInteger(text, Number(integer[2]), integer[1] === '');
  if (type === 'address') {
    return /^0x[0-9a-f]{40}$/i.test(text)
      ? text.slice(2).toLowerCase().padStart(64, '0')
      : undefined;
  }
  if (type === 'bool') {
    if (text !== 'true' && text !== 'false') return undefined;
    return (text === 'true' ? '1' : '0').padStart(64, '0');
  }
  const size = Number(/^bytes(\d+)$/.exec(type)?.[1]);
  return new RegExp(`^0x[0-9a-f]{${size * 2}}$`, 'i').test(text)
    ? text.slice(2).toLowerCase().padEnd(64, '0')
    : undefined;
}

function encodeInteger(text: string, bits: number, signed: boolean): string | undefined {
  if (!/^-?\d{1,78}$/.test(text) && !/^0x[0-9a-f]{1,64}$/i.test(text)) return undefined;
  const value = BigInt(text);
  const limit = 1n << BigInt(signed ? bits - 1 : bits);
  if (value >= limit || value < (signed ? -limit : 0n)) return undefined;
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0');
}

export type StakeEffect = 'increase' | 'decrease' | 'transfer';

/** The place of a field in an event: the topic of this index (1 to 3), or this 32-byte word of the data. */
export type FieldSlot =
  { readonly in: 'topic'; readonly index: number } | { readonly in: 'data'; readonly word: number };

/** A field, or the same amount for every event: 64 lower-case hex digits. */
export type AmountSlot = FieldSlot | { readonly in: 'constant'; readonly word: string };

/** The event counts only where the field holds `word`: 64 lower-case hex digits. */
export interface FieldCondition {
  readonly slot: FieldSlot;
  readonly word: string;
}

/**
 * The meaning of an event of a stake contract, in the form that the decoder works with. Plain data, because it is part
 * of the settings' fingerprint.
 */
export interface StakeEventSpec {
  /** The name with the types only, as hashed: `Staked(address,uint256)`. */
  readonly signature: string;
  /** keccak256 of the signature, lower case. */
  readonly topic0: string;
  /** Number of topics, including topic0. */
  readonly topics: number;
  /** Number of 32-byte words that the data must hold at least. */
  readonly dataWords: number;
  readonly effect: StakeEffect;
  /** The wallet whose stake changes; for a transfer, the sender. */
  readonly account: FieldSlot;
  /** For a transfer, the receiver. */
  readonly receiver?: FieldSlot;
  readonly amount: AmountSlot;
  readonly where: readonly FieldCondition[];
}

export class StakeEventsError extends PermanentError {
  constructor(where: string, reason: string) {
    super('STAKE_EVENTS_INVALID', `${where}: ${reason}`);
  }
}
