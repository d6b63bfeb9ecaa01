/**
 * One run at a time, or one for each key: all who ask while it is under way get what it gives, or what it throws. Nothing is kept
 * after it.
 */
export class SingleFlight<T, K = void> {
  private readonly runs = new Map<K, Promise<T>>();

  /** @param work is not begun where a run is under way */
  run(work: () => Promise<T>, key: K): Promise<T> {
    const underWay = this.runs.get(key);
    if (underWay !== undefined) return underWay;
    const run = work().finally(() => {
      this.runs.delete(key);
    });
    this.runs.set(key, run);
    return run;
  }

  /** The run under way, if there is one. */
  underWay(key: K): Promise<T> | undefined {
    return this.runs.get(key);
  }
}
