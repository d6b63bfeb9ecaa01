/** The sums of all claims by the ledger and by the chain, and the runs that compared them. */
import { type PoolClient } from 'pg';
import {
  type Address,
  type Difference,
  type LedgerFigures,
  type Money,
  type PartnerId,
  type ReconciliationFigures,
  type Tokens,
  UNSETTLED_KINDS,
  type UnsettledClaims,
  type UnsettledKind,
  type VaultFigures,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { jsonOf } from '../connection/rows.js';
import {
  CHECKPOINT_COLUMNS,
  checkpointOf,
  type CheckpointRow,
  CLAIM_BLOCK,
  IN_LEDGER,
  unsettledClaims,
} from './vault-claims.js';

export interface Books {
  readonly figures: ReconciliationFigures;
  /** By vault: the oldest claim block among redemptions in state `claimed` for which no claim was read. */
  readonly missingFrom: ReadonlyMap<Address, bigint>;
}

export interface LastRun {
  readonly at: Date;
  readonly ledgers: readonly LedgerFigures[];
  /** Sum over all vaults, like `ledger`. */
  readonly chain: Tokens;
  readonly ledger: Tokens;
  readonly differences: readonly Pick<Difference, 'kind' | 'severity' | 'text'>[];
  /** Claims were acknowledged since the run. */
  readonly isOutdated: boolean;
}

/** Sums in their JSON form, in rows and in the stored runs. */
export interface TokensJson {
  readonly count: number;
  readonly tokens: string;
}

interface MoneyJson extends TokensJson {
  readonly points: string;
}

type LedgerJson = { readonly partner: PartnerId } & Readonly<
  Record<'deducted' | 'claimed' | 'reverted' | 'open', MoneyJson>
>;

interface FiguresJson {
  readonly ledgers: readonly LedgerJson[];
  readonly vaults: readonly Record<'chain' | 'ledger', TokensJson>[];
}

interface VaultRow extends CheckpointRow {
  ledger: TokensJson;
  missing: TokensJson;
  missing_examples: string[];
  missing_from: string | null;
}

interface UnsettledRow {
  vault: Address;
  kind: UnsettledKind;
  chain: TokensJson;
  ledger: TokensJson;
  examples: string[];
}

interface LastRunRow {
  at: Date;
  figures: FiguresJson;
  differences: LastRun['differences'];
  isOutdated: boolean;
}

const EXAMPLES = 20;
/** All statements read one snapshot of the database. */
const ONE_MOMENT = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
/** A run adds up all redemptions, once a day. */
export const BOOKS_WITHIN_MS = 15 * 60_000;

const tokens = (amount: string, condition = 'true'): string =>
  `'count', count(*) FILTER (WHERE ${condition}), 'tokens', coalesce(sum(${amount}) FILTER (WHERE ${condition}), 0)::text`;
const money = (condition: string): string =>
  `json_build_object('points', coalesce(sum(points) FILTER (WHERE ${condition}), 0)::text, ${tokens('token_amount', condition)})`;

/**
 * Adds up all redemptions. What is claimed counts even where the deduction is not recorded, so
 * that the imbalance shows.
 */
const LEDGERS = named(
  'reconciliation_ledgers',
  `SELECT partner,
      ${money('deducted_at IS NOT NULL')} AS deducted,
      ${money(`state = 'claimed'`)} AS claimed,
      ${money(`state = 'reverted' AND deducted_at IS NOT NULL`)} AS reverted,
      ${money(`state NOT IN ('claimed', 'reverted', 'failed') AND deducted_at IS NOT NULL`)} AS open
    FROM redemption.redemption GROUP BY partner ORDER BY partner`,
);

/** Sums of the claims that redemption rows record up to the checkpoint, and of those that the chain does not have. */
const VAULTS = named<{ chainId: number; examples: number }>(
  'reconciliation_vault_ledgers',
  `SELECT ${CHECKPOINT_COLUMNS}, l.* FROM redemption.reconciliation_checkpoint p
    CROSS JOIN LATERAL (
      SELECT json_build_object(${tokens('r.token_amount')}) AS ledger,
        json_build_object(${tokens('r.token_amount', 'c.vault_id IS NULL')}) AS missing,
        coalesce((array_agg(r.id::text ORDER BY r.id) FILTER (WHERE c.vault_id IS NULL))[1:(:examples)], '{}') AS missing_examples,
        min(${CLAIM_BLOCK}) FILTER (WHERE c.vault_id IS NULL)::text AS missing_from
      FROM redemption.redemption r LEFT JOIN redemption.vault_claim c
        ON c.redemption_id = r.id AND c.chain_id = p.chain_id AND c.vault = p.vault
      WHERE ${IN_LEDGER}) AS l
    WHERE p.chain_id = :chainId AND p.block_number IS NOT NULL ORDER BY p.vault`,
);

const UNSETTLED = named<{ chainId: number; examples: number; overdue: Date }>(
  'reconciliation_unsettled',
  `WITH unsettled AS (
      SELECT vault, amount, block_number, id, token_amount, in_ledger,
        CASE WHEN acknowledged_at IS NULL THEN kind ELSE 'acknowledged' END AS kind
      FROM (${unsettledClaims(':overdue')}) AS u WHERE chain_id = :chainId)
    SELECT '0x' || encode(vault, 'hex') AS vault, kind, json_build_object(${tokens('amount')}) AS chain,
      json_build_object(${tokens('token_amount', 'in_ledger')}) AS ledger,
      (array_agg(id ORDER BY block_number, id))[1:(:examples)] AS examples
    FROM unsettled GROUP BY vault, kind`,
);

const ELSEWHERE = named<{ chainId: number }>(
  'reconciliation_elsewhere',
  `SELECT json_build_object(${tokens('r.token_amount')}) AS elsewhere FROM redemption.redemption r
    WHERE r.state = 'claimed' AND NOT EXISTS (
      SELECT FROM redemption.reconciliation_checkpoint p
      WHERE p.chain_id = :chainId AND p.chain_id = r.plan_chain_id AND p.vault = r.plan_vault)`,
);

const RECORD = named<{ at: Date; figures: string; differences: string }>(
  'reconciliation_record',
  `INSERT INTO redemption.reconciliation_run (at, figures, differences) VALUES (:at, :figures, :differences)`,
);

/**
 * Acknowledgements made during a run may be missing in it, so those of the 15 minutes before its
 * time count as later ones.
 */
const LAST_RUN = named(
  'reconciliation_last_run',
  `SELECT at, figures, differences,
      EXISTS (SELECT FROM redemption.claim_acknowledgement a WHERE a.at > run.at - interval '15 minutes') AS "isOutdated"
    FROM redemption.reconciliation_run run ORDER BY id DESC LIMIT 1`,
);

/** Reads all figures from one snapshot of the database. `client` must not have read anything in its transaction. */
export async function readBooks(
  client: PoolClient,
  chainId: number,
  overdue: Date,
): Promise<Books> {
  await client.query(ONE_MOMENT);
  const bounds = { chainId, examples: EXAMPLES };
  const ledgers = await client.query<LedgerJson>(LEDGERS({}));
  const vaults = await client.query<VaultRow>(VAULTS(bounds));
  const unsettled = await client.query<UnsettledRow>(UNSETTLED({ ...bounds, overdue }));
  const elsewhere = await client.query<{ elsewhere: TokensJson }>(ELSEWHERE({ chainId }));
  const missingFrom = vaults.rows.flatMap(({ vault, missing_from: from }) =>
    from === null ? [] : [[vault, BigInt(from)] as const],
  );
  return {
    figures: {
      ledgers: ledgersOf(ledgers.rows),
      vaults: vaults.rows.map((row) => vaultOf(row, unsettled.rows)),
      elsewhere: tokensOf(elsewhere.rows[0]?.elsewhere),
    },
    missingFrom: new Map(missingFrom),
  };
}

export async function recordRun(
  database: Database,
  at: Date,
  figures: ReconciliationFigures,
  differences: readonly Difference[],
): Promise<void> {
  const run = { at, figures: jsonOf(figures), differences: jsonOf(differences) };
  await database.query(RECORD(run));
}

export async function readLastRun(database: Database): Promise<LastRun | undefined> {
  const [row] = await database.query<LastRunRow & object>(LAST_RUN({}));
  if (!row) return undefined;
  const { figures, ...run } = row;
  const sum = (side: 'chain' | 'ledger') => sumOf(figures.vaults.map((vault) => vault[side]));
  return {
    ...run,
    ledgers: ledgersOf(figures.ledgers),
    chain: sum('chain'),
    ledger: sum('ledger'),
  };
}

function vaultOf(row: VaultRow, unsettled: readonly UnsettledRow[]): VaultFigures {
  const { chainId, vault, block, claims } = checkpointOf(row);
  const kinds = UNSETTLED_KINDS.map((kind): [UnsettledKind, UnsettledClaims] => {
    const found = unsettled.find((one) => one.vault === vault && one.kind === kind);
    const { chain, ledger, examples = [] } = found ?? {};
    return [kind, { chain: tokensOf(chain), ledger: tokensOf(ledger), examples }];
  });
  return {
    chainId,
    vault,
    blockNumber: block?.number ?? 0n,
    chain: claims,
    ledger: tokensOf(row.ledger),
    unsettled: Object.fromEntries(kinds) as Record<UnsettledKind, UnsettledClaims>,
    missing: { ...tokensOf(row.missing), examples: row.missing_examples },
  };
}

function ledgersOf(ledgers: readonly LedgerJson[]): LedgerFigures[] {
  return ledgers.map(({ partner, deducted, claimed, reverted, open }) => ({
    partner,
    deducted: moneyOf(deducted),
    claimed: moneyOf(claimed),
    reverted: moneyOf(reverted),
    open: moneyOf(open),
  }));
}

function moneyOf(json: MoneyJson): Money {
  return { ...tokensOf(json), points: BigInt(json.points) };
}

function tokensOf({ count, tokens }: TokensJson = { count: 0, tokens: '0' }): Tokens {
  return { count, tokens: BigInt(tokens) };
}

export function sumOf(all: readonly TokensJson[]): Tokens {
  return {
    count: all.reduce((sum, { count }) => sum + count, 0),
    tokens: all.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n),
  };
}
