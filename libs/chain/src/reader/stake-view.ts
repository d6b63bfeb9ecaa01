import { parseAbiItem, toFunctionSelector } from 'viem/utils';
import { PermanentError } from '#libs/domain';
import { isRecord } from '../shape/hex.js';

/** A view function of a stake contract that answers with one unsigned integer. */
export interface StakeView {
  readonly name: string;
  /** Four bytes, hex. */
  readonly selector: `0x${string}`;
}

export interface StakeViewSettings {
  /** STAKE_TOTAL_VIEW: a function without arguments, or `none`. */
  readonly totalView?: string | undefined;
  /** STAKE_BALANCE_VIEW: a function of one address, or `none`. */
  readonly balanceView?: string | undefined;
}

const TOTALS = [
  'function totalStaked() view returns (uint256)',
  'function totalSupply() view returns (uint256)',
];
const BALANCES = ['function balanceOf(address) view returns (uint256)'];

/** The views to try for the total, in order; empty for `none`. @throws PermanentError with the reason */
export function totalViews({ totalView }: StakeViewSettings): readonly StakeView[] {
  return views(totalView, { variable: 'STAKE_TOTAL_VIEW', candidates: TOTALS, inputs: [] });
}

/** The views to try for a wallet's balance, in order; empty for `none`. @throws PermanentError with the reason */
export function balanceViews({ balanceView }: StakeViewSettings): readonly StakeView[] {
  return views(balanceView, {
    variable: 'STAKE_BALANCE_VIEW',
    candidates: BALANCES,
    inputs: ['address'],
  });
}

interface ViewKind {
  readonly variable: string;
  readonly candidates: readonly string[];
  readonly inputs: readonly string[];
}

function views(setting: string | undefined, kind: ViewKind): readonly StakeView[] {
  if (setting === 'none') return [];
  return (setting === undefined ? kind.candidates : [setting]).map((text) => viewOf(text, kind));
}

function viewOf(text: string, { variable, inputs }: ViewKind): StakeView {
  const refuse = (reason: string): never => {
    throw new PermanentError('STAKE_VIEW_INVALID', `${variable}: ${reason}`);
  };
  let item: unknown;
  try {
    item = parseAbiItem(text as 'function f()');
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : '';
    return refuse(`"${text}" is not a function signature: ${reason}`);
  }
  if (!isRecord(item) || item['type'] !== 'function') return refuse(`"${text}" is not a function`);
  const name = String(item['name']);
  const given = typesOf(item['inputs']);
  const returned = typesOf(item['outputs']);
  if (given.join() !== inputs.join()) {
    return refuse(
      `${name} must take ${inputs.length === 0 ? 'no arguments' : `(${inputs.join(', ')})`}`,
    );
  }
  if (returned.length !== 1 || !/^uint\d+$/.test(returned[0] ?? '')) {
    return refuse(`${name} must return one unsigned integer: "${text} view returns (uint256)"`);
  }
  return { name, selector: toFunctionSelector(`${name}(${given.join(',')})`) };
}

function typesOf(parameters: unknown): string[] {
  if (!Array.isArray(parameters)) return [];
  return parameters.map((parameter) => (isRecord(parameter) ? String(parameter['type']) : ''));
}
