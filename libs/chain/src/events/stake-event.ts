/** What an event of a stake contract means, in the form the decoder works with. Plain data: part of the settings' fingerprint. */
import { PermanentError } from '#libs/domain';

export type StakeEffect = 'increase' | 'decrease' | 'transfer';

/** Where a field of an event lies: the topic of that index (1 to 3), or the 32-byte word of the data. */
export type FieldSlot =
  { readonly in: 'topic'; readonly index: number } | { readonly in: 'data'; readonly word: number };

/** A field, or for every event the same: 64 lower-case hex digits. */
export type AmountSlot = FieldSlot | { readonly in: 'constant'; readonly word: string };

/** The event counts only where the field holds this 32-byte word, 64 lower-case hex digits. */
export interface FieldCondition {
  readonly slot: FieldSlot;
  readonly word: string;
}

export interface StakeEventSpec {
  /** With the types only, as it is hashed: `Staked(address,uint256)`. */
  readonly signature: string;
  /** keccak256 of the signature, lower case. */
  readonly topic0: string;
  /** topic0 included. */
  readonly topics: number;
  /** The fewest 32-byte words that the data must hold. */
  readonly dataWords: number;
  readonly effect: StakeEffect;
  /** Whose stake changes; for a transfer, who gives. */
  readonly account: FieldSlot;
  /** For a transfer, who receives. */
  readonly receiver?: FieldSlot;
  readonly amount: AmountSlot;
  readonly where: readonly FieldCondition[];
}

/** STAKE_EVENTS cannot be used as it stands. */
export class StakeEventsError extends PermanentError {
  constructor(where: string, reason: string) {
    super('STAKE_EVENTS_INVALID', `${where}: ${reason}`);
  }
}
