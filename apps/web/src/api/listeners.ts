/** Listeners to a change; `subscribe` has the form that `useSyncExternalStore` expects. */
export class Listeners {
  readonly #all = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  };

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  tell(): void {
    for (const listener of this.#all) listener();
  }
}
