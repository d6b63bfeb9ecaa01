/** The lead over the index, for whatever only one process at a time may do. */
export interface Lead {
  /** Writes under it are refused once another process leads. */
  readonly fence: bigint;
  /** Aborted when the lead ends. */
  readonly signal: AbortSignal;
}
