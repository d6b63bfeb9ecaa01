import { type FindOptionsWhere, LessThan, Not } from 'typeorm';
import { parseAddress } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type LogPage, nextKey, type PageRequest } from '../connection/page.js';
import {
  type AuditComparison,
  type AuditRun,
  AuditRunEntity,
  type SumsOfIndex,
} from './audit-run.js';
import { FencedError } from './index-state.js';

/** Milliseconds for which runs are kept. Each new run deletes older ones. */
const KEPT_MS = 366 * 86_400_000;
const LONGEST_REASON = 2000;

const LEADER = named<{ fence: bigint }>(
  'audit_leader',
  'SELECT FROM staking.index_state WHERE fence = :fence FOR SHARE',
);

/** The audits of the index (table staking.audit_run), as the indexer records them. */
export class AuditRunStore {
  constructor(private readonly database: Database) {}

  /** @throws FencedError where the process with this fencing token is not the leader any more */
  async record(fence: bigint, run: AuditRun): Promise<void> {
    await this.database.transaction(async (client, manager) => {
      const { rowCount } = await client.query(LEADER({ fence }));
      if (rowCount !== 1) throw new FencedError();
      const kept = new Date(run.finishedAt.getTime() - KEPT_MS);
      await manager.delete(AuditRunEntity, { finishedAt: LessThan(kept) });
      await manager.insert(AuditRunEntity, rowOf(run));
    });
  }

  /** The newest run, with any result. */
  last(): Promise<AuditRun | undefined> {
    return this.newest({});
  }

  /** The newest run that compared the index with the contract. */
  async lastComparison(): Promise<AuditComparison | undefined> {
    const run = await this.newest({ result: Not('impossible') });
    return run?.result === 'impossible' ? undefined : run;
  }

  /** Newest first. Runs are kept for a year. */
  async list({ limit, after }: PageRequest<string>): Promise<LogPage<AuditRun, string>> {
    const where = after === undefined ? {} : { id: LessThan(after) };
    const rows = await this.database.entities((manager) =>
      manager.find(AuditRunEntity, { where, order: { id: 'DESC' }, take: limit }),
    );
    return { entries: rows.map(runOf), next: nextKey(rows, limit, ({ id }) => id) };
  }

  private async newest(where: FindOptionsWhere<AuditRunEntity>): Promise<AuditRun | undefined> {
    const found = await this.database.entities((manager) =>
      manager.findOne(AuditRunEntity, { where, order: { id: 'DESC' } }),
    );
    return found ? runOf(found) : undefined;
  }
}

function rowOf(run: AuditRun): Partial<AuditRunEntity> {
  if (run.result === 'impossible') return { ...run, reason: run.reason.slice(0, LONGEST_REASON) };
  const { compared = null, contractTotal = null, sums, ...facts } = run;
  const different = run.different.map(({ wallet, indexed, contract }) => {
    return { wallet, indexed: indexed.toString(), contract: contract.toString() };
  });
  const { stored: storedTotal, closings: closingsTotal, balances: balancesTotal } = sums;
  const totals = { contractTotal, storedTotal, closingsTotal, balancesTotal };
  return { ...facts, ...totals, compared, different };
}

function runOf(row: AuditRunEntity): AuditRun {
  const { startedAt, finishedAt, result, blockNumber, blockHash } = row;
  const sums = sumsOf(row);
  if (result === 'impossible' || blockNumber === null || blockHash === null || !sums) {
    return { startedAt, finishedAt, result: 'impossible', reason: row.reason ?? '' };
  }
  return {
    startedAt,
    finishedAt,
    result,
    blockNumber,
    blockHash,
    wallets: row.wallets ?? 0,
    compared: row.compared ?? undefined,
    differences: row.differences ?? 0,
    different: (row.different ?? []).flatMap(({ wallet, indexed, contract }) => {
      const address = parseAddress(wallet);
      return address === undefined
        ? []
        : [{ wallet: address, indexed: BigInt(indexed), contract: BigInt(contract) }];
    }),
    indexedTotal: row.indexedTotal ?? 0n,
    contractTotal: row.contractTotal ?? undefined,
    sums,
  };
}

function sumsOf(row: AuditRunEntity): SumsOfIndex | undefined {
  const { storedTotal: stored, closingsTotal: closings, balancesTotal: balances } = row;
  if (stored === null || closings === null || balances === null) return undefined;
  return { stored, closings, balances };
}
