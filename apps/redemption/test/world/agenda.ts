/** An event of the simulation and its time. */
export interface AgendaItem {
  readonly atMs: number;
  readonly what: () => Promise<void> | void;
}

const STEP_MS = 5000;

export class Agenda {
  private readonly items: AgendaItem[] = [];

  get nextMs(): number {
    return this.items[0]?.atMs ?? Infinity;
  }

  get size(): number {
    return this.items.length;
  }

  /**
   * Schedules at the next full step of time, where the exact time does not matter, so that events of one step share a
   * round.
   */
  add(atMs: number, what: AgendaItem['what']): void {
    this.addExactly(Math.ceil(atMs / STEP_MS) * STEP_MS, what);
  }

  addExactly(atMs: number, what: AgendaItem['what']): void {
    const after = this.items.findIndex((item) => item.atMs > atMs);
    this.items.splice(after === -1 ? this.items.length : after, 0, { atMs, what });
  }

  /** Removes and returns what is due, in order. */
  take(nowMs: number): AgendaItem[] {
    const first = this.items.findIndex((item) => item.atMs > nowMs);
    return this.items.splice(0, first === -1 ? this.items.length : first);
  }
}
