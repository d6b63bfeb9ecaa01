import { Inject, Injectable } from '@nestjs/common';
import {
  AuditRunStore,
  ClaimWatchStore,
  Database,
  type IndexState,
  IndexStore,
  LedgerRestoreStore,
  PriceStore,
  ReconciliationStore,
  RedemptionPages,
  RestoreNotNotedError,
} from '#libs/db';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import { counted, duration, HELD_BECAUSE } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { StakeSets } from '../stake-sets.js';
import { type AlertBody, SEVERITIES } from './overview.dto.js';

/**
 * Lag of the index that raises an alert: longer than the block time of any chain and the indexer's time for a block.
 */
const BEHIND_MS = 10 * 60_000;
const PRICE_OLD_MS = 60 * 60_000;
const DAY_MS = 86_400_000;

type Found = Omit<AlertBody, 'since'> & { readonly since?: Date | undefined };

/** Alerts that the database alone can raise. docs/operating/alerts.md lists more, which need metrics. */
@Injectable()
export class DatabaseAlerts {
  constructor(
    private readonly database: Database,
    private readonly sets: StakeSets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async all(): Promise<AlertBody[]> {
    const found = await Promise.all([
      this.sets.forEach((database, name) => this.ofSet(database, name)),
      this.ledger(),
      this.redemptions(),
      this.reconciliation(),
    ]);
    return found
      .flat(2)
      .map(({ since = null, ...alert }) => ({ ...alert, since }))
      .sort(bySeverity);
  }

  private async ofSet(database: Database, set: string): Promise<Found[]> {
    const index = await new IndexStore(database).state();
    if (index === undefined) return [];
    const of = set === DEFAULT_STAKE_SET ? '' : ` of ${set}`;
    return [
      ...haltOrLag(index, of, this.clock.nowMs()),
      ...(await this.priceOf(database, of)),
      ...(await auditOf(database, of)),
      ...(await this.claimsOf(index.chainId, of)),
    ];
  }

  private async priceOf(database: Database, of: string): Promise<Found[]> {
    const prices = new PriceStore(database);
    const { hold } = await prices.standing();
    const link = '/operate';
    if (hold !== undefined) {
      const summary = `The price${of} is held: ${HELD_BECAUSE[hold.reason] ?? hold.reason}. Nothing can be redeemed until you accept one.`;
      return [{ name: 'PriceHeld', severity: 'critical', summary, since: hold.since, link }];
    }
    const newest = await prices.newest();
    const ageMs = newest === undefined ? 0 : this.clock.nowMs() - newest.observedAt.getTime();
    if (ageMs <= PRICE_OLD_MS) return [];
    const summary = `The price${of} is ${duration(ageMs)} old: look at PRICE_SOURCE.`;
    return [{ name: 'PriceStale', severity: 'warning', summary, since: newest?.observedAt, link }];
  }

  private async claimsOf(chainId: number, of: string): Promise<Found[]> {
    const { alarms } = await new ClaimWatchStore(this.database).state(chainId);
    if (alarms === 0) return [];
    const summary = `${counted(alarms, 'claim')} on the chain${of} that no redemption explains.`;
    return [{ name: 'ClaimAlarm', severity: 'critical', summary, link: '/operate/reconciliation' }];
  }

  private async ledger(): Promise<Found[]> {
    const { unnoted } = await new LedgerRestoreStore(this.database).standing();
    if (unnoted === undefined) return [];
    const summary = `Redemptions are paused. ${new RestoreNotNotedError().message} Reason: ${unnoted.noticed}.`;
    const since = new Date(unnoted.atMs);
    return [{ name: 'RestoreNotNoted', severity: 'critical', summary, since, link: '/operate' }];
  }

  private async redemptions(): Promise<Found[]> {
    const nowMs = this.clock.nowMs();
    const { open } = await new RedemptionPages(this.database).overview(nowMs);
    const stopped = open.find(({ state }) => state === 'attention');
    if (stopped === undefined) return [];
    const since = new Date(nowMs - stopped.longestSeconds * 1000);
    const severity = nowMs - since.getTime() > DAY_MS ? 'critical' : 'warning';
    const summary = `${counted(stopped.count, 'redemption')} waiting for an operator.`;
    const link = '/operate/redemptions';
    return [{ name: 'RedemptionsNeedAttention', severity, summary, since, link }];
  }

  private async reconciliation(): Promise<Found[]> {
    const run = await new ReconciliationStore(this.database).lastRun();
    const link = '/operate/reconciliation';
    return (run?.differences ?? []).map(({ kind, severity, text }) => ({
      ...{ name: `Reconciliation: ${kind}`, severity, summary: text, link },
      since: run?.at,
    }));
  }
}

export function bySeverity(a: AlertBody, b: AlertBody): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
}

function haltOrLag({ halted, head, syncedAt }: IndexState, of: string, nowMs: number): Found[] {
  const link = '/operate';
  if (halted !== undefined) {
    const summary = `The index${of} is halted: ${halted.reason}`;
    return [{ name: 'IndexHalted', severity: 'critical', summary, since: halted.at, link }];
  }
  const lagMs = nowMs - head.timestampSeconds * 1000;
  if (syncedAt === undefined || lagMs <= BEHIND_MS) return [];
  const summary = `The index${of} is ${duration(lagMs)} behind. The API refuses snapshots from INDEX_MAX_LAG_SECONDS on.`;
  const since = new Date(head.timestampSeconds * 1000);
  return [{ name: 'IndexBehind', severity: 'warning', summary, since, link }];
}

async function auditOf(database: Database, of: string): Promise<Found[]> {
  const run = await new AuditRunStore(database).lastComparison();
  if (run?.result !== 'different') return [];
  const summary = `The last audit found that the index${of} and the contract differ.`;
  const since = run.finishedAt;
  return [
    { name: 'AuditDifferent', severity: 'critical', summary, since, link: '/operate/audits' },
  ];
}
