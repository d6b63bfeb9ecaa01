/** Remembers which calls were here. With several replicas it must be shared: a table with the id as its key, or Redis `SET … NX`. */
export interface ReplayStore {
  /**
   * Remembers the id for twice the freshness window (600 s), in one step that only the first of equal ids wins.
   * @param requestId a UUID in lower case
   * @returns false where it is remembered already
   */
  firstUse(requestId: string, nowMs: number): Promise<boolean>;
}

/** For one process. Only authentic calls get here, so its size is what the service sends in ten minutes. */
export class MemoryReplayStore implements ReplayStore {
  private readonly seenAtMs = new Map<string, number>();

  constructor(private readonly rememberSeconds = 600) {}

  firstUse(requestId: string, nowMs: number): Promise<boolean> {
    // In the order they came, so the oldest are in front.
    for (const [id, seenAtMs] of this.seenAtMs) {
      if (seenAtMs >= nowMs - this.rememberSeconds * 1000) break;
      this.seenAtMs.delete(id);
    }
    if (this.seenAtMs.has(requestId)) return Promise.resolve(false);
    this.seenAtMs.set(requestId, nowMs);
    return Promise.resolve(true);
  }
}
