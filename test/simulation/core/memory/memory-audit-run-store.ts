import { type AuditComparison, type AuditRun, type AuditRunStore, FencedError } from '#libs/db';
import { type MemoryTables, type Public } from './memory-tables.js';

export class MemoryAuditRunStore implements Public<AuditRunStore> {
  constructor(private readonly tables: MemoryTables) {}

  record(fence: bigint, run: AuditRun): Promise<void> {
    const { state, audits } = this.tables;
    if (state?.fence !== fence) return Promise.reject(new FencedError());
    audits.push(run);
    return Promise.resolve();
  }

  last(): Promise<AuditRun | undefined> {
    return Promise.resolve(this.tables.audits.at(-1));
  }

  lastComparison(): Promise<AuditComparison | undefined> {
    return Promise.resolve(this.tables.audits.findLast((run) => run.result !== 'impossible'));
  }

  list({ limit, after }: Parameters<AuditRunStore['list']>[0]): ReturnType<AuditRunStore['list']> {
    const upTo = after === undefined ? this.tables.audits.length : Number(after) - 1;
    const from = Math.max(0, upTo - limit);
    const entries = this.tables.audits.slice(from, upTo).reverse();
    const next = entries.length < limit ? undefined : String(from + 1);
    return Promise.resolve({ entries, next });
  }
}
