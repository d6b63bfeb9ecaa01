/** The hints that there may be work, and the sweeps of each second, without the seconds in which nothing is due. */
import { type HintSource } from '../../../apps/redemption/src/worker/engine.js';
import { type SimulatedProcess } from '../kernel/index.js';
import { type WorldState } from './world-state.js';

type HintListener = Parameters<HintSource['start']>[0];

const HINT_AGAIN_MS = 1_000;

export class Hints {
  private readonly listeners = new Set<{ listener: HintListener; process: SimulatedProcess }>();
  private hintTimer: { readonly timer: NodeJS.Timeout; readonly atMs: number } | undefined;
  private lastHintMs = 0;

  constructor(private readonly world: WorldState) {
    world.ledger.onHint = () => {
      this.hint();
    };
  }

  /** The hints of one process. */
  sourceOf(process: () => SimulatedProcess): HintSource {
    let isListening = false;
    return {
      start: (listener) => {
        if (!isListening) this.listeners.add({ listener, process: process() });
        isListening = true;
        return Promise.resolve();
      },
      stop: () => Promise.resolve(),
    };
  }

  /** As NOTIFY: all that listen look for work. */
  hint(): void {
    this.lastHintMs = this.world.scheduler.nowMs();
    for (const one of this.listeners) {
      if (one.process.isAlive) this.world.scheduler.within(one.process, one.listener.onHint);
      else this.listeners.delete(one);
    }
  }

  /** The sweep of each second, without the seconds in which nothing is due. */
  hintWhenDue(): void {
    const nowMs = this.world.scheduler.nowMs();
    // By the clock that is ahead of the others.
    const aheadMs = Math.max(...this.world.plan.clocks.workersMs);
    let dueMs = Infinity;
    const see = (atMs: number | null, untilMs: number): void => {
      if (atMs !== null) dueMs = Math.min(dueMs, Math.max(atMs - aheadMs, untilMs));
    };
    for (const { redemption, lease } of this.world.ledger.tables.redemptions.values()) {
      see(redemption.nextActionAtMs, this.freeMs(lease));
    }
    for (const { delivery, lease } of this.world.ledger.tables.deliveries.values()) {
      see(delivery.nextActionAtMs, this.freeMs(lease));
    }
    if (dueMs === Infinity) return;
    const atMs = Math.max(dueMs, this.lastHintMs + HINT_AGAIN_MS, nowMs + 1);
    if (
      this.hintTimer !== undefined &&
      this.hintTimer.atMs <= atMs &&
      this.hintTimer.atMs > nowMs
    ) {
      return;
    }
    clearTimeout(this.hintTimer?.timer);
    const timer = setTimeout(() => {
      this.hintTimer = undefined;
      this.hint();
    }, atMs - nowMs);
    this.hintTimer = { timer, atMs };
  }

  /** When a lease ends, by the clock of the world. */
  private freeMs(lease: { readonly untilMs: number } | null): number {
    return lease === null ? 0 : lease.untilMs - this.world.plan.clocks.databaseMs;
  }
}
