import { parseAddress } from '../address.js';
import { UnexpectedAnswerError } from './errors.js';

/** The snapshot of one UTC day. */
export interface DailySnapshot {
  /** The start of the day, ISO 8601. */
  readonly from: string;
  /** The last millisecond of the day, ISO 8601. */
  readonly to: string;
  /** The lowest staked balance of the day, in token units. */
  readonly snapshotAmount: number;
}

/** The snapshots of a wallet over a window of days. */
export interface StakingSnapshots {
  /** In lower case. */
  readonly walletAddress: string;
  /** The time of the request at the service, ISO 8601. */
  readonly requestedAt: string;
  readonly tokenSymbol: string;
  readonly tokenContract: string;
  readonly stakeContract: string;
  /** The requested contract, in lower case; absent where the request named none. */
  readonly contract?: string;
  /** The chain of the requested contract; absent where the request named none. */
  readonly chainId?: number;
  /** The sum of the days' snapshots divided by their number, in token units. */
  readonly averageStakedAmount: number;
  /** The average in US dollars; absent where the service has no fresh price. */
  readonly valueInUSD?: number;
  /** US dollars for one token; absent where the service has no fresh price. */
  readonly exchangeRateToUSD?: number;
  /** One for each requested day, oldest first. */
  readonly stakingSnapshots: readonly DailySnapshot[];
}

/** The wallet and the contract of a request, in lower case. */
export interface AskedOfWallet {
  readonly wallet: string;
  readonly contract: string | undefined;
}

export interface AskedSnapshots extends AskedOfWallet {
  readonly lastDays: number;
  /** The last day, such as `2026-11-20`; undefined: the service chooses. */
  readonly endDay: string | undefined;
}

export type Json = Readonly<Record<string, unknown>>;

const TEXTS = ['requestedAt', 'tokenSymbol', 'tokenContract', 'stakeContract'] as const;
const PRICES = ['valueInUSD', 'exchangeRateToUSD'] as const;

/**
 * Compares a verified body with the request. The signature does not cover the query string, so an answer to another
 * request would verify as well.
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
  // Keeps the body as received, with fields that the interface may add later.
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

/**
 * Whether a refusal is about this wallet and contract. The signature does not cover the query, so a refusal that does
 * not name both is about others, or about the path.
 */
export function namesRequest(
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

/** Freezes the value, since several callers may share one answer. */
export function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  }
  return Object.freeze(value);
}
