import { parseAddress } from '../address.js';
import { UnexpectedAnswerError } from './errors.js';

/** One UTC day. */
export interface DailySnapshot {
  /** ISO 8601: the day's start, and its last millisecond. */
  readonly from: string;
  readonly to: string;
  /** The lowest staked balance of the day, in token units. */
  readonly snapshotAmount: number;
}

export interface StakingSnapshots {
  /** In lower case. */
  readonly walletAddress: string;
  /** ISO 8601. */
  readonly requestedAt: string;
  readonly tokenSymbol: string;
  readonly tokenContract: string;
  readonly stakeContract: string;
  /** Where a contract was asked for: that one, in lower case, and its chain. */
  readonly contract?: string;
  readonly chainId?: number;
  /** In token units: the sum of the days divided by their number. */
  readonly averageStakedAmount: number;
  /** Left out where the service has no fresh price. */
  readonly valueInUSD?: number;
  readonly exchangeRateToUSD?: number;
  /** Oldest first, as many as were asked for. */
  readonly stakingSnapshots: readonly DailySnapshot[];
}

/** What was asked for, wallet and contract in lower case. */
export interface AskedOfWallet {
  readonly wallet: string;
  readonly contract: string | undefined;
}

export interface AskedSnapshots extends AskedOfWallet {
  readonly lastDays: number;
  /** The last day, `2026-11-20`; undefined: the service's own choice. */
  readonly endDay: string | undefined;
}

export type Json = Readonly<Record<string, unknown>>;

const TEXTS = ['requestedAt', 'tokenSymbol', 'tokenContract', 'stakeContract'] as const;
const PRICES = ['valueInUSD', 'exchangeRateToUSD'] as const;

/**
 * Holds a verified body against what was asked: the query string is not signed, so an answer to another question would verify.
 * @throws UnexpectedAnswerError
 */
export function readSnapshots(
  body: unknown,
  { wallet, lastDays, endDay, contract }: AskedSnapshots,
): StakingSnapshots {
  if (!isObject(body)) throw new UnexpectedAnswerError('it is no JSON object');
  if (parseAddress(body['walletAddress']) !== wallet) {
    throw new UnexpectedAnswerError('walletAddress is not the wallet that was asked for');
  }
  if (body['contract'] !== contract) {
    throw new UnexpectedAnswerError('contract is not the one that was asked for');
  }
  const days = body['stakingSnapshots'];
  if (!Array.isArray(days) || days.length !== lastDays) {
    throw new UnexpectedAnswerError(`stakingSnapshots are not the ${lastDays} days asked for`);
  }
  for (const name of TEXTS) {
    if (typeof body[name] !== 'string') throw new UnexpectedAnswerError(`${name} is no text`);
  }
  requireAmount(body, 'averageStakedAmount');
  for (const name of PRICES) {
    if (body[name] !== undefined) requireAmount(body, name);
  }
  for (const day of days as unknown[]) requireDay(day);
  const { from } = days.at(-1) as DailySnapshot;
  if (endDay !== undefined && from !== `${endDay}T00:00:00.000Z`) {
    throw new UnexpectedAnswerError(`stakingSnapshots do not end with ${endDay}`);
  }
  // Kept as it came, with whatever fields the interface may grow.
  return deepFreeze({ ...body, walletAddress: wallet }) as unknown as StakingSnapshots;
}

function requireDay(day: unknown): void {
  if (!isObject(day)) throw new UnexpectedAnswerError('a snapshot is no object');
  requireAmount(day, 'snapshotAmount');
  for (const name of ['from', 'to']) {
    const time = day[name];
    if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) {
      throw new UnexpectedAnswerError(`${name} of a snapshot is no time`);
    }
  }
}

function requireAmount(of: Json, name: string): void {
  const amount = of[name];
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
    throw new UnexpectedAnswerError(`${name} is no number from 0 on`);
  }
}

/** What was asked for is not signed: a refusal that does not name wallet and contract is about others, or about the path. */
export function isAbout(
  { code, message }: { readonly code: string; readonly message: string },
  { wallet, contract }: AskedOfWallet,
): boolean {
  const text = message.toLowerCase();
  const named = contract === undefined ? !text.includes('eip155:') : text.includes(contract);
  return code === 'NOT_FOUND' && text.includes(wallet) && named;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One answer may be handed to several callers. */
export function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  }
  return Object.freeze(value);
}
