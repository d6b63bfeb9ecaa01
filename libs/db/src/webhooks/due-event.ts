/** An event whose lane is leased. */
export interface DueEvent {
  readonly sequence: bigint;
  readonly id: string;
  readonly subscription: string;
  readonly orderKey: string;
  readonly type: string;
  /** Canonical JSON: the bytes to send and sign, the same at each attempt. */
  readonly payload: string;
  readonly waitingSince: Date;
  /** Since then. */
  readonly attempts: number;
  readonly url: string;
  /** Those that are good, sealed; the newest first. */
  readonly secrets: readonly Buffer[];
}
