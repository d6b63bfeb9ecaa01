/**
 * A view of a stake contract that reports a figure: encodes its calldata for a wallet, and reads the figure from its
 * answer.
 */
import { type AbiParameter } from 'viem';
import { decodeAbiParameters, toFunctionSelector } from 'viem/utils';
import { type Address, parseAddress } from '#libs/domain';
import {
  encodeWord,
  headWords,
  isValue,
  objectWith,
  type Parameter,
  parseItem,
  StakeEventsError,
  textOf,
  valuesOf,
} from './abi-notation.js';
import { type Hex } from '../rpc/hex.js';

export type FigureKind = 'total' | 'balance';

/** A view as STAKE_EVENTS has it. docs/operating/contracts.md describes the fields. */
export interface ViewEntry {
  readonly function: string;
  readonly arguments?: Readonly<Record<string, string | number | boolean>>;
  readonly output?: string | number;
  readonly contract?: string;
}

const KEYS = ['function', 'arguments', 'output', 'contract'];

export class StakeView {
  /** For example `userInfo(uint256,address)`. */
  readonly signature: string;
  /** The contract to call; undefined: every contract of STAKE_CONTRACT. */
  readonly contract: Address | undefined;
  /** Calldata before and after the wallet's word, hex. */
  private readonly head: Hex;
  private readonly tail: string;
  private readonly takesWallet: boolean;
  /** @returns the figure in an answer, or a description of the answer where it has none */
  readonly valueIn: (data: Hex) => bigint | string;

  /** @throws StakeEventsError */
  constructor(json: unknown, where: string, kind: FigureKind) {
    const entry = objectWith(KEYS, json, where);
    const optional = (key: string): string | undefined =>
      entry[key] === undefined ? undefined : textOf(entry, key, where);
    const {
      name,
      signature,
      inputs,
      outputs = [],
    } = parseItem(textOf(entry, 'function', where), 'function', where);
    const words = argumentWords(valuesOf(entry, 'arguments', where), { name, inputs, where });
    const open = inputs.flatMap((_, index) => (words.has(index) ? [] : [index]));
    requireWallet(open, kind, { name, inputs, where });
    const [wallet = inputs.length] = open;
    const encoded = inputs.map((_, index) => words.get(index) ?? '');
    this.signature = signature;
    this.head = `${toFunctionSelector(signature)}${encoded.slice(0, wallet).join('')}`;
    this.tail = encoded.slice(wallet + 1).join('');
    this.takesWallet = open.length === 1;
    this.valueIn = figureReader(outputs, optional('output'), where);
    this.contract = addressOf(optional('contract'), where);
  }

  /** @param wallet ignored for a total */
  calldata(wallet: Address): Hex {
    return `${this.head}${this.takesWallet ? wallet.slice(2).padStart(64, '0') : ''}${this.tail}`;
  }
}

/**
 * Parses the views whose figures add up to the total, or to a wallet's balance.
 * @param json an object, or a list of objects; an empty list gives no view
 * @throws StakeEventsError saying which part is wrong and what to do
 */
export function parseStakeViews(
  json: unknown,
  where: string,
  kind: FigureKind,
): readonly StakeView[] {
  return Array.isArray(json)
    ? json.map((one, index) => new StakeView(one, `${where}[${index}]`, kind))
    : [new StakeView(json, where, kind)];
}

interface Inputs {
  readonly name: string;
  readonly inputs: readonly Parameter[];
  readonly where: string;
}

/** The 32-byte words of the parameters that have a value, by position. */
function argumentWords(
  values: readonly (readonly [name: string, text: string])[],
  { name, inputs, where }: Inputs,
): Map<number, string> {
  return new Map(
    values.map(([key, value]) => {
      const [index, ...more] = placesOf(inputs, key);
      if (index === undefined || more.length > 0) {
        throw new StakeEventsError(
          where,
          `${name} has no parameter "${key}"; its parameters: ${listOf(inputs)}`,
        );
      }
      const { type = '' } = inputs[index] ?? {};
      const word = encodeWord(type, value);
      if (word !== undefined) return [index, word];
      throw new StakeEventsError(where, `"arguments.${key}": "${value}" is not a value of ${type}`);
    }),
  );
}

