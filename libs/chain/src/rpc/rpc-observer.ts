/** What the pool tells of its requests; the application turns it into metrics and logs. */
export interface RpcObserver {
  /** One HTTP request ended. */
  request(event: RpcRequestEvent): void;
  /** Something an operator should read; said once for each fault, not for each request. */
  warning(event: RpcWarning): void;
}

export interface RpcRequestEvent {
  readonly endpoint: string;
  /** The method of the first call of the batch. */
  readonly method: string;
  /** `ok`, or the error's code in lower case without `RPC_`: timeout, rate_limited, range_too_large, malformed_answer, … */
  readonly outcome: string;
  readonly seconds: number;
  readonly bytes: number;
}

export interface RpcWarning {
  readonly endpoint: string;
  readonly code: string;
  readonly message: string;
}

export const silentObserver: RpcObserver = {
  request: () => undefined,
  warning: () => undefined,
};
