import { type Unresolved } from '../run/undo.js';

/** What the run leaves behind at the partner. */
export interface Left {
  /** Points of the player; null where they could not be read. */
  readonly before: number | null;
  readonly after: number | null;
  readonly unresolved: readonly Unresolved[];
}

/** Where the balance is right, what was uncertain took nothing. */
export function explain(left: Left): Left {
  const { unresolved } = left;
  const certain = unresolved.filter(({ state }) => state !== 'uncertain');
  return isBalanced({ ...left, unresolved: certain }) ? { ...left, unresolved: certain } : left;
}

/** Points that are gone (or came) beyond what the confirmed claim costs. */
export function isShort(left: Left): boolean {
  const isStuck = left.unresolved.some(({ state }) => state !== 'claimed');
  return isStuck || !(isBalanced(left) || left.after === null);
}

function isBalanced({ before, after, unresolved }: Left): boolean {
  const gone = unresolved.reduce(
    (sum, { points, partnerTransactionIds: ids }) => sum + points * Math.max(1, ids.length),
    0,
  );
  return before !== null && after !== null && before - gone === after;
}
