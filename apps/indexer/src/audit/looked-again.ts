import { agrees, AuditImpossibleError, type AuditResult } from '#libs/audit';
import { type ChainReader } from '#libs/chain';
import { type AuditComparison } from '#libs/db';

/**
 * That what differed the last time was looked at again, so that a view which no node tells any more does not pass for a cure. A view
 * that the settings no longer ask for is the operator's word that it meant something else.
 * @throws AuditImpossibleError
 */
export function requireLookedAgain(
  result: AuditResult,
  last: AuditComparison | undefined,
  { wantsBalances, wantsTotal }: Pick<ChainReader, 'wantsBalances' | 'wantsTotal'>,
): void {
  if (last === undefined || !agrees(result)) return;
  const { contractTotal, indexedTotal, differences } = last;
  const lacksWallets = differences > 0 && result.compared === undefined && wantsBalances;
  const hadSum = contractTotal !== undefined && contractTotal !== indexedTotal;
  const lacksSum = hadSum && result.total.contract === undefined && wantsTotal;
  if (!lacksWallets && !lacksSum) return;
  throw new AuditImpossibleError(
    `What differed the last time could not be looked at again: no endpoint tells ${lacksWallets ? 'balances' : 'the total'} any more. ` +
      `Check RPC_URLS; where the contract has no such function, set ${lacksWallets ? 'STAKE_BALANCE_VIEW' : 'STAKE_TOTAL_VIEW'} to none.`,
  );
}
