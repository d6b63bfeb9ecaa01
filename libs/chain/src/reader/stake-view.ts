/** A view of a stake contract that tells a figure: its calldata for a wallet, and the figure in its answer. */
import type { AbiParameter } from 'viem';
import { parseAbiItem, toFunctionSelector } from 'viem/utils';
import { type Address, parseAddress } from '#libs/domain';
import { encodeWord } from '../events/abi-event.js';
import { isRecord } from '../shape/hex.js';
import { parseNotation, StakeViewError, type ViewNotation } from './view-notation.js';
import { ViewOutput } from './view-output.js';

export type FigureKind = 'total' | 'balance';

interface FunctionItem {
  readonly name: string;
  readonly inputs: readonly AbiParameter[];
  readonly outputs: readonly AbiParameter[];
}

export class StakeView {
  /** `userInfo(uint256,address)` */
  readonly signature: string;
  /** Where it is not to be asked of every contract of STAKE_CONTRACT. */
  readonly contract: Address | undefined;
  /** The calldata before and after the wallet's word, hex. */
  private readonly head: `0x${string}`;
  private readonly tail: string;
  private readonly takesWallet: boolean;
  private readonly output: ViewOutput;

  /** @throws StakeViewError */
  constructor(notation: ViewNotation, kind: FigureKind) {
    const { where } = notation;
    const { name, inputs, outputs } = parseFunction(notation);
    this.signature = `${name}(${inputs.map(({ type }) => type).join(',')})`;
    const words = constantWords(notation, name, inputs);
    const open = inputs.flatMap((_, index) => (words.has(index) ? [] : [index]));
    requireWallet(open, { where, kind, name, inputs });
    const [wallet = inputs.length] = open;
    const encoded = inputs.map((_, index) => words.get(index) ?? '');
    this.head = `${toFunctionSelector(this.signature)}${encoded.slice(0, wallet).join('')}`;
    this.tail = encoded.slice(wallet + 1).join('');
    this.takesWallet = open.length === 1;
    this.output = new ViewOutput(outputs, notation.output, where);
    this.contract = contractOf(notation);
  }

  /** @param wallet is not looked at for a total */
  calldata(wallet: Address): `0x${string}` {
    return `${this.head}${this.takesWallet ? wallet.slice(2).padStart(64, '0') : ''}${this.tail}`;
  }

  /** @returns the figure, or what came in place of it */
  valueIn(data: `0x${string}`): bigint | string {
    return this.output.valueIn(data);
  }
}

/**
 * The views whose figures add up to the total, or to a wallet's balance.
 * @param setting one line, an object, or a list of both; `none` gives none
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
    // The library's message has several lines, its own version among them; the first two say what is wrong.
    const reason = error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : '';
    throw new StakeViewError(where, `"${text}" is not a function signature: ${reason}`);
  }
  if (!isRecord(item) || item['type'] !== 'function') {
    throw new StakeViewError(where, `"${text}" is not a function`);
  }
  return item as unknown as FunctionItem;
}

/** The 32-byte words of the parameters that have a constant, by position. */
function constantWords(
  { arguments: constants, where }: ViewNotation,
  name: string,
  inputs: readonly AbiParameter[],
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

/** Exactly one address is left open for a balance, and nothing for a total. */
function requireWallet(
  open: readonly number[],
  context: {
    readonly where: string;
    readonly kind: FigureKind;
    readonly name: string;
    readonly inputs: readonly AbiParameter[];
  },
): void {
  const { where, kind, name, inputs } = context;
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
