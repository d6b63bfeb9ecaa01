/** Thrown to answer a call with a JSON-RPC error. */
export class ReplayFault extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.name = 'ReplayFault';
  }
}
