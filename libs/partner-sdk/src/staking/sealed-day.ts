import { UnexpectedAnswerError } from './errors.js';
import { deepFreeze, isObject, type Json } from './snapshots.js';

/** A UTC day whose low-water marks are committed to by a Merkle root. */
export interface SealedDay {
  /** Such as `2026-11-20`. */
  readonly day: string;
  /** Grows where a sealed day came out differently later. */
  readonly revision: number;
  readonly root: string;
  readonly previousRoot?: string;
  /** How many have a low above zero. */
  readonly wallets: number;
  /** The sum of their lows, in the smallest unit of the token. */
  readonly total: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly software: string;
  readonly sealedAt: string;
}

/** A sealed day, and whose it is. */
export interface SealedDayOfSet {
  readonly day: SealedDay;
  /** The staking contract; of several the first. */
  readonly stakeContract: string;
  readonly chainId: number;
  readonly tokenDecimals: number;
  /** Where a contract was asked for: that one, in lower case. */
  readonly contract?: string;
}

/** What was asked for, the contract in lower case. */
export interface AskedDay {
  readonly day: string;
  readonly contract: string | undefined;
}

const HASH = /^0x[0-9a-f]{64}$/;
const UNITS = /^(?:0|[1-9]\d{0,77})$/;
/** As many as a list can have. */
const MAX_WALLETS = 100_000_000;

/** Holds a verified text against what was asked: the query is not signed. @throws UnexpectedAnswerError */
export function readSealedDay(body: unknown, { day, contract }: AskedDay): SealedDayOfSet {
  const found: Json = isObject(body) ? body : {};
  const sealed: Json = isObject(found['day']) ? found['day'] : {};
  if (sealed['day'] !== day) throw new UnexpectedAnswerError(`it is not of ${day}`);
  if (found['contract'] !== contract) {
    throw new UnexpectedAnswerError('contract is not the one that was asked for');
  }
  const { root, wallets, total } = sealed;
  const isCount = Number.isInteger(wallets) && Number(wallets) >= 0;
  if (!isCount || Number(wallets) > MAX_WALLETS) {
    throw new UnexpectedAnswerError('wallets is no number of wallets');
  }
  if (typeof root !== 'string' || !HASH.test(root)) {
    throw new UnexpectedAnswerError('root is no hash');
  }
  if (typeof total !== 'string' || !UNITS.test(total)) {
    throw new UnexpectedAnswerError('total is no amount');
  }
  return deepFreeze({ ...found }) as unknown as SealedDayOfSet;
}
