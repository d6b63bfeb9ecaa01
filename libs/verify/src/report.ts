import { dayText } from '#libs/domain';
import { type Comparison, type Result } from './comparison.js';
import { type ChainDay } from './chain-days.js';

export interface CheckedDay {
  readonly chain: Omit<ChainDay, 'list'> & { readonly wallets: number; readonly total: bigint };
  readonly comparisons: readonly Comparison[];
}

export function factsOf({ day, root, list, closing }: ChainDay): CheckedDay['chain'] {
  return { day, root, closing, wallets: list.length, total: list.total };
}

export const EXIT_STATUS: Readonly<Record<Result, 0 | 1 | 2>> = {
  agrees: 0,
  differs: 1,
  unchecked: 2,
};

/** A difference outweighs comparisons that could not be made. */
export function resultOf(comparisons: readonly Comparison[]): Result {
  const results = comparisons.map(({ result }) => result);
  if (results.includes('differs')) return 'differs';
  return results.length === 0 || results.includes('unchecked') ? 'unchecked' : 'agrees';
}

/** The result for programs; amounts are decimal strings in the token's smallest unit. */
export function jsonOf({ chain, comparisons }: CheckedDay): object {
  const { day, wallets, total, root, closing } = chain;
  return {
    day: dayText(day),
    ...{ root, wallets, total: String(total) },
    lastBlock: { number: Number(closing.number), hash: closing.hash },
    result: resultOf(comparisons),
    comparisons: comparisons.map(({ difference, ...comparison }) => ({
      ...comparison,
      ...(difference && {
        difference: {
          wallet: difference.wallet,
          chain: String(difference.chain),
          listed: String(difference.listed),
        },
      }),
    })),
  };
}

const NAMES: Readonly<Record<Comparison['with'], string>> = {
  api: 'the api',
  registry: 'the registry',
  root: 'the root that was given',
  list: 'the list',
};

export function textOf({ chain, comparisons }: CheckedDay): string {
  const { day, wallets, total, root, closing } = chain;
  const head = [
    `${dayText(day)}  by the chain: ${wallets} wallets, in all ${total}`,
    `            root ${root}`,
    `            last block ${closing.number}, ${closing.hash}`,
  ];
  return [...head, ...comparisons.map((comparison) => `            ${lineOf(comparison)}`)].join(
    '\n',
  );
}

function lineOf(comparison: Comparison): string {
  const {
    with: name,
    result,
    root,
    revision,
    previousRoot,
    difference,
    reason,
    signedBy,
  } = comparison;
  const other = NAMES[name];
  const before = previousRoot === undefined ? '' : `; the root before was ${previousRoot}`;
  const of = revision !== undefined && revision > 1 ? ` (revision ${revision}${before})` : '';
  const by = signedBy === undefined ? '' : `, signed by key ${signedBy}`;
  if (result === 'agrees') return `AGREES with ${other}${of}${by}`;
  if (result === 'unchecked') return `NOT CHECKED against ${other}: ${reason ?? ''}`;
  const roots = root === undefined ? '' : `: its root is ${root}`;
  const wallet =
    difference &&
    `; wallet ${difference.wallet} kept ${difference.chain} by the chain, ${difference.listed} by ${other}`;
  return `DIFFERS from ${other}${of}${roots}${by}${wallet ?? `; ${reason ?? ''}`}`;
}
