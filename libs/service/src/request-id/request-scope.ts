import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The request that the running code serves. Whatever it opens and leaves open (a connection of a pool) goes on in the scope, so
 * that it ends with the answer: what happens later is no longer of this request.
 */
export class RequestScope {
  private static readonly storage = new AsyncLocalStorage<RequestScope>();

  private isServed = false;

  constructor(private readonly requestId: string) {}

  /** Undefined outside of a request. */
  static currentId(): string | undefined {
    const scope = RequestScope.storage.getStore();
    return scope === undefined || scope.isServed ? undefined : scope.requestId;
  }

  run<T>(work: () => T): T {
    return RequestScope.storage.run(this, work);
  }

  end(): void {
    this.isServed = true;
  }
}

/** What the work logs carries the id of the request. */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return new RequestScope(requestId).run(work);
}
