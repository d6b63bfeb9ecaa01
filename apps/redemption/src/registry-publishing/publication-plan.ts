/**
 * Decides which days are published, by which root and when, and the next step of a publication, from what the registry
 * holds. Pure: the hash function is an argument.
 */
import { type RegistryEntry, type SlotContents } from '#libs/chain';
import {
  type Publication,
  type PublicationContent,
  type PublishableDay,
  type SealedRange,
} from '#libs/db';
import {
  type Address,
  buildPeriodTree,
  type Keccak256,
  type NodeHash,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { type RegistryPeriod } from './registry.env.js';

export interface PlanRules {
  readonly period: RegistryPeriod;
  readonly delayMs: number;
  readonly nowMs: number;
}

/** Days that are read for a plan: two months. */
export const DAYS_PLANNED = 62;

/**
 * The publications that are possible from day `first` on, without a gap: single days, or whole months, of which the
 * first may begin after its first day.
 */
export function planFrom(
  first: number,
  { days, recheckFrom }: SealedRange,
  rules: PlanRules,
  keccak: Keccak256,
): PublicationContent[] {
  const ready: PublishableDay[] = [];
  for (const [place, day] of days.entries()) {
    if (day.day !== first + place || !isReady(day, recheckFrom, rules)) break;
    ready.push(day);
  }
  const slots: PublicationContent[] = [];
  let from = 0;
  while (from < ready.length) {
    const day = first + from;
    const count = rules.period === 'day' ? 1 : lastOfMonth(day) - day + 1;
    const some = ready.slice(from, from + count);
    if (some.length < count) break;
    slots.push(contentOf(rules.period === 'day' ? 'day' : 'period', some, keccak));
    from += count;
  }
  return slots;
}

/**
 * The content that a publication would have now.
 * @returns undefined where one of its days is not sealed, was sealed too recently, or is being worked out again: the
 *   publication waits
 */
export function currentContent(
  { kind, firstDay, lastDay }: Pick<PublicationContent, 'kind' | 'firstDay' | 'lastDay'>,
  { days, recheckFrom }: SealedRange,
  rules: PlanRules,
  keccak: Keccak256,
): PublicationContent | undefined {
  const its = days.filter(({ day }) => day >= firstDay && day <= lastDay);
  const isWhole = its.length === lastDay - firstDay + 1;
  if (!isWhole || !its.every((day) => isReady(day, recheckFrom, rules))) return undefined;
  return contentOf(kind, its, keccak);
}

function isReady(
  { day, sealedAt }: PublishableDay,
  recheckFrom: number | undefined,
  { nowMs, delayMs }: PlanRules,
): boolean {
  const isRechecked = recheckFrom !== undefined && day >= recheckFrom;
  return !isRechecked && sealedAt.getTime() + delayMs <= nowMs;
}

/** @param days at least one, without a gap */
function contentOf(
  kind: PublicationContent['kind'],
  days: readonly PublishableDay[],
  keccak: Keccak256,
): PublicationContent {
  const [first] = days as [PublishableDay];
  const root: NodeHash = kind === 'day' ? first.root : buildPeriodTree(days, keccak).root;
  const revisions = days.map(({ revision }) => revision);
  return { kind, firstDay: first.day, lastDay: first.day + days.length - 1, revisions, root };
}

function lastOfMonth(day: number): number {
  const date = new Date(day * SECONDS_PER_DAY * 1000);
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return next / 1000 / SECONDS_PER_DAY - 1;
}

export type PublicationStep =
  /** A final block holds the publication. */
  | 'final'
  /** A final block holds another root or last day, which can never be changed. */
  | 'different'
  /** The newest block of an endpoint holds the publication. */
  | 'mined'
  /** The newest block of an endpoint holds another root or last day, which a reorganisation may remove. */
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
  { final, latest }: SlotContents,
  rules: StepRules,
): PublicationStep {
  const isSameRoot = (entry: RegistryEntry): boolean =>
    entry.root === publication.root && entry.lastDay === publication.lastDay;
  if (final !== undefined) return isSameRoot(final) ? 'final' : 'different';
  const held = latest.filter((entry) => entry !== undefined);
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
