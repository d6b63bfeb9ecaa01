/** What is to be done about a publication, by what the registry holds; pure. */
import { type RegistryEntry, type SlotSight } from '#libs/chain';
import { type Publication } from '#libs/db';
import { type Address } from '#libs/domain';

export type PublicationStep =
  /** A final block holds it. */
  | 'final'
  /** A final block holds something else, which is for ever. */
  | 'different'
  /** The newest block holds it. */
  | 'mined'
  /** The newest block holds something else, which may go away with it. */
  | 'wait'
  | 'sign'
  /** Nothing of it can count any more: it needs another nonce, or another key. */
  | 'unsigned'
  | 'send'
  /** Under the same nonce, for more. */
  | 'replace';

export interface StepRules {
  readonly account: Address;
  /** How many transactions of the account final blocks hold. */
  readonly finalNonce: number;
  readonly replaceMs: number;
  readonly nowMs: number;
}

export function stepOf(
  publication: Publication,
  { final, latest }: SlotSight,
  rules: StepRules,
): PublicationStep {
  const isIt = (entry: RegistryEntry): boolean =>
    entry.root === publication.root && entry.lastDay === publication.lastDay;
  if (final !== undefined) return isIt(final) ? 'final' : 'different';
  const held = latest.filter((entry) => entry !== undefined);
  // By the word of one node is enough: nothing is sent for it, and it is not final.
  if (held.length > 0) return held.every(isIt) ? 'mined' : 'wait';
  const { sender, transaction, status } = publication;
  if (sender === undefined) return status === 'mined' ? 'unsigned' : 'sign';
  if (sender.account !== rules.account || rules.finalNonce > sender.nonce) return 'unsigned';
  if (transaction?.root !== publication.root) return 'replace';
  const isStuck = rules.nowMs - transaction.signedAt.getTime() >= rules.replaceMs;
  return isStuck ? 'replace' : 'send';
}

/** What a node takes in the place of a transaction: an eighth more, the most that nodes ask for. */
export function leastReplacement(gasPrice: bigint): bigint {
  return gasPrice + gasPrice / 8n + 1n;
}

/**
 * The price of a replacement.
 * @param going what would be signed now
 * @returns undefined where the cap leaves no room for one that a node would take
 */
export function replacementPrice(before: bigint, going: bigint, cap: bigint): bigint | undefined {
  const least = leastReplacement(before);
  if (least > cap) return undefined;
  const wanted = (before * 3n) / 2n;
  const price = [going, wanted, least].reduce((one, other) => (one > other ? one : other));
  return price < cap ? price : cap;
}
