/** What the partner has told the operator, which no call can verify. Each of them is final. */
import { type Redemption } from '#libs/domain';
import { type OperatorEvent } from './operate.js';

const FINAL = 'This is final: nothing takes it back.';

export interface Resolution {
  /** As the audit has it. */
  readonly as: 'restored-out-of-band' | 'not-deducted' | 'settled-by-hand';
  readonly event: OperatorEvent;
  readonly title: string;
  /** What a person is told before it is done. */
  readonly consequence: (redemption: Redemption) => string;
}

export const RESTORED_OUT_OF_BAND: Resolution = {
  as: 'restored-out-of-band',
  event: { type: 'operator-restored' },
  title: 'The partner has given the points back by hand',
  consequence: ({ id, points, wallet }) =>
    `Redemption ${id} ends as reverted: the partner has given ${points.toString()} points back to ${wallet} by hand. ${FINAL}`,
};

export const NOT_DEDUCTED: Resolution = {
  as: 'not-deducted',
  event: { type: 'operator-not-deducted' },
  title: 'The partner has searched its books: no points were taken',
  consequence: ({ id, points, wallet }) =>
    `Redemption ${id} ends as failed: the partner has never taken ${points.toString()} points from ${wallet}. ${FINAL}`,
};

export const SETTLED_BY_HAND: Resolution = {
  as: 'settled-by-hand',
  event: { type: 'operator-settled' },
  title: 'Settled with the partner by hand',
  consequence: ({ id, points, wallet }) =>
    `Redemption ${id} stays as it is and needs no person any more: ${wallet} has the tokens, and what became of its ${points.toString()} points is settled with the partner. ${FINAL}`,
};

export const LONGEST_NOTE = 255;

/** Whether the audit takes this as the note of a settlement: one line that is not empty. */
export function isSettlementNote(text: string): boolean {
  return text.trim() !== '' && text.length <= LONGEST_NOTE && !/\p{Cc}/u.test(text);
}
