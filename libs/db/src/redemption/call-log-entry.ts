import { type UuidV7 } from '#libs/domain';

/** How a call ended. */
export interface CallEnd {
  readonly requestId: UuidV7;
  /** In one word: `answer`, `no-answer`, `nothing-sent`. */
  readonly outcome: string;
  /** Plain JSON, bounded (32 KiB) and redacted by whoever made the call. */
  readonly record: object;
}

/** One call in the log. */
export interface LoggedCall {
  readonly requestId: UuidV7;
  readonly step: string;
  readonly begunAt: Date;
  /** Null while it is under way, and for ever where its end was never learnt. */
  readonly end: { readonly at: Date; readonly outcome: string; readonly record: object } | null;
}
