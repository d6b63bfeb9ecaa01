import { type RangeAnswer } from '#libs/chain';
import { Counter, Gauge, type Registry } from '#libs/service';
import { type IndexStatus } from '../follow/index-status.js';

const REASONS = ['reorganisation', 'repair'] as const;

/** The indexer's own metrics; all block numbers as plain numbers. */
export class IndexerMetrics {
  private readonly head: Gauge;
  private readonly chainHead: Gauge;
  private readonly finalised: Gauge;
  private readonly verified: Gauge;
  private readonly isHalted: Gauge;
  private readonly events: Counter;
  private readonly changes: Counter;
  private readonly rollbacks: Counter<'why'>;
  private readonly rollbackDepth: Gauge;
  private readonly stalls: Counter;

  constructor(registry: Registry, status: IndexStatus, nowMs: () => number) {
    const registers = [registry];
    const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
    const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
    this.head = gauge('lowmark_index_head_block', 'Newest indexed block');
    this.chainHead = gauge('lowmark_chain_head_block', 'Newest block the chain has');
    this.finalised = gauge('lowmark_index_finalised_block', 'Newest indexed block that is final');
    this.verified = gauge(
      'lowmark_index_verified_block',
      'Newest block up to which the events are vouched for',
    );
    this.isHalted = gauge('lowmark_index_halted', '1 when stopped by an error a person must mend');
    this.events = counter('lowmark_index_events_total', 'Staking events applied');
    this.changes = counter('lowmark_index_balance_changes_total', 'Balance intervals opened');
    this.rollbacks = new Counter({
      name: 'lowmark_index_rollbacks_total',
      help: 'Times indexed blocks were undone',
      labelNames: ['why'],
      registers,
    });
    // From 0 on: a series that begins at 1 is no increase to an alert.
    for (const why of REASONS) this.rollbacks.inc({ why }, 0);
    this.rollbackDepth = gauge('lowmark_index_rollback_depth_blocks', 'Blocks undone last time');
    this.stalls = counter('lowmark_index_stalls_total', 'Times the watchdog restarted the loop');
    new Gauge({
      name: 'lowmark_index_lag_seconds',
      help: 'Age of the newest indexed block; 0 while another indexer leads, and before there is a block',
      registers,
      collect() {
        this.set(status.phase === 'standby' ? 0 : (status.lagSeconds(nowMs()) ?? 0));
      },
    });
  }

  applied(answer: RangeAnswer, changes: number): void {
    this.events.inc(answer.events);
    this.changes.inc(changes);
  }

  level(status: IndexStatus): void {
    this.head.set(Number(status.head?.number ?? 0n));
    this.chainHead.set(Number(status.chainHeadNumber ?? 0n));
    this.finalised.set(Number(status.finalised?.number ?? 0n));
    this.verified.set(Number(status.verifiedNumber ?? 0n));
    this.isHalted.set(status.phase === 'halted' ? 1 : 0);
  }

  rolledBack(why: (typeof REASONS)[number], depth: number): void {
    this.rollbacks.inc({ why });
    this.rollbackDepth.set(depth);
  }

  halted(): void {
    this.isHalted.set(1);
  }

  stalled(): void {
    this.stalls.inc();
  }
}
