import { UnexpectedAnswerError } from './errors.js';
import {
  type AskedSnapshots,
  namesRequest,
  isObject,
  readSnapshots,
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
  const results = isObject(body) ? body['results'] : undefined;
  if (!Array.isArray(results) || results.length !== wallets.length) {
    throw new UnexpectedAnswerError(`results are not those of ${wallets.length} wallets`);
  }
  return new Map(
    wallets.map((wallet, place) => [wallet, readResult(results[place], { wallet, ...asked })]),
  );
}

function readResult(result: unknown, asked: AskedSnapshots): StakingSnapshots | undefined {
  const { status, walletAddress, body } = isObject(result) ? result : {};
  if (walletAddress !== asked.wallet) {
    throw new UnexpectedAnswerError(`a result is not that of ${asked.wallet}`);
  }
  if (status === 200) return readSnapshots(body, asked);
  const { code, message } = isObject(body) ? body : {};
  const isNone = typeof code === 'string' && typeof message === 'string';
  if (status === 404 && isNone && namesRequest({ code, message }, asked)) return undefined;
  throw new UnexpectedAnswerError(`the result of ${asked.wallet} has status ${String(status)}`);
}
