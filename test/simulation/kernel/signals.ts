/**
 * AbortController for the length of a world: the same order of events as Node's, without its weak references and
 * finalizers, which cost a tenth of a run.
 */
type Listener = ((event: Event) => void) | { handleEvent(event: Event): void };

/** Made when it is read, since most are not. */
type Reason = () => unknown;

export class PlainSignal {
  aborted = false;
  private reasonOf: Reason = () => undefined;
  private readonly listeners = new Set<Listener>();
  private readonly dependants = new Set<PlainSignal>();

  static any(signals: Iterable<PlainSignal>): PlainSignal {
    const result = new PlainSignal();
    const sources = [...signals];
    const aborted = sources.find((one) => one.aborted);
    if (aborted !== undefined) {
      result.aborted = true;
      result.reasonOf = aborted.reasonOf;
      return result;
    }
    for (const source of sources) source.dependants.add(result);
    return result;
  }

  get reason(): unknown {
    return this.reasonOf();
  }

  addEventListener(type: string, listener: Listener): void {
    if (type === 'abort' && !this.aborted) this.listeners.add(listener);
  }

  removeEventListener(_type: string, listener: Listener): void {
    this.listeners.delete(listener);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** All that depend on the signal are aborted before the first listener runs. */
  abort(reason: Reason): void {
    for (const signal of this.mark(reason)) signal.fire();
  }

  private mark(reason: Reason): PlainSignal[] {
    if (this.aborted) return [];
    this.aborted = true;
    this.reasonOf = reason;
    if (this.dependants.size === 0) return [this];
    return [this, ...[...this.dependants].flatMap((one) => one.mark(reason))];
  }

  private fire(): void {
    const event = { type: 'abort', target: this } as unknown as Event;
    for (const listener of this.listeners) {
      this.listeners.delete(listener);
      if (typeof listener === 'function') listener(event);
      else listener.handleEvent(event);
    }
  }
}

export class PlainController {
  readonly signal = new PlainSignal();

  abort(reason?: unknown): void {
    if (reason !== undefined) {
      this.signal.abort(() => reason);
      return;
    }
    let made: unknown;
    this.signal.abort(
      () => (made ??= new DOMException('This operation was aborted', 'AbortError')),
    );
  }
}
