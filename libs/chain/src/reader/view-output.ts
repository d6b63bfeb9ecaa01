/** Which of a view's outputs is the figure, and how it is read from an answer. */
import type { AbiParameter } from 'viem';
import { decodeAbiParameters } from 'viem/utils';
import { headWords } from '../events/abi-event.js';
import { isRecord } from '../shape/hex.js';
import { StakeViewError } from './view-notation.js';

const WORD_DIGITS = 64;

/** One unsigned integer among the outputs of a function. */
export class ViewOutput {
  /** The outputs without names, so that tuples decode to lists, and the chosen one as uint256, so that its range can be checked. */
  private readonly types: readonly AbiParameter[];
  private readonly steps: readonly number[];
  private readonly bits: number;
  private readonly words: number;

  /**
   * @param path `amount`, `1` or `info.amount`; may be left out where there is one output
   * @throws StakeViewError
   */
  constructor(outputs: readonly AbiParameter[], path: string | undefined, where: string) {
    const names = path?.split('.') ?? [];
    const { steps, type } = choose(outputs, names, where);
    this.steps = steps;
    this.bits = Number(type.slice('uint'.length));
    this.types = outputs.map((output, index) =>
      unnamed(output, steps[0] === index ? steps.slice(1) : undefined),
    );
    this.words = outputs.reduce((sum, output) => sum + headWords(output), 0);
  }

  /** @returns the figure, or what is wrong with the answer. Words beyond the declared ones are ignored: upgraded contracts append outputs */
  valueIn(data: `0x${string}`): bigint | string {
    const bytes = data.length / 2 - 1;
    if (data.length < 2 + this.words * WORD_DIGITS) {
      return `${bytes} bytes, where the declared outputs take at least ${this.words * 32}`;
    }
    let value: unknown;
    try {
      value = decodeAbiParameters(this.types, data);
    } catch {
      return `${bytes} bytes that are not the declared outputs`;
    }
    for (const step of this.steps) value = (value as readonly unknown[])[step];
    if (typeof value !== 'bigint') return `${bytes} bytes that are not the declared outputs`;
    return value >> BigInt(this.bits) === 0n ? value : `a number beyond uint${this.bits}`;
  }
}

interface Choice {
  readonly steps: readonly number[];
  /** `uint128` */
  readonly type: string;
}

function choose(outputs: readonly AbiParameter[], names: readonly string[], where: string): Choice {
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

/** @param steps to the chosen output; undefined where it does not lie in this one */
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
