import { parseAddress } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { hashOf, hexOf } from '../rows.js';
import { type AuditComparison, type AuditDifference, type AuditRun } from './audit-run.js';
import { FencedError } from './index-store.error.js';

/** Rows that are older go with the next run. */
const KEEP = `interval '366 days'`;
const LONGEST_REASON = 2000;

const RECORD: Statement = {
  name: 'audit_record',
  text: `WITH leader AS (SELECT FROM staking.index_state WHERE fence = $1),
    forgotten AS (DELETE FROM staking.audit_run USING leader WHERE finished_at < $3::timestamptz - ${KEEP})
    INSERT INTO staking.audit_run (started_at, finished_at, result, reason, block_number, block_hash, wallets, compared,
      differences, different, indexed_total, contract_total)
    SELECT $2, $3, $4, $5, $6, decode($7, 'hex'), $8, $9, $10, $11, $12, $13 FROM leader
    RETURNING id`,
};

const COLUMNS = `started_at, finished_at, result, reason, block_number, encode(block_hash, 'hex') AS block_hash, wallets,
  compared, differences, different, indexed_total, contract_total`;

const LAST: Statement = {
  name: 'audit_last',
  text: `SELECT ${COLUMNS} FROM staking.audit_run ORDER BY id DESC LIMIT 1`,
};

const LAST_COMPARISON: Statement = {
  name: 'audit_last_comparison',
  text: `SELECT ${COLUMNS} FROM staking.audit_run WHERE result <> 'impossible' ORDER BY id DESC LIMIT 1`,
};

interface AuditRunRow {
  started_at: Date;
  finished_at: Date;
  result: AuditRun['result'];
  reason: string | null;
  block_number: string | null;
  block_hash: string | null;
  wallets: string | null;
  compared: string | null;
  differences: string | null;
  different: { wallet: string; indexed: string; contract: string }[] | null;
  indexed_total: string | null;
  contract_total: string | null;
}

/** The audits of the index as the indexer keeps them; see staking.audit_run. */
export class AuditRunStore {
  constructor(private readonly database: Database) {}

  /** @throws FencedError where the program that began under this fence does not lead any more */
  async record(fence: bigint, run: AuditRun): Promise<void> {
    const rows = await this.database.query(RECORD, [
      fence,
      run.startedAt,
      run.finishedAt,
      run.result,
      ...(run.result === 'impossible'
        ? [run.reason.slice(0, LONGEST_REASON), ...Array<null>(8).fill(null)]
        : [null, ...findingValues(run)]),
    ]);
    if (rows.length === 0) throw new FencedError();
  }

  /** The newest one, whatever came of it. */
  async last(): Promise<AuditRun | undefined> {
    const [row] = await this.database.query<AuditRunRow>(LAST);
    return row && runOf(row);
  }

  /** The newest one that compared: what is known of the index. */
  async lastComparison(): Promise<AuditComparison | undefined> {
    const [row] = await this.database.query<AuditRunRow>(LAST_COMPARISON);
    const run = row && runOf(row);
    return run?.result === 'impossible' ? undefined : run;
  }
}

function findingValues(run: AuditComparison): unknown[] {
  return [
    run.blockNumber,
    hexOf(run.blockHash),
    run.wallets,
    run.compared,
    run.differences,
    JSON.stringify(run.different.map(differenceText)),
    run.indexedTotal,
    run.contractTotal,
  ];
}

function differenceText({ wallet, indexed, contract }: AuditDifference): Record<string, string> {
  return { wallet, indexed: indexed.toString(), contract: contract.toString() };
}

function runOf(row: AuditRunRow): AuditRun {
  const times = { startedAt: row.started_at, finishedAt: row.finished_at };
  if (row.result === 'impossible')
    return { ...times, result: row.result, reason: row.reason ?? '' };
  return {
    ...times,
    result: row.result,
    blockNumber: BigInt(row.block_number ?? 0),
    blockHash: hashOf(row.block_hash ?? ''),
    wallets: Number(row.wallets),
    compared: row.compared === null ? undefined : Number(row.compared),
    differences: Number(row.differences),
    different: (row.different ?? []).flatMap(({ wallet, indexed, contract }) => {
      const address = parseAddress(wallet);
      return address === undefined
        ? []
        : [{ wallet: address, indexed: BigInt(indexed), contract: BigInt(contract) }];
    }),
    indexedTotal: BigInt(row.indexed_total ?? 0),
    contractTotal: row.contract_total === null ? undefined : BigInt(row.contract_total),
  };
}
