/**
 * The daily reconciliation checks whether our ledger adds up, and whether the chain paid exactly what the ledger says.
 * It takes figures and returns differences. All figures are of one final block of each vault; later events of a payout
 * are no difference.
 */
import { type PartnerId } from '../values/ids.js';
import { type Address } from '../values/address.js';

/** Number of redemptions or claims, and their sum in the token's smallest unit. */
export interface Tokens {
  readonly count: number;
  readonly tokens: bigint;
}

export interface Money extends Tokens {
  readonly points: bigint;
}

/** The figures of one partner, from the rows at one moment. */
export interface LedgerFigures {
  readonly partner: PartnerId;
  /** Redemptions whose points were ever deducted. */
  readonly deducted: Money;
  readonly claimed: Money;
  /** Reverted redemptions, as with `open` only those whose points were ever deducted. */
  readonly reverted: Money;
  readonly open: Money;
}

/** Kinds of claims on chain that are not recorded as the claim of a row, by what the row of the redemption says. */
export const UNSETTLED_KINDS = [
  /** An authorised payout that the worker has not looked at since the claim. */
  'open',
  /** As `open`, but for longer than the worker needs to look. */
  'overdue',
  /** No redemption has the id of the claim. */
  'without-row',
  /** A redemption that must not be paid: never authorised, or with its points on their way back or given back. */
  'unpayable',
  /** The redemption has another recipient, amount or vault. */
  'different',
  /** A claim of the last three kinds that an operator has examined and settled: no difference any more. */
  'acknowledged',
] as const;
export type UnsettledKind = (typeof UNSETTLED_KINDS)[number];

export interface UnsettledClaims {
  /** The claims as the chain has them. */
  readonly chain: Tokens;
  /** Those of the claims whose row says claimed on this vault, with the figures of the row. */
  readonly ledger: Tokens;
  /** Redemption ids, for the operator. */
  readonly examples: readonly string[];
}

/** The figures of one vault up to one final block. */
export interface VaultFigures {
  readonly chainId: number;
  readonly vault: Address;
  readonly blockNumber: bigint;
  /** All final claims. */
  readonly chain: Tokens;
  /** The claimed redemptions, selected by the block of their claim. */
  readonly ledger: Tokens;
  readonly unsettled: Readonly<Record<UnsettledKind, UnsettledClaims>>;
  /** Claimed redemptions without a claim on chain. */
  readonly missing: Tokens & { readonly examples: readonly string[] };
}

export interface ReconciliationFigures {
  readonly ledgers: readonly LedgerFigures[];
  readonly vaults: readonly VaultFigures[];
  /** Redemptions that were claimed on vaults or chains that are not compared. */
  readonly elsewhere: Tokens;
}

export type DifferenceKind =
  | 'claim-without-row'
  | 'claim-unpayable'
  | 'claim-different'
  | 'claim-overdue'
  | 'row-without-claim'
  | 'sums-differ'
  | 'ledger-unbalanced'
  | 'ledger-shrank'
  | 'finality-broken'
  | 'vault-not-compared';

export interface Difference extends Tokens {
  readonly kind: DifferenceKind;
  readonly severity: 'warning' | 'critical';
  readonly text: string;
  /** The partner, the vault, or `elsewhere`. */
  readonly subject: string;
  readonly examples: readonly string[];
}

/** @param before the figures of the last run; no sum of final redemptions can have been higher than now */
export function reconcile(
  now: ReconciliationFigures,
  before?: { readonly ledgers: readonly LedgerFigures[] },
): Difference[] {
  const { count, tokens } = now.elsewhere;
  const elsewhere: Difference = {
    kind: 'vault-not-compared',
    severity: 'warning',
    count,
    tokens,
    text: `${count} redemptions were claimed on vaults that are not compared with`,
    subject: 'elsewhere',
    examples: [],
  };
  return [
    ...now.vaults.flatMap(claimDifferences),
    ...now.vaults.flatMap(sumDifference),
    ...now.ledgers.flatMap(imbalance),
    ...(before ? shrinkage(now.ledgers, before.ledgers) : []),
    ...(count > 0 ? [elsewhere] : []),
  ];
}

