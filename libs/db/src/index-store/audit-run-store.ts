import { type Address } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type LogPage, nextKey, type PageRequest } from '../connection/page.js';
import { hashOf, hexOf, jsonOf, type Nullable } from '../connection/rows.js';
import { type AuditComparison, type AuditRun } from './audit-run.js';
import { FencedError } from './index-state.js';

/** Milliseconds for which runs are kept. Each new run deletes older ones. */
const KEPT_MS = 366 * 86_400_000;
const LONGEST_REASON = 2000;

const LEADER = named<{ fence: bigint }>(
  'audit_leader',
  'SELECT FROM staking.index_state WHERE fence = :fence FOR SHARE',
);

const FORGET = named<{ before: Date }>(
  'audit_forget',
  'DELETE FROM staking.audit_run WHERE finished_at < :before',
);

/** Of a run with the result `impossible` only the reason, of the others everything but a reason. */
interface Columns {
  readonly reason: string;
  readonly blockNumber: string;
  /** Hex digits without `0x`. */
  readonly blockHash: string;
  readonly wallets: number;
  readonly compared: number;
  readonly differences: number;
  /** Amounts are decimal strings. */
  readonly different: readonly { wallet: Address; indexed: string; contract: string }[];
  readonly indexedTotal: string;
  readonly contractTotal: string;
  readonly storedTotal: string;
  readonly closingsTotal: string;
  readonly balancesTotal: string;
}

type Row = Pick<AuditRun, 'startedAt' | 'finishedAt' | 'result'> & Nullable<Columns>;

const INSERT = named<Omit<Row, 'different'> & { different: string | null }>(
  'audit_insert',
  `INSERT INTO staking.audit_run (started_at, finished_at, result, reason, block_number, block_hash, wallets, compared, differences,
      different, indexed_total, contract_total, stored_total, closings_total, balances_total)
    VALUES (:startedAt, :finishedAt, :result, :reason, :blockNumber, decode(:blockHash, 'hex'), :wallets, :compared, :differences,
      :different, :indexedTotal, :contractTotal, :storedTotal, :closingsTotal, :balancesTotal)`,
);

const NEWEST = named<{ after: string | null; comparisonsOnly: boolean; limit: number }>(
  'audit_newest',
  `SELECT r.id, started_at AS "startedAt", finished_at AS "finishedAt", result, reason, block_number AS "blockNumber",
      encode(block_hash, 'hex') AS "blockHash", wallets::float8, compared::float8, differences::float8, different,
      indexed_total AS "indexedTotal", contract_total AS "contractTotal", stored_total AS "storedTotal",
      closings_total AS "closingsTotal", balances_total AS "balancesTotal"
    FROM staking.audit_run r
    WHERE (:after::bigint IS NULL OR r.id < :after) AND (NOT :comparisonsOnly OR result <> 'impossible')
    ORDER BY r.id DESC LIMIT :limit`,
);

/** The audits of the index (table staking.audit_run), as the indexer records them. */
export class AuditRunStore {
  constructor(private readonly database: Database) {}

  /** @throws FencedError where the process with this fencing token is not the leader any more */
  async record(fence: bigint, audit: AuditRun): Promise<void> {
    await this.database.transaction(async (client) => {
      if ((await run(client, LEADER({ fence }))).length === 0) throw new FencedError();
      await client.query(FORGET({ before: new Date(audit.finishedAt.getTime() - KEPT_MS) }));
      await client.query(INSERT(rowOf(audit)));
    });
  }

  /** The newest run, with any result. */
  async last(): Promise<AuditRun | undefined> {
    return (await this.list({ limit: 1 })).entries[0];
  }

  /** The newest run that compared the index with the contract. */
  async lastComparison(): Promise<AuditComparison | undefined> {
    const { entries } = await this.list({ limit: 1 }, true);
    return entries[0]?.result === 'impossible' ? undefined : entries[0];
  }

  /** Newest first. Runs are kept for a year. */
  async list(
    { limit, after }: PageRequest<string>,
    comparisonsOnly = false,
  ): Promise<LogPage<AuditRun, string>> {
    const rows = await this.database.query<Row & { readonly id: string }>(
      NEWEST({ limit, after: after ?? null, comparisonsOnly }),
    );
    return { entries: rows.map(runOf), next: nextKey(rows, limit, ({ id }) => id) };
  }
}

function rowOf(audit: AuditRun): Parameters<typeof INSERT>[0] {
  const { startedAt, finishedAt, result } = audit;
  const of = audit.result === 'impossible' ? undefined : audit;
  return {
    ...{ startedAt, finishedAt, result },
    reason: audit.result === 'impossible' ? audit.reason.slice(0, LONGEST_REASON) : null,
    blockNumber: of?.blockNumber.toString() ?? null,
    blockHash: of ? hexOf(of.blockHash) : null,
    wallets: of?.wallets ?? null,
    compared: of?.compared ?? null,
    differences: of?.differences ?? null,
    different: of ? jsonOf(of.different) : null,
    indexedTotal: of?.indexedTotal.toString() ?? null,
    contractTotal: of?.contractTotal?.toString() ?? null,
    storedTotal: of?.sums.stored.toString() ?? null,
    closingsTotal: of?.sums.closings.toString() ?? null,
    balancesTotal: of?.sums.balances.toString() ?? null,
  };
}

function runOf(row: Row): AuditRun {
  const { startedAt, finishedAt, result } = row;
  const times = { startedAt, finishedAt };
  if (result === 'impossible') return { ...times, result, reason: row.reason ?? '' };
  return {
    ...times,
    result,
    blockNumber: BigInt(row.blockNumber ?? 0),
    blockHash: hashOf(row.blockHash ?? ''),
    wallets: row.wallets ?? 0,
    compared: row.compared ?? undefined,
    differences: row.differences ?? 0,
    different: (row.different ?? []).map(({ wallet, indexed, contract }) => ({
      wallet,
      indexed: BigInt(indexed),
      contract: BigInt(contract),
    })),
    indexedTotal: BigInt(row.indexedTotal ?? 0),
    contractTotal: row.contractTotal === null ? undefined : BigInt(row.contractTotal),
    sums: {
      stored: BigInt(row.storedTotal ?? 0),
      closings: BigInt(row.closingsTotal ?? 0),
      balances: BigInt(row.balancesTotal ?? 0),
    },
  };
}
