/** The nightly audit beside an indexer's loop. */
import { type ChainReader } from '#libs/chain';
import { type AuditRun, type AuditRunStore, type IndexStore } from '#libs/db';
import { type Logger, systemClock } from '#libs/platform';
import { NightlyAudit } from '#libs/verification';
import { AuditService } from '../../../apps/indexer/src/audit/audit.service.js';
import { type IndexStatus } from '../../../apps/indexer/src/health/index-status.js';
import { type IndexerSettings } from '../../../apps/indexer/src/settings/indexer.env.js';
import {
  ancestor,
  branchOf,
  type SimulatedChain,
  totalAt,
} from '../../../libs/testing/src/fake-node/simulated-chain.js';
import { DeviationError } from '../kernel/index.js';
import { walletsOf } from './oracle.js';

/** More often than Nest's schedule has it, since most worlds are over in two minutes. */
const TICK_MS = 10_000;

export interface AuditingParts {
  readonly index: IndexStore;
  readonly runs: AuditRunStore;
  readonly reader: ChainReader;
  readonly status: IndexStatus;
  readonly logger: Logger;
  readonly sample: number | 'all';
}

/** Call it within the indexer's process. */
export function startAuditing(parts: AuditingParts): void {
  const { index, runs, reader, status, logger, sample: auditSample } = parts;
  const nightly = new NightlyAudit(index, reader, runs, systemClock, logger);
  const settings = { auditHourUtc: 0, auditSample } as IndexerSettings;
  const service = new AuditService(nightly, runs, status, settings, systemClock, logger);
  setInterval(() => void service.tick(), TICK_MS);
}

/** An audit of an index that is right tells the figures of the chain, or that it was impossible. */
export function deviationOf(
  run: AuditRun,
  { chain, hasTotal, sample }: { chain: SimulatedChain; hasTotal: boolean; sample: number | 'all' },
): DeviationError | undefined {
  if (run.result === 'impossible') return undefined;
  const block = ancestor(chain.final, Number(run.blockNumber));
  if (block?.hash !== run.blockHash)
    return new DeviationError('audit of a block that is not final', String(run.blockNumber));
  const total = totalAt(block);
  const { result, wallets, compared, indexedTotal, contractTotal, differences } = run;
  const least = walletsOf(branchOf(block)).length;
  const isRight =
    result === 'ok' &&
    indexedTotal === total &&
    contractTotal === (hasTotal ? total : undefined) &&
    wallets >= least &&
    (sample === 'all' ? compared === wallets : (compared ?? 0) >= Math.min(1, least));
  if (isRight) return undefined;
  return new DeviationError(
    'wrong audit',
    `${result}: ${indexedTotal} and ${contractTotal ?? 'none'}, not ${total}; ${compared ?? 'none'} of ${wallets} wallets compared, ${differences} differ`,
  );
}