/** Requires that exactly one address is left open for a balance, and no parameter for a total. */
function requireWallet(
  open: readonly number[],
  kind: FigureKind,
  { name, inputs, where }: Inputs,
): void {
  const other = open.find((index) => kind === 'total' || inputs[index]?.type !== 'address');
  if (other !== undefined) {
    const { type = '' } = inputs[other] ?? {};
    throw new StakeEventsError(
      where,
      isValue(type)
        ? `${name} needs a value for ${nameAt(inputs, other)} (${type}) in "arguments"`
        : `${name} takes ${type}, which cannot be given: only numbers, addresses, bool and bytes1 to bytes32 can`,
    );
  }
  if (kind === 'total' || open.length === 1) return;
  throw new StakeEventsError(
    where,
    `${name} has ${open.length} addresses without a value in "arguments", and needs exactly one, the wallet’s`,
  );
}

function addressOf(contract: string | undefined, where: string): Address | undefined {
  if (contract === undefined) return undefined;
  const address = parseAddress(contract);
  if (address) return address;
  throw new StakeEventsError(where, `"${contract}" is not the address of a contract`);
}

const WORD_DIGITS = 64;

/**
 * Makes a reader of one unsigned integer among the outputs of a function.
 * @param path `amount`, `1` or `info.amount`; may be left out where there is one output
 * @returns a function that reads the figure of an answer, or says what is wrong with the answer. Words beyond the
 * declared ones are ignored, because upgraded contracts append outputs
 * @throws StakeEventsError
 */
function figureReader(
  outputs: readonly Parameter[],
  path: string | undefined,
  where: string,
): (data: Hex) => bigint | string {
  const { steps, type } = choose(outputs, path?.split('.') ?? [], where);
  const bits = Number(type.slice('uint'.length));
  // Without names, tuples decode to lists. The chosen output is decoded as uint256, so that its range can be checked.
  const types = outputs.map((output, index) =>
    unnamed(output, steps[0] === index ? steps.slice(1) : undefined),
  );
  const words = outputs.reduce((sum, output) => sum + headWords(output), 0);
  return (data) => {
    const bytes = data.length / 2 - 1;
    if (data.length < 2 + words * WORD_DIGITS) {
      return `${bytes} bytes, where the declared outputs take at least ${words * 32}`;
    }
    let value: unknown;
    try {
      value = decodeAbiParameters(types, data);
    } catch {
      return `${bytes} bytes that are not the declared outputs`;
    }
    for (const step of steps) value = (value as readonly unknown[])[step];
    if (typeof value !== 'bigint') return `${bytes} bytes that are not the declared outputs`;
    return value >> BigInt(bits) === 0n ? value : `a number beyond uint${bits}`;
  };
}

/** @returns the path to the output as positions, and its type, such as `uint128` */
function choose(
  outputs: readonly Parameter[],
  [name, ...inner]: readonly string[],
  where: string,
): { steps: readonly number[]; type: string } {
  const [step, ...more] = name === undefined ? outputs.keys() : placesOf(outputs, name);
  const output = step === undefined ? undefined : outputs[step];
  if (step === undefined || output === undefined || more.length > 0) {
    const found =
      name === undefined
        ? `has ${outputs.length} outputs, and "output" must name the figure`
        : `has no output "${name}", or more than one`;
    throw new StakeEventsError(where, `${found}; its outputs: ${listOf(outputs)}`);
  }
  const { type, components } = output;
  if (type === 'tuple' && components !== undefined) {
    const below = choose(components, inner, where);
    return { steps: [step, ...below.steps], type: below.type };
  }
  if (/^uint\d+$/.test(type) && inner.length === 0) return { steps: [step], type };
  throw new StakeEventsError(
    where,
    `output "${[name ?? step, ...inner].join('.')}" is ${inner.length > 0 ? `inside ${type}` : type}, not an unsigned integer`,
  );
}

/** The places of the parameters with this name or position. */
function placesOf(parameters: readonly Parameter[], key: string): number[] {
  return [...parameters.keys()].filter(
    (index) => parameters[index]?.name === key || String(index) === key,
  );
}

function listOf(parameters: readonly Parameter[]): string {
  return parameters.map(({ type }, index) => `${nameAt(parameters, index)} (${type})`).join(', ');
}

function nameAt(parameters: readonly Parameter[], index: number): string {
  return parameters[index]?.name ?? String(index);
}

/** @param steps path to the chosen output; undefined where it is not inside this parameter */
function unnamed(
  { type, components }: Parameter,
  steps: readonly number[] | undefined,
): AbiParameter {
  if (components === undefined) return { type: steps === undefined ? type : 'uint256' };
  return {
    type,
    components: components.map((inner, index) =>
      unnamed(inner, steps?.[0] === index ? steps.slice(1) : undefined),
    ),
  };
}
