/**
 * The sums, to the last unit: each wallet's points at its partner, each wallet's tokens, and the tokens left in the
 * vault.
 */
import { type RedemptionFacts } from './redemption-facts.js';

export interface WalletLedger {
  readonly wallet: string;
  /** Points in the partner's books: now, and as they would be without the service. Undefined: not a player there. */
  readonly points: number | undefined;
  readonly pointsWithoutUs: number | undefined;
  /** In the smallest unit. */
  readonly tokens: bigint;
}

export interface Ledgers {
  readonly wallets: readonly WalletLedger[];
  /** Tokens of the vault in the smallest unit: at the start, and at the end. */
  readonly funds: bigint;
  readonly left: bigint;
  /** Claims on the vault that belong to no redemption. */
  readonly strayClaims: readonly string[];
  /** Partners that reverted a deduction of no redemption, and requests that no partner should get. */
  readonly oddities: readonly string[];
}

/** Compares what the rows say was taken and paid with the books and the chain. */
export function ledgerFaults(all: readonly RedemptionFacts[], ledgers: Ledgers): string[] {
  const faults = [...ledgers.strayClaims, ...ledgers.oddities];
  const claimed = all.filter(({ row }) => row.state === 'claimed');
  const tokens = sums(claimed, ({ row }) => row.tokenAmount);
  const points = sums(claimed, ({ row }) => BigInt(row.points));
  for (const { wallet, ...ledger } of ledgers.wallets) {
    const paid = tokens.get(wallet) ?? 0n;
    if (ledger.tokens !== paid) {
      faults.push(`${wallet} has ${ledger.tokens.toString()} tokens, not ${paid.toString()}`);
    }
    const taken = Number(points.get(wallet) ?? 0n);
    const { pointsWithoutUs } = ledger;
    const due = pointsWithoutUs === undefined ? undefined : pointsWithoutUs - taken;
    if (ledger.points !== due) {
      faults.push(`${wallet} has ${String(ledger.points)} points, not ${String(due)}`);
    }
  }
  const paid = [...tokens.values()].reduce((sum, amount) => sum + amount, 0n);
  if (ledgers.left !== ledgers.funds - paid) {
    faults.push(
      `the vault holds ${ledgers.left.toString()}, not ${(ledgers.funds - paid).toString()}`,
    );
  }
  return faults;
}

function sums(
  all: readonly RedemptionFacts[],
  amountOf: (facts: RedemptionFacts) => bigint,
): Map<string, bigint> {
  const totals = new Map<string, bigint>();
  for (const facts of all) {
    const { wallet } = facts.row;
    totals.set(wallet, (totals.get(wallet) ?? 0n) + amountOf(facts));
  }
  return totals;
}
