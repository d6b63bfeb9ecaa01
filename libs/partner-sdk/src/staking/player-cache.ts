import { type Clock } from '../clock.js';

interface Entry<T> {
  readonly value: Promise<T>;
  readonly untilMs: number;
}

const MAX_ENTRIES = 10_000;

/**
 * Caches answers for a player's session. Concurrent requests with one key share one load; a failed load is not cached.
 */
export class PlayerCache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly keepSeconds: number,
    private readonly clock: Clock,
  ) {}

  get(key: string, load: () => Promise<T>): Promise<T> {
    const nowMs = this.clock.nowMs();
    const found = this.entries.get(key);
    if (found !== undefined && nowMs < found.untilMs) return found.value;
    this.entries.delete(key);
    const entry = { value: load(), untilMs: nowMs + this.keepSeconds * 1000 };
    this.entries.set(key, entry);
    this.makeRoom();
    entry.value.catch(() => {
      if (this.entries.get(key) === entry) this.entries.delete(key);
    });
    return entry.value;
  }

  /** Removes the oldest entries. All entries live equally long, so the oldest would expire first. */
  private makeRoom(): void {
    for (const key of this.entries.keys()) {
      if (this.entries.size <= MAX_ENTRIES) return;
      this.entries.delete(key);
    }
  }
}
