/**
 * A view of a stake contract that reports a figure: encodes its calldata for a wallet, and reads the figure from its
 * answer.
 */
import { type AbiParameter } from 'viem';
import { decodeAbiParameters, parseAbiItem, toFunctionSelector } from 'viem/utils';
import { type Address, parseAddress } from '#libs/domain';
import { encodeWord, headWords } from '../events/stake-event.js';
import { type Hex, isRecord } from '../shape/hex.js';
import { parseNotation, StakeViewError, type ViewNotation } from './view-notation.js';

export type FigureKind = 'total' | 'balance';

interface FunctionItem {
  readonly name: string;
  readonly inputs: readonly AbiParameter[];
  readonly outputs: readonly AbiParameter[];
}

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

  /** @throws StakeViewError */
  constructor(notation: ViewNotation, kind: FigureKind) {
    const { where } = notation;
    const item = parseFunction(notation);
    const { name, inputs, outputs } = item;
    this.signature = `${name}(${inputs.map(({ type }) => type).join(',')})`;
    const words = constantWords(notation, item);
    const open = inputs.flatMap((_, index) => (words.has(index) ? [] : [index]));
    requireWallet(open, kind, item, where);
    const [wallet = inputs.length] = open;
    const encoded = inputs.map((_, index) => words.get(index) ?? '');
    this.head = `${toFunctionSelector(this.signature)}${encoded.slice(0, wallet).join('')}`;
    this.tail = encoded.slice(wallet + 1).join('');
    this.takesWallet = open.length === 1;
    this.valueIn = figureReader(outputs, notation.output, where);
    this.contract = contractOf(notation);
  }

  /** @param wallet ignored for a total */
  calldata(wallet: Address): Hex {
    return `${this.head}${this.takesWallet ? wallet.slice(2).padStart(64, '0') : ''}${this.tail}`;
  }
}

/**
 * Parses the views whose figures add up to the total, or to a wallet's balance.
 * @param setting one line, an object, or a list of both; `none` gives no view
 * @param where the name of the setting, for errors
 * @throws StakeViewError saying which part is wrong and what to do
 */
export function parseStakeViews(
  setting: unknown,
  where: string,
  kind: FigureKind,
): readonly StakeView[] {
  return parseNotation(setting, where).map((notation) => new StakeView(notation, kind));
}

function parseFunction({ function: text, where }: ViewNotation): FunctionItem {
  let item: unknown;
  try {
    item = parseAbiItem(text as 'function f()');
  } catch (error) {
    // The library's message has several lines, its own version among them; the first two give the reason.
    const reason = error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : '';
    throw new StakeViewError(where, `"${text}" is not a function signature: ${reason}`);
  }
  if (!isRecord(item) || item['type'] !== 'function') {
    throw new StakeViewError(where, `"${text}" is not a function`);
  }
  return item as unknown as FunctionItem;
}

/** The 32-byte words of the parameters with a constant, by position. */
function constantWords(
  { arguments: constants, where }: ViewNotation,
  { name, inputs }: FunctionItem,
): Map<number, string> {
  const words = new Map<number, string>();
  for (const [key, value] of Object.entries(constants)) {
    const at = inputs.flatMap((input, index) =>
      input.name === key || String(index) === key ? [index] : [],
    );
    const [index] = at;
    if (index === undefined || at.length > 1) {
      const names = inputs.map((input, position) => input.name ?? String(position)).join(', ');
      throw new StakeViewError(
        where,
        `${name} has no parameter "${key}"; its parameters: ${names}`,
      );
    }
    const word = encodeWord(inputs[index]?.type ?? '', value);
    if (word === undefined) {
      throw new StakeViewError(
        where,
        `"${value}" of ${name} is not a value of ${describeInput(inputs, index)}`,
      );
    }
    words.set(index, word);
  }
  return words;
}

/** Requires that exactly one address is without a constant for a balance, and no parameter for a total. */
function requireWallet(
  open: readonly number[],
  kind: FigureKind,
  { name, inputs }: FunctionItem,
  where: string,
): void {
  const addresses = open.filter((index) => inputs[index]?.type === 'address');
  const other = open.find((index) => kind === 'total' || inputs[index]?.type !== 'address');
  if (other !== undefined) {
    const what = describeInput(inputs, other);
    const fixed = /^(?:u?int\d+|address|bool|bytes\d+)$/.test(inputs[other]?.type ?? '');
    throw new StakeViewError(
      where,
      fixed
        ? `${name} needs a value for ${what}: write "${what} = <value>"`
        : `${name} takes ${what}, which cannot be given: only numbers, addresses, bool and bytes1 to bytes32 can`,
    );
  }
  if (kind === 'balance' && addresses.length !== 1) {
    throw new StakeViewError(
      where,
      addresses.length === 0
        ? `${name} must take (address): leave one address without a value, it is the wallet’s`
        : `${name} has ${addresses.length} addresses without a value, and only one can be the wallet’s: write "address <name> = 0x…" for the others`,
    );
  }
}

