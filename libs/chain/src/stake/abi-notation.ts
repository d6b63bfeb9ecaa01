/**
 * What events and views of a stake description have in common: items of an ABI in the human-readable form, which is the
 * one of the contract's source, and the values of their fields. viem parses and encodes both.
 */
import { type AbiFunction } from 'viem';
import { encodeAbiParameters, parseAbiItem, toFunctionSignature } from 'viem/utils';
import { PermanentError } from '#libs/domain';
import { type Hex, isRecord } from '../rpc/hex.js';

export class StakeEventsError extends PermanentError {
  constructor(where: string, reason: string) {
    super('STAKE_EVENTS_INVALID', `${where}: ${reason}`);
  }
}

export interface Parameter {
  /** The canonical type: `uint256` for `uint`. */
  readonly type: string;
  readonly name?: string | undefined;
  readonly indexed?: boolean;
  readonly components?: readonly Parameter[];
}

interface Item {
  readonly name: string;
  /** The name with the types only, as hashed: `Staked(address,uint256)`. */
  readonly signature: string;
  readonly inputs: readonly Parameter[];
  /** Of a function. */
  readonly outputs?: readonly Parameter[];
}

/** @throws StakeEventsError with the reason */
export function parseItem(text: string, type: 'event' | 'function', where: string): Item {
  if (!text.startsWith(`${type} `)) {
    throw new StakeEventsError(where, `"${text}" must begin with "${type}"`);
  }
  try {
    const item = parseAbiItem(text as 'function f()') as AbiFunction;
    return { ...item, signature: toFunctionSignature(item) };
  } catch (error) {
    // The library's message has several lines, its own version among them; the first two give the reason.
    const reason = error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : '';
    const kind = type === 'event' ? 'an event' : 'a function';
    throw new StakeEventsError(where, `"${text}" is not ${kind} signature: ${reason}`);
  }
}

/** @throws StakeEventsError where the value is no object, or has other keys than these */
export function objectWith(
  keys: readonly string[],
  value: unknown,
  where: string,
): Record<string, unknown> {
  if (!isRecord(value)) throw new StakeEventsError(where, 'must be an object');
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown === undefined) return value;
  throw new StakeEventsError(where, `has an unknown key "${unknown}"; known: ${keys.join(', ')}`);
}

/** @throws StakeEventsError */
export function textOf(value: Record<string, unknown>, key: string, where: string): string {
  const found = value[key];
  if (Number.isSafeInteger(found)) return String(found);
  if (typeof found === 'string' && found.trim() !== '') return found.trim();
  throw new StakeEventsError(where, `needs "${key}", a text`);
}

/** The values that an object has for fields, by name. @throws StakeEventsError */
export function valuesOf(
  value: Record<string, unknown>,
  key: string,
  where: string,
): [name: string, text: string][] {
  const { [key]: found = {} } = value;
  if (!isRecord(found)) {
    throw new StakeEventsError(where, `"${key}" must be an object of field names and values`);
  }
  return Object.entries(found).map(([name, one]) => {
    if (typeof one === 'string') return [name, one.trim()];
    if (typeof one === 'boolean' || Number.isSafeInteger(one)) return [name, String(one)];
    throw new StakeEventsError(
      where,
      `"${key}.${name}" must be a text, true or false, or a whole number`,
    );
  });
}

const FORMS: readonly (readonly [type: RegExp, value: RegExp])[] = [
  [/^u?int\d+$/, /^(?:-?\d+|0x[\da-f]+)$/i],
  [/^bool$/, /^(?:true|false)$/],
  [/^(?:address|bytes\d+)$/, /^0x(?:[\da-f]{2})+$/i],
];

/** Whether a value of this type is one word, which a text can give. */
export function isValue(type: string): boolean {
  return FORMS.some(([types]) => types.test(type));
}

/**
 * Encodes one static ABI value as its 32-byte word.
 * @param type canonical: `uint256`, `int64`, `address`, `bool`, `bytes32`
 * @returns 64 lower-case hex digits, or undefined where the text is not a value of the type
 */
export function encodeWord(type: string, text: string): string | undefined {
  if (!FORMS.some(([types, values]) => types.test(type) && values.test(text))) return undefined;
  const hex = text.toLowerCase() as Hex;
  const value = type === 'bool' ? text === 'true' : /int/.test(type) ? BigInt(hex) : hex;
  try {
    return encodeAbiParameters([{ type }], [value]).slice(2);
  } catch {
    return undefined;
  }
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

function isDynamic({ type, components = [] }: Parameter): boolean {
  return /\[\]|^(?:string|bytes)(?:\[|$)/.test(type) || components.some(isDynamic);
}
