import { type BodyParts } from './snapshot-body.js';
import { type TokenFacts } from './snapshot.js';

/** What an answer takes from its wallet's rows, and how long that holds. */
export interface KeptPart {
  /** Days since 1970-01-01 UTC, exclusive. */
  readonly endDay: number;
  /** Of the index; see `versionOf`. */
  readonly version: string;
  /** For `walletDaysFrom`; undefined where the wallet never staked. */
  readonly daysText: string | undefined;
  /** The newest answer made of it. */
  rendered?: RenderedSnapshot;
}

/** An answer without its time, and what it was made of beside the part of its wallet. */
export interface RenderedSnapshot {
  readonly lastDays: number;
  readonly facts: TokenFacts;
  /** US dollars for one token; undefined without a fresh price. */
  readonly usd: string | undefined;
  readonly body: BodyParts;
}
