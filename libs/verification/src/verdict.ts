/** Decides what the result of an audit proves. */
import { type ChainReader } from '#libs/chain';
import { type AuditComparison, type IndexSums, type SumsOfIndex } from '#libs/db';
import { PermanentError } from '#libs/domain';
import { type ContractComparison } from './compare-balances.js';

export interface AuditResult extends ContractComparison {
  /** What the index adds up to by itself. */
  readonly sums: IndexSums;
  /** Why the contract could not be asked, where the sums alone are a finding. */
  readonly notAsked?: string;
}

/** The audit could not be made, so it says nothing about the balances. */
export class AuditImpossibleError extends PermanentError {
  constructor(message: string) {
    super('AUDIT_IMPOSSIBLE', message);
  }
}

/** Whether index and contract agree in everything that could be compared, and the index agrees with itself. */
export function agrees(result: AuditResult): boolean {
  return agreesWithContract(result) && sumsAgree(result.sums);
}

export function agreesWithContract({ differences, total }: ContractComparison): boolean {
  return (
    differences.length === 0 && (total.contract === undefined || total.contract === total.indexed)
  );
}

/** Whether the balances of the index add up to its stored total. */
export function sumsAgree({ stored, closings, balances }: SumsOfIndex): boolean {
  return closings === stored && balances === stored;
}

/**
 * Requires of a result without differences that it covers everything that the contract reports, because otherwise it
 * proves nothing. A difference counts in any case.
 * @throws AuditImpossibleError that says what to do
 */
export function requireComparison(
  result: AuditResult,
  { hasBalances, hasTotal }: { readonly hasBalances: boolean; readonly hasTotal: boolean },
): void {
  if (!agrees(result)) return;
  if (!hasBalances && !hasTotal) {
    throw new AuditImpossibleError(
      'The contract tells neither balances nor a total: set balanceView or totalView in STAKE_EVENTS to what it has.',
    );
  }
  const { block, compared, wallets, isComplete, total } = result;
  const lacksBalances = hasBalances && (compared === undefined || !isComplete);
  const lacksTotal = hasTotal && total.contract === undefined;
  if (!lacksBalances && !lacksTotal) return;
  const found = isComplete ? 'has' : 'still has';
  const reached = isComplete ? '' : ` (${compared} of ${wallets} wallets were compared)`;
  throw new AuditImpossibleError(
    `No endpoint ${found} the state of block ${block.number}${reached}: add an archive endpoint to RPC_URLS, look at fewer wallets, or at a newer block.`,
  );
}

/**
 * Requires that everything that differed the last time was compared again. Without this rule, a view that no endpoint
 * answers any more would look as if the difference had gone. A view that the operator has since taken out of the
 * settings is not required, because the operator declares by this that the view means something else.
 * @throws AuditImpossibleError
 */
export function requireComparedAgain(
  result: AuditResult,
  last: AuditComparison | undefined,
  { wantsBalances, wantsTotal }: ChainReader,
): void {
  if (last === undefined || !agrees(result)) return;
  const { contractTotal, indexedTotal, differences } = last;
  const lacksWallets = differences > 0 && result.compared === undefined && wantsBalances;
  const hadSum = contractTotal !== undefined && contractTotal !== indexedTotal;
  const lacksSum = hadSum && result.total.contract === undefined && wantsTotal;
  if (!lacksWallets && !lacksSum) return;
  throw new AuditImpossibleError(
    `What differed the last time could not be looked at again: no endpoint tells ${lacksWallets ? 'balances' : 'the total'} now. ` +
      `Check RPC_URLS; where the contract has no such function, set ${lacksWallets ? 'balanceView' : 'totalView'} in STAKE_EVENTS to [].`,
  );
}
