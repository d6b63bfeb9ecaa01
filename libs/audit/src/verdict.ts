import { type ChainReader } from '#libs/chain';
import { type AuditResult } from './audit-result.js';
import { AuditImpossibleError } from './audit.error.js';

/** Whether the index and the contract agree in all that could be compared. */
export function agrees({
  differences,
  total,
}: Pick<AuditResult, 'differences' | 'total'>): boolean {
  return (
    differences.length === 0 && (total.contract === undefined || total.contract === total.indexed)
  );
}

/**
 * That nothing was found is worth something only where all was looked at that the contract tells; a difference counts in any case.
 * @throws AuditImpossibleError with what to do
 */
export function requireComparison(
  result: AuditResult,
  { hasBalances, hasTotal }: Pick<ChainReader, 'hasBalances' | 'hasTotal'>,
): void {
  if (!agrees(result)) return;
  if (!hasBalances && !hasTotal) {
    throw new AuditImpossibleError(
      'The contract tells neither balances nor a total: set STAKE_BALANCE_VIEW or STAKE_TOTAL_VIEW to what it has.',
    );
  }
  const { block, compared, wallets, isWhole, total } = result;
  const lacksBalances = hasBalances && (compared === undefined || !isWhole);
  const lacksTotal = hasTotal && total.contract === undefined;
  if (!lacksBalances && !lacksTotal) return;
  const reached = isWhole ? '' : ` any more after ${compared} wallets of ${wallets}`;
  throw new AuditImpossibleError(
    `No endpoint has the state of block ${block.number}${reached}: add an archive endpoint to RPC_URLS, look at fewer wallets, or at a newer block.`,
  );
}
