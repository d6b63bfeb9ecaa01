/**
 * Decides which days are published, by which root and when, and the next step of a publication, from what the registry
 * holds. Pure.
 */
import { type HeldRoot } from '#libs/chain';
import {
  type Publication,
  type PublicationContent,
  type PublishableDay,
  type SealedRange,
} from '#libs/db';
import { type Address, type NodeHash } from '#libs/domain';

export interface PlanRules {
  readonly delayMs: number;
  readonly nowMs: number;
}

/** Days that are read for a plan. */
export const DAYS_PLANNED = 62;

/** The publications that are possible from day `first` on, without a gap. */
export function planFrom(
  first: number,
  { days, recheckFrom }: SealedRange,
  rules: PlanRules,
): PublicationContent[] {
  const plan: PublicationContent[] = [];
  for (const [place, sealed] of days.entries()) {
    if (sealed.day !== first + place || !isReady(sealed, recheckFrom, rules)) break;
    plan.push(contentOf(sealed));
  }
  return plan;
}

/**
 * The content that a publication would have now.
 * @returns undefined where the day is not sealed, was sealed too recently, or is being worked out again: the
 *   publication waits
 */
export function currentContent(
  day: number,
  { days, recheckFrom }: SealedRange,
  rules: PlanRules,
): PublicationContent | undefined {
  const sealed = days.find((one) => one.day === day);
  if (sealed === undefined || !isReady(sealed, recheckFrom, rules)) return undefined;
  return contentOf(sealed);
}

function isReady(
  { day, sealedAt }: PublishableDay,
  recheckFrom: number | undefined,
  { nowMs, delayMs }: PlanRules,
): boolean {
  const isRechecked = recheckFrom !== undefined && day >= recheckFrom;
  return !isRechecked && sealedAt.getTime() + delayMs <= nowMs;
}

function contentOf({ day, revision, root }: PublishableDay): PublicationContent {
  return { day, revision, root };
}

export type PublicationStep =
  /** A final block holds the publication. */
  | 'final'
  /** A final block holds another root, which can never be changed. */
  | 'different'
  /** The newest block of an endpoint holds the publication. */
  | 'mined'
  /** The newest block of an endpoint holds another root, which a reorganisation may remove. */
  | 'wait'
  | 'sign'
  /**
   * The stored transaction no longer counts: the publication is signed again, under another nonce or by another key.
   */
  | 'unsigned'
  | 'send'
  /** A transaction at a higher price, under the same nonce. */
  | 'replace';

export interface StepRules {
  readonly account: Address;
  /** Number of the account's transactions in final blocks. */
  readonly finalNonce: number;
  readonly replaceMs: number;
  readonly nowMs: number;
}

export function stepOf(
  publication: Publication,
  { final, latest }: HeldRoot,
  rules: StepRules,
): PublicationStep {
  const isSameRoot = (root: NodeHash): boolean => root === publication.root;
  if (final !== undefined) return isSameRoot(final) ? 'final' : 'different';
  const held = latest.filter((root) => root !== undefined);
  // The word of one node is enough: neither step sends a transaction, and neither is final.
  if (held.length > 0) return held.every(isSameRoot) ? 'mined' : 'wait';
  const { sender, transaction, status } = publication;
  if (sender === undefined) return status === 'mined' ? 'unsigned' : 'sign';
  if (sender.account !== rules.account || rules.finalNonce > sender.nonce) return 'unsigned';
  if (transaction?.root !== publication.root) return 'replace';
  const isStuck = rules.nowMs - transaction.signedAt.getTime() >= rules.replaceMs;
  return isStuck ? 'replace' : 'send';
}

/** The lowest gas price, in wei, at which nodes accept a replacement: they ask for an eighth more at most. */
export function leastReplacement(gasPrice: bigint): bigint {
  return gasPrice + gasPrice / 8n + 1n;
}

/**
 * The gas price of a replacement, in wei.
 * @param before price of the transaction that is replaced
 * @param going price at which a new transaction would be signed now
 * @returns undefined where the cap leaves no room for a price that nodes accept
 */
export function replacementPrice(before: bigint, going: bigint, cap: bigint): bigint | undefined {
  const least = leastReplacement(before);
  if (least > cap) return undefined;
  const wanted = (before * 3n) / 2n;
  const price = [going, wanted, least].reduce((one, other) => (one > other ? one : other));
  return price < cap ? price : cap;
}