const CLAIM_TEXTS: readonly (readonly [UnsettledKind, DifferenceKind, string])[] = [
  ['without-row', 'claim-without-row', 'claims of no redemption: someone else signs vouchers'],
  ['unpayable', 'claim-unpayable', 'claims of redemptions that must not be paid'],
  ['different', 'claim-different', 'claims of another amount, recipient or vault than planned'],
  ['overdue', 'claim-overdue', 'claims that the worker has not recorded'],
];

function claimDifferences(figures: VaultFigures): Difference[] {
  const { vault: subject, unsettled, missing } = figures;
  const claims = CLAIM_TEXTS.flatMap(([unsettledKind, kind, text]): Difference[] => {
    const { chain, examples } = unsettled[unsettledKind];
    if (chain.count === 0) return [];
    return [
      { kind, severity: 'critical', ...chain, text: `${chain.count} ${text}`, subject, examples },
    ];
  });
  if (missing.count === 0) return claims;
  const text = `${missing.count} redemptions are claimed, and the chain has no claim of them`;
  return [
    ...claims,
    { kind: 'row-without-claim', severity: 'critical', ...missing, text, subject },
  ];
}

/** The difference between chain and ledger that the other differences do not explain. */
function sumDifference({
  vault: subject,
  chain,
  ledger,
  unsettled,
  missing,
}: VaultFigures): Difference[] {
  const kinds = UNSETTLED_KINDS.map((kind) => unsettled[kind]);
  const settled = kinds.reduce((rest, kind) => minus(rest, kind.chain), chain);
  const recorded = kinds.reduce((rest, kind) => minus(rest, kind.ledger), minus(ledger, missing));
  const { count, tokens } = minus(settled, recorded);
  if (count === 0 && tokens === 0n) return [];
  const text =
    `the chain has ${chain.count} claims of ${chain.tokens.toString()}, the ledger ${ledger.count} of ` +
    `${ledger.tokens.toString()}; ${count} of ${tokens.toString()} are not explained`;
  return [
    { kind: 'sums-differ', severity: 'critical', count, tokens, text, subject, examples: [] },
  ];
}

function imbalance({ partner, deducted, claimed, reverted, open }: LedgerFigures): Difference[] {
  const rest = [claimed, reverted, open].reduce(minusMoney, deducted);
  if (rest.count === 0 && rest.points === 0n && rest.tokens === 0n) return [];
  const { count, tokens, points } = rest;
  const text = `deducted is not claimed + reverted + open: ${count} redemptions of ${points.toString()} points between them`;
  return [
    {
      kind: 'ledger-unbalanced',
      severity: 'critical',
      count,
      tokens,
      text,
      subject: partner,
      examples: [],
    },
  ];
}

/**
 * Rows are never removed and final rows never change, so these sums only grow. A smaller sum means that a backup
 * was restored, or that a row was written by hand.
 */
function shrinkage(now: readonly LedgerFigures[], before: readonly LedgerFigures[]): Difference[] {
  const current = new Map(now.map((ledger) => [ledger.partner, ledger]));
  return before.flatMap((old): Difference[] => {
    const ledger = current.get(old.partner);
    const lost = (['deducted', 'claimed', 'reverted'] as const).flatMap((column) => {
      const fall = minusMoney(old[column], ledger?.[column] ?? NOTHING);
      return fall.count > 0 || fall.tokens > 0n || fall.points > 0n ? [{ column, fall }] : [];
    });
    const [first] = lost;
    if (!first) return [];
    const { count, tokens } = first.fall;
    const columns = lost.map(({ column }) => column).join(', ');
    const text = `less than in the last run, which cannot be: ${columns}`;
    return [
      {
        kind: 'ledger-shrank',
        severity: 'critical',
        count,
        tokens,
        text,
        subject: old.partner,
        examples: [],
      },
    ];
  });
}

const NOTHING: Money = { count: 0, tokens: 0n, points: 0n };

function minus(one: Tokens, other: Tokens): Tokens {
  return { count: one.count - other.count, tokens: one.tokens - other.tokens };
}

function minusMoney(one: Money, other: Money): Money {
  return { ...minus(one, other), points: one.points - other.points };
}
