import { agrees, type AuditResult } from '#libs/verification';
import {
  type AuditComparison,
  type AuditDifference,
  type AuditRun,
  type IndexState,
} from '#libs/db';

import { type Field, fieldLines, moment, table, tokensText } from '../output/text.js';

const MOST = 50;

/** Both figures of every difference, in whole tokens. */
export function auditText(result: AuditResult, state: IndexState): string {
  const { block, differences } = result;
  const tokens = tokensOf(state);
  const fields = fieldLines([
    ['block', `${block.number} of ${moment(block.timestampSeconds * 1000) ?? ''}  ${block.hash}`],
    ...figureFields({ ...result, differences: differences.length }, state),
  ]);
  const more = differences.length - MOST;
  return [
    fields,
    differenceTable(differences, tokens),
    ...(more > 0 ? [`… and ${more} more: --json has them all.\n`] : []),
    `\n${verdict(result, tokens)}\n`,
  ].join('');
}

/** What came of the last nightly audit, and of the last one that compared where that was another. */
export function lastRunText(
  last: AuditRun,
  compared: AuditComparison | undefined,
  state: IndexState,
): string {
  const when = fieldLines([
    ['started', moment(last.startedAt)],
    ['finished', moment(last.finishedAt)],
    ['result', last.result],
    ['reason', last.result === 'impossible' ? last.reason : undefined],
  ]);
  if (compared === undefined) return when;
  const { blockNumber, blockHash, indexedTotal: indexed, contractTotal: contract } = compared;
  const figures = fieldLines([
    ['compared at', last.result === 'impossible' ? moment(compared.startedAt) : undefined],
    ['block', `${blockNumber}  ${blockHash}`],
    ...figureFields({ ...compared, total: { indexed, contract } }, state),
  ]);
  return `${when}\n${figures}${differenceTable(compared.different, tokensOf(state))}`;
}

type Tokens = (amount: bigint) => string;

function tokensOf({ tokenDecimals }: IndexState): Tokens {
  return (tokenAmount) => tokensText({ tokenAmount, tokenDecimals });
}

function figureFields(
  figures: Pick<AuditResult, 'wallets' | 'compared' | 'total'> & { readonly differences: number },
  state: IndexState,
): Field[] {
  const { wallets, compared, differences, total } = figures;
  const tokens = tokensOf(state);
  const unit = state.tokenSymbol;
  return [
    ['wallets', `${wallets} in the index, ${compared ?? 'none'} compared`],
    ['different', compared === undefined ? undefined : String(differences)],
    ['sum of the index', `${tokens(total.indexed)} ${unit}`],
    [
      'contract’s total',
      total.contract === undefined ? 'not told' : `${tokens(total.contract)} ${unit}`,
    ],
  ];
}

function differenceTable(differences: readonly AuditDifference[], tokens: Tokens): string {
  if (differences.length === 0) return '';
  const rows = differences
    .slice(0, MOST)
    .map(({ wallet, indexed, contract }) => [
      wallet,
      tokens(indexed),
      tokens(contract),
      signed(indexed - contract, tokens),
    ]);
  return `\n${table(['WALLET', 'INDEX', 'CONTRACT', 'INDEX HAS MORE'], rows)}`;
}

function verdict(result: AuditResult, tokens: Tokens): string {
  const { total, compared } = result;
  if (agrees(result)) {
    const parts = [
      ...(compared === undefined ? [] : ['the balances']),
      ...(total.contract === undefined ? [] : ['the sum']),
    ];
    return `The index and the contract agree: ${parts.join(' and ')}.`;
  }
  const off =
    total.contract === undefined || total.contract === total.indexed
      ? ''
      : ` The sum is off by ${signed(total.indexed - total.contract, tokens)}.`;
  return `ALERT: the index and the contract differ.${off} See docs/operating/doctor.md.`;
}

function signed(amount: bigint, tokens: Tokens): string {
  return amount < 0n ? `-${tokens(-amount)}` : `+${tokens(amount)}`;
}
