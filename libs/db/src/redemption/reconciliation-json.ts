/** The figures of a run as jsonb: amounts are strings there. */
import { type LedgerFigures, type Money, type Tokens } from '#libs/domain';

interface TokensJson {
  count: number;
  tokens: string;
}

interface MoneyJson extends TokensJson {
  points: string;
}

export interface FiguresJson {
  ledgers: ({ partner: string } & Record<
    'deducted' | 'claimed' | 'reverted' | 'open',
    MoneyJson
  >)[];
  vaults: Record<'chain' | 'ledger', TokensJson>[];
}

export function figuresJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? inner.toString() : inner,
  );
}

export function ledgersOf({ ledgers }: FiguresJson): LedgerFigures[] {
  return ledgers.map(({ partner, deducted, claimed, reverted, open }) => ({
    partner,
    deducted: moneyOf(deducted),
    claimed: moneyOf(claimed),
    reverted: moneyOf(reverted),
    open: moneyOf(open),
  }));
}

export function moneyOf({ count, tokens, points }: MoneyJson): Money {
  return { count, tokens: BigInt(tokens), points: BigInt(points) };
}

/** Of all vaults together. */
export function sumOf({ vaults }: FiguresJson, side: 'chain' | 'ledger'): Tokens {
  const all = vaults.map((vault) => vault[side]);
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    tokens: all.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n),
  };
}
