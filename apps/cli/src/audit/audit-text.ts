import { type IndexState } from '#libs/db';
import { tokensText } from '../output/amounts.js';
import { fieldLines } from '../output/fields.js';
import { moment } from '../output/moments.js';
import { table } from '../output/table.js';
import { type AuditResult } from './audit-index.js';

const MOST = 50;

/** Whether the index and the contract agree in all that could be compared. */
export function agrees({ differences, total }: AuditResult): boolean {
  return (
    differences.length === 0 && (total.contract === undefined || total.contract === total.indexed)
  );
}

/** Both figures of every difference, in whole tokens. */
export function auditText(result: AuditResult, state: IndexState): string {
  const { block, wallets, compared, differences, total } = result;
  const tokens = (tokenAmount: bigint): string =>
    tokensText({ tokenAmount, tokenDecimals: state.tokenDecimals });
  const unit = state.tokenSymbol;
  const fields = fieldLines([
    ['block', `${block.number} of ${moment(block.timestampSeconds * 1000) ?? ''}  ${block.hash}`],
    ['wallets', `${wallets} in the index, ${compared ?? 'none'} compared`],
    ['different', compared === undefined ? undefined : String(differences.length)],
    ['sum of the index', `${tokens(total.indexed)} ${unit}`],
    [
      'contract’s total',
      total.contract === undefined ? 'not told' : `${tokens(total.contract)} ${unit}`,
    ],
  ]);
  const rows = differences
    .slice(0, MOST)
    .map(({ wallet, indexed, contract }) => [
      wallet,
      tokens(indexed),
      tokens(contract),
      signed(indexed - contract, tokens),
    ]);
  const found = table(['WALLET', 'INDEX', 'CONTRACT', 'INDEX HAS MORE'], rows);
  const more = differences.length - rows.length;
  return [
    fields,
    ...(rows.length > 0 ? [`\n${found}`] : []),
    ...(more > 0 ? [`… and ${more} more: --json has them all.\n`] : []),
    `\n${verdict(result, tokens)}\n`,
  ].join('');
}

function verdict(result: AuditResult, tokens: (amount: bigint) => string): string {
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

function signed(amount: bigint, tokens: (amount: bigint) => string): string {
  return amount < 0n ? `-${tokens(-amount)}` : `+${tokens(amount)}`;
}
