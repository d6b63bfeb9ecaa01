/** Reads sealed days from answers of the service and compares them with the request. */
import { UnexpectedAnswerError } from './errors.js';
import { type DayLeaf, provenLow } from './day-proof.js';
import { deepFreeze, isObject, type Json, requireContractOf } from './snapshots.js';

/** A final UTC day: a Merkle root over the low-water marks of all wallets, which never changes. */
export interface SealedDay {
  /** Such as `2026-11-20`. */
  readonly day: string;
  /** From 1 on. Where the day is computed again with another result, a new revision replaces the one before. */
  readonly revision: number;
  /** `0x` and 64 lower-case hex digits, like all hashes. */
  readonly root: string;
  /** The root of the previous revision; absent in the first one. */
  readonly previousRoot?: string;
  /** Number of wallets with a low-water mark above zero. */
  readonly wallets: number;
  /** The sum of the low-water marks: a whole number in the token's smallest unit. */
  readonly total: string;
  /** Number of the last block of the day. */
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The version of the service that sealed the day. */
  readonly software: string;
  readonly sealedAt: string;
  /** The staking contract; where the balances of several add up, the first of them. */
  readonly stakeContract: string;
  readonly chainId: number;
  readonly tokenDecimals: number;
  /** The requested contract, in lower case; absent where the request named none. */
  readonly contract?: string;
}

/** The lowest balance of a wallet on a day, with the verified proof that leads to the root of the day. */
export interface WalletDay {
  readonly day: SealedDay;
  /** In lower case. */
  readonly walletAddress: string;
  /** A whole number in the token's smallest unit, for `BigInt`; `0` where the wallet has no leaf of its own. */
  readonly low: string;
  /** The wallet's own leaf, or else the leaf that encloses the wallet between its `wallet` and `next`. */
  readonly leaf: DayLeaf;
  readonly proof: readonly string[];
}

/** The request; the contract in lower case. */
export interface AskedDay {
  readonly day: string;
  readonly contract: string | undefined;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const HASH = /^0x[0-9a-f]{64}$/;
const AMOUNT = /^(?:0|[1-9]\d*)$/;

export function isDay(text: unknown): text is string {
  if (typeof text !== 'string' || !DAY.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** @throws UnexpectedAnswerError */
export function readDay(body: unknown, { day, contract }: AskedDay): SealedDay {
  const answer = requireObject(body);
  const sealed = sealedDayOf(answer['day'], setOf(answer, contract));
  if (sealed.day !== day) throw new UnexpectedAnswerError(`it is not of ${day}`);
  return sealed;
}

/** @returns days, the newest first, and `before` of the next page @throws UnexpectedAnswerError */
export function readDays(
  body: unknown,
  asked: {
    readonly before: string | undefined;
    readonly limit: number;
    readonly contract: string | undefined;
  },
): { readonly days: SealedDay[]; readonly next: string | undefined } {
  const answer = requireObject(body);
  const { days: entries, next } = answer;
  if (!Array.isArray(entries) || entries.length > asked.limit) {
    throw new UnexpectedAnswerError(`days are not at most ${asked.limit}`);
  }
  const set = setOf(answer, asked.contract);
  if (answer['before'] !== asked.before) {
    throw new UnexpectedAnswerError('before is not the one that was asked for');
  }
  const days = (entries as unknown[]).map((entry) => sealedDayOf(entry, set));
  let { before } = asked;
  for (const { day } of days) {
    if (before !== undefined && day >= before) {
      throw new UnexpectedAnswerError(`${day} does not lie before ${before}`);
    }
    before = day;
  }
  if (next === undefined) return { days, next };
  // Only a full page has one after it. `next` is earlier than `before`, so that going from page to page comes to an end.
  if (days.length === asked.limit && next === before) return { days, next: before };
  throw new UnexpectedAnswerError(`next is not the last of ${asked.limit} days`);
}

/**
 * @param root the root to which the proof must lead; undefined: the root of the answer @throws UnexpectedAnswerError
 */
export async function readProof(
  body: unknown,
  {
    wallet,
    root,
    ...asked
  }: AskedDay & { readonly wallet: string; readonly root: string | undefined },
): Promise<WalletDay> {
  const day = readDay(body, asked);
  const { walletAddress, low, leaf, proof } = requireObject(body);
  if (walletAddress !== wallet) {
    throw new UnexpectedAnswerError('walletAddress is not the wallet that was asked for');
  }
  if (root !== undefined && day.root !== root) {
    throw new UnexpectedAnswerError(`the root of ${day.day} is ${day.root}, not ${root}`);
  }
  if (!isLeaf(leaf) || !isTexts(proof)) throw new UnexpectedAnswerError('it has no proof');
  const proven = await provenLow(wallet, { root: day.root, leaf, proof });
  if (proven === undefined) {
    throw new UnexpectedAnswerError('its proof does not lead from the wallet to the root');
  }
  if (low !== String(proven)) throw new UnexpectedAnswerError('low is not what the proof says');
  return deepFreeze({ day, walletAddress: wallet, low: String(proven), leaf, proof });
}

type SetFields = Pick<SealedDay, 'stakeContract' | 'chainId' | 'tokenDecimals' | 'contract'>;

function setOf(answer: Json, contract: string | undefined): SetFields {
  const { stakeContract, chainId, tokenDecimals } = answer;
  const isSet = typeof stakeContract === 'string' && isCount(chainId) && isCount(tokenDecimals);
  if (!isSet) throw new UnexpectedAnswerError('it does not say which contract it is of');
  requireContractOf(answer, { contract });
  return { stakeContract, chainId, tokenDecimals, ...(contract !== undefined && { contract }) };
}

function sealedDayOf(entry: unknown, set: SetFields): SealedDay {
  const sealed = requireObject(entry);
  const { day, revision, root, wallets, total, blockNumber, blockHash } = sealed;
  const isSealed =
    isDay(day) &&
    [revision, wallets, blockNumber].every(isCount) &&
    [root, blockHash].every((hash) => typeof hash === 'string' && HASH.test(hash)) &&
    typeof total === 'string' &&
    AMOUNT.test(total);
  if (!isSealed) throw new UnexpectedAnswerError('a day is not a sealed day');
  // Keeps the day as received, with fields that the interface may add later.
  return deepFreeze({ ...sealed, ...set }) as unknown as SealedDay;
}

function requireObject(value: unknown): Json {
  if (isObject(value)) return value;
  throw new UnexpectedAnswerError('it is not a JSON object');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isLeaf(value: unknown): value is DayLeaf {
  return isObject(value) && isTexts([value['wallet'], value['low'], value['next']]);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
