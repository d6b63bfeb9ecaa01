/** Where the fields of an event lie in its logs, and what the event means. */
import { toEventSelector } from 'viem/utils';
import { headWords, isValue, parseItem, StakeEventsError } from './abi-notation.js';

export interface AbiField {
  readonly name: string;
  /** The canonical type: `uint256` for `uint`. */
  readonly type: string;
  /** Undefined where the log holds only a hash or an offset of the value. */
  readonly slot: FieldSlot | undefined;
}

interface AbiEventLayout {
  readonly signature: string;
  readonly topic0: string;
  readonly topics: number;
  readonly dataWords: number;
  readonly fields: readonly AbiField[];
}

/** @throws StakeEventsError with the reason */
export function parseEventLayout(text: string, where: string): AbiEventLayout {
  if (/\banonymous\s*;?\s*$/.test(text)) {
    throw new StakeEventsError(where, 'an anonymous event cannot be told from others');
  }
  const { signature, inputs } = parseItem(text, 'event', where);
  const topics = 1 + inputs.filter(({ indexed }) => indexed).length;
  if (topics > 4) throw new StakeEventsError(where, 'an event has at most three indexed fields');
  let topic = 1;
  let word = 0;
  const fields = inputs.map((input): AbiField => {
    const { name = '', type } = input;
    const slot: FieldSlot = input.indexed ? { in: 'topic', index: topic++ } : { in: 'data', word };
    if (!input.indexed) word += headWords(input);
    return { name, type, slot: isValue(type) ? slot : undefined };
  });
  return { signature, topic0: toEventSelector(signature), topics, dataWords: word, fields };
}

export type StakeEffect = 'increase' | 'decrease' | 'transfer';

/** The place of a field in an event: the topic of this index (1 to 3), or this 32-byte word of the data. */
export type FieldSlot =
  { readonly in: 'topic'; readonly index: number } | { readonly in: 'data'; readonly word: number };

/** A field, or the same amount for every event: 64 lower-case hex digits. */
export type AmountSlot = FieldSlot | { readonly in: 'constant'; readonly word: string };

/** The event counts only where the field holds `word`: 64 lower-case hex digits. */
export interface FieldCondition {
  readonly slot: FieldSlot;
  readonly word: string;
}

/**
 * The meaning of an event of a stake contract, in the form that the decoder works with. Plain data, because it is part
 * of the settings' fingerprint.
 */
export interface StakeEventSpec {
  /** The name with the types only, as hashed: `Staked(address,uint256)`. */
  readonly signature: string;
  /** keccak256 of the signature, lower case. */
  readonly topic0: string;
  /** Number of topics, including topic0. */
  readonly topics: number;
  /** Number of 32-byte words that the data must hold at least. */
  readonly dataWords: number;
  readonly effect: StakeEffect;
  /** The wallet whose stake changes; for a transfer, the sender. */
  readonly account: FieldSlot;
  /** For a transfer, the receiver. */
  readonly receiver?: FieldSlot;
  readonly amount: AmountSlot;
  readonly where: readonly FieldCondition[];
}