function describeInput(inputs: readonly AbiParameter[], index: number): string {
  const { type = '', name } = inputs[index] ?? {};
  return name === undefined || name === '' ? type : `${type} ${name}`;
}

function contractOf({ contract, where }: ViewNotation): Address | undefined {
  if (contract === undefined) return undefined;
  const address = parseAddress(contract);
  if (address) return address;
  throw new StakeViewError(where, `"${contract}" is not the address of a contract`);
}

const WORD_DIGITS = 64;

/**
 * Makes a reader of one unsigned integer among the outputs of a function.
 * @param path `amount`, `1` or `info.amount`; may be left out where there is one output
 * @returns a function that reads the figure of an answer, or says what is wrong with the answer. Words beyond the
 * declared ones are ignored, because upgraded contracts append outputs
 * @throws StakeViewError
 */
function figureReader(
  outputs: readonly AbiParameter[],
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
  outputs: readonly AbiParameter[],
  names: readonly string[],
  where: string,
): { steps: readonly number[]; type: string } {
  const [name, ...inner] = names;
  const step = name === undefined ? theOnly(outputs, where) : stepOf(outputs, name, where);
  const { type } = outputs[step] as AbiParameter;
  const components = componentsOf(outputs[step]);
  if (components !== undefined && type === 'tuple') {
    const below = choose(components, inner, where);
    return { steps: [step, ...below.steps], type: below.type };
  }
  if (inner.length > 0) {
    throw new StakeViewError(where, `output "${name ?? ''}" is ${type}: nothing lies inside it`);
  }
  if (!/^uint\d+$/.test(type)) {
    throw new StakeViewError(
      where,
      `output ${name === undefined ? step : `"${name}"`} is ${type}, not an unsigned integer`,
    );
  }
  return { steps: [step], type };
}

function theOnly(outputs: readonly AbiParameter[], where: string): number {
  if (outputs.length === 1) return 0;
  if (outputs.length === 0) {
    throw new StakeViewError(where, 'returns nothing: end it with "returns (uint256)"');
  }
  throw new StakeViewError(
    where,
    `has ${outputs.length} outputs: say which is the figure, such as "-> ${nameAt(outputs, 0)}"; they are ${listOf(outputs)}`,
  );
}

function stepOf(outputs: readonly AbiParameter[], name: string, where: string): number {
  if (/^\d+$/.test(name) && Number(name) < outputs.length) return Number(name);
  const found = outputs.flatMap((output, index) => (output.name === name ? [index] : []));
  const [step] = found;
  if (found.length === 1 && step !== undefined) return step;
  throw new StakeViewError(
    where,
    `has ${found.length === 0 ? 'no' : 'more than one'} output "${name}"; its outputs: ${listOf(outputs)}`,
  );
}

function listOf(outputs: readonly AbiParameter[]): string {
  return outputs.map(({ type }, index) => `${nameAt(outputs, index)} (${type})`).join(', ');
}

function nameAt(outputs: readonly AbiParameter[], index: number): string {
  const name = outputs[index]?.name;
  return name === undefined || name === '' ? String(index) : name;
}

function componentsOf(parameter: unknown): readonly AbiParameter[] | undefined {
  const components = isRecord(parameter) ? parameter['components'] : undefined;
  return Array.isArray(components) ? (components as readonly AbiParameter[]) : undefined;
}

/** @param steps path to the chosen output; undefined where it is not inside this parameter */
function unnamed(parameter: AbiParameter, steps: readonly number[] | undefined): AbiParameter {
  const components = componentsOf(parameter);
  if (components === undefined) {
    return { type: steps === undefined ? parameter.type : 'uint256' };
  }
  return {
    type: parameter.type,
    components: components.map((inner, index) =>
      unnamed(inner, steps?.[0] === index ? steps.slice(1) : undefined),
    ),
  };
}
