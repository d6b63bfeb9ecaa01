import { type ReadRange } from '#libs/chain';
import { type Clock } from '#libs/platform';
import { Counter, Gauge, type Registry } from '#libs/service';
import { type BackfillProgress } from './backfill-progress.js';
import { type IndexStatus } from './index-status.js';

const REASONS = ['reorganisation', 'repair'] as const;

export class IndexerMetrics {
  private readonly events: Counter;
  private readonly changes: Counter;
  private readonly rollbacks: Counter<'why'>;
  private readonly rollbackDepth: Gauge;

  constructor(registry: Registry, status: IndexStatus, progress: BackfillProgress, clock: Clock) {
    const registers = [registry];
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
    this.events = counter('lowmark_index_events_total', 'Staking events applied');
    this.changes = counter('lowmark_index_balance_changes_total', 'Balance intervals opened');
    this.rollbacks = new Counter({
      name: 'lowmark_index_rollbacks_total',
      help: 'Times indexed blocks were undone',
      labelNames: ['why'],
      registers,
    });
    // Starts each series at 0, because an alert does not see a series that begins at 1 as an increase.
    for (const why of REASONS) this.rollbacks.inc({ why }, 0);
    this.rollbackDepth = new Gauge({
      name: 'lowmark_index_rollback_depth_blocks',
      help: 'Blocks undone last time',
      registers,
    });
    for (const [name, help, read] of gauges(status, progress, clock)) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    }
    new Gauge({
      name: 'lowmark_index_verification',
      help: '1 for the mode of STAKE_VERIFICATION that is in force',
      labelNames: ['mode'],
      registers,
      collect() {
        this.reset();
        if (status.verification) this.set({ mode: status.verification.mode }, 1);
      },
    });
  }

  applied(answer: ReadRange, changes: number): void {
    this.events.inc(answer.events);
    this.changes.inc(changes);
  }

  rolledBack(why: (typeof REASONS)[number], depth: number): void {
    this.rollbacks.inc({ why });
    this.rollbackDepth.set(depth);
  }
}

function gauges(
  status: IndexStatus,
  progress: BackfillProgress,
  clock: Clock,
): [name: string, help: string, read: () => number][] {
  return [
    [
      'lowmark_index_head_block',
      'Newest indexed block',
      // The stored head is reported only after the chain was asked.
      () => (status.chainHeadNumber === undefined ? 0 : Number(status.head?.number ?? 0n)),
    ],
    [
      'lowmark_chain_head_block',
      'Newest block the chain has',
      () => Number(status.chainHeadNumber ?? 0n),
    ],
    [
      'lowmark_index_finalised_block',
      'Newest indexed block that is final',
      () => Number(status.finalised?.number ?? 0n),
    ],
    [
      'lowmark_index_verified_block',
      'Newest block up to which the events are vouched for',
      () => Number(status.verifiedNumber ?? 0n),
    ],
    [
      'lowmark_index_halted',
      '1 when stopped by an error that an operator must correct',
      () => (status.phase === 'halted' ? 1 : 0),
    ],
    [
      'lowmark_index_lag_seconds',
      'Age of the newest indexed block; 0 while another indexer leads, and before there is a block',
      () => (status.phase === 'standby' ? 0 : (status.lagSeconds(clock.nowMs()) ?? 0)),
    ],
    [
      'lowmark_index_start_block',
      'First block that is indexed',
      () => Number(progress.figures().startBlock),
    ],
    [
      'lowmark_index_sync_ratio',
      'Indexed part of the blocks from the first one to the chain’s newest, 0 to 1; 0 before it is known',
      () => progress.figures().ratio ?? 0,
    ],
    [
      'lowmark_index_sync_blocks_per_second',
      'Blocks indexed a second, over the last 30 seconds',
      () => progress.figures().blocksPerSecond ?? 0,
    ],
    [
      'lowmark_index_sync_seconds_left',
      'Seconds until the index is up to date, at the rate of the last 30 seconds: 0 when it is, NaN if unknown',
      () => progress.figures().secondsLeft ?? NaN,
    ],
  ];
}
