import { UnexpectedAnswerError } from './errors.js';
import { requestedAtOf } from './requested-at.js';
import {
  type AskedOfWallet,
  deepFreeze,
  isObject,
  type Json,
  requireContractOf,
  requireTexts,
} from './snapshots.js';

/** A time without a change of the balance: from the block that set the balance to the block that changed it next. */
export interface StakingInterval {
  /** The block at whose end the balance is first in force. */
  readonly fromBlock: number;
  /** The time of `fromBlock`, ISO 8601. */
  readonly from: string;
  /** The block that changed the balance next, exclusive; absent for the current balance. */
  readonly toBlock?: number;
  /** The time of `toBlock`, ISO 8601; absent for the current balance. */
  readonly to?: string;
  /** In token units. */
  readonly stakedAmount: number;
}

/** A page of a wallet's history. */
export interface StakingHistory {
  /** In lower case. */
  readonly walletAddress: string;
  readonly requestedAt: string;
  readonly tokenSymbol: string;
  readonly tokenContract: string;
  readonly stakeContract: string;
  readonly contract?: string;
  readonly chainId?: number;
  /** `after` of the request; absent on the first page. */
  readonly after?: number;
  /** Oldest first. */
  readonly intervals: readonly StakingInterval[];
  /** `after` of the next page; absent on the last page. */
  readonly next?: number;
}

/** The request; wallet and contract in lower case. */
export interface AskedHistory extends AskedOfWallet {
  readonly after: number | undefined;
  readonly limit: number;
}

/** Compares a verified body with the request, as `readSnapshots` does. @throws UnexpectedAnswerError */
export function readHistory(body: unknown, asked: AskedHistory): StakingHistory {
  if (!isObject(body)) throw new UnexpectedAnswerError('it is not a JSON object');
  if (body['walletAddress'] !== asked.wallet) {
    throw new UnexpectedAnswerError('walletAddress is not the wallet that was asked for');
  }
  requireContractOf(body, asked);
  requireTexts(body);
  requestedAtOf(body);
  if (body['after'] !== asked.after) {
    throw new UnexpectedAnswerError('after is not the one that was asked for');
  }
  requirePage(body, asked);
  return deepFreeze({ ...body }) as unknown as StakingHistory;
}

function requirePage({ intervals, next }: Json, { after = -1, limit }: AskedHistory): void {
  if (!Array.isArray(intervals) || intervals.length > limit) {
    throw new UnexpectedAnswerError(`intervals are not at most ${limit}`);
  }
  let last = after;
  let end: Json | undefined;
  for (const interval of intervals as unknown[]) {
    const read = requireInterval(interval, last);
    // Each interval begins where the one before it ended.
    if (end !== undefined && (end['toBlock'] !== read.fromBlock || end['to'] !== read.from)) {
      throw new UnexpectedAnswerError('intervals do not follow each other');
    }
    last = read.fromBlock;
    end = interval as Json;
  }
  // Only the current balance has no end, and only a full page has one after it.
  const isPage =
    next === undefined
      ? end?.['toBlock'] === undefined
      : next === last && intervals.length === limit && end?.['toBlock'] !== undefined;
  if (!isPage) throw new UnexpectedAnswerError(`next is not that of a page of ${limit}`);
}

function requireInterval(
  interval: unknown,
  before: number,
): Pick<StakingInterval, 'fromBlock' | 'from'> {
  const { fromBlock, from, stakedAmount }: Json = isObject(interval) ? interval : {};
  if (!Number.isSafeInteger(fromBlock) || (fromBlock as number) <= before) {
    throw new UnexpectedAnswerError('intervals do not follow each other');
  }
  if (typeof from !== 'string' || Number.isNaN(Date.parse(from))) {
    throw new UnexpectedAnswerError('from of an interval is not a time');
  }
  if (typeof stakedAmount !== 'number' || !(stakedAmount >= 0)) {
    throw new UnexpectedAnswerError('stakedAmount is no number from 0 on');
  }
  return { fromBlock: fromBlock as number, from };
}
