import { UnexpectedAnswerError } from './errors.js';
import {
  type AskedSnapshots,
  isObject,
  type Json,
  lastDayOf,
  namesRequest,
  readSnapshots,
  requireContractOf,
  type StakingSnapshots,
} from './snapshots.js';

export const MAX_BATCH = 1000;

/** The request; wallets and contract in lower case, each wallet once. */
export interface AskedBatch extends Omit<AskedSnapshots, 'wallet'> {
  readonly wallets: readonly string[];
}

/** Snapshots by wallet in lower case, in the order of the request; undefined for a wallet that never staked. */
export type SnapshotsByWallet = ReadonlyMap<string, StakingSnapshots | undefined>;

/**
 * Compares a verified body with the request. The signature does not cover the request, so an answer to another batch
 * would verify as well.
 * @throws UnexpectedAnswerError
 */
export function readBatch(body: unknown, { wallets, ...asked }: AskedBatch): SnapshotsByWallet {
  if (!isObject(body)) throw new UnexpectedAnswerError('it is not a JSON object');
  requireContractOf(body, asked);
  const { results, lastDays, endDay } = body;
  const lastDay = lastDayOf(body, asked);
  if (lastDays !== asked.lastDays || endDay !== lastDay) {
    throw new UnexpectedAnswerError(`it is not of the ${asked.lastDays} days up to ${lastDay}`);
  }
  if (!Array.isArray(results) || results.length !== wallets.length) {
    throw new UnexpectedAnswerError(`results are not those of ${wallets.length} wallets`);
  }
  return new Map(
    wallets.map((wallet, place) => {
      const result: Json = isObject(results[place]) ? results[place] : {};
      if (result['walletAddress'] !== wallet || result['index'] !== place) {
        throw new UnexpectedAnswerError(`result ${place} is not that of ${wallet}`);
      }
      return [wallet, readResult(result, { wallet, ...asked, endDay: lastDay })];
    }),
  );
}

/** @param asked with the day that the batch as a whole names, which each of its results has to end with */
function readResult(result: Json, asked: AskedSnapshots): StakingSnapshots | undefined {
  const { status, body } = result;
  if (status === 200) return readSnapshots(body, asked);
  const { code, message } = isObject(body) ? body : {};
  const isNone = typeof code === 'string' && typeof message === 'string';
  if (status === 404 && isNone && namesRequest({ code, message }, asked)) return undefined;
  throw new UnexpectedAnswerError(`the result of ${asked.wallet} has status ${String(status)}`);
}
