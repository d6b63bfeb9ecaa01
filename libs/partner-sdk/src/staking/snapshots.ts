import { parseAddress } from '../address.js';
import { UnexpectedAnswerError } from './errors.js';
import { requestedAtOf } from './requested-at.js';

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

const TEXTS = ['tokenSymbol', 'tokenContract', 'stakeContract'] as const;
const PRICES = ['valueInUSD', 'exchangeRateToUSD'] as const;
const DAY_MS = 86_400_000;
/** Greatest relative error of an average of rounded amounts, with room to spare. */
const ROUNDING = 1e-9;

/**
 * Compares a verified body with the request. The signature does not cover the query string, so an answer to another
 * request would verify as well.
 * @throws UnexpectedAnswerError
 */
export function readSnapshots(body: unknown, asked: AskedSnapshots): StakingSnapshots {
  if (!isObject(body)) throw new UnexpectedAnswerError('it is not a JSON object');
  const { wallet } = asked;
  if (parseAddress(body['walletAddress']) !== wallet) {
    throw new UnexpectedAnswerError('walletAddress is not the wallet that was asked for');
  }
  requireContractOf(body, asked);
  requireTexts(body);
  requireAmount(body, 'averageStakedAmount');
  for (const name of PRICES) {
    if (body[name] !== undefined) requireAmount(body, name);
  }
  requireWindow(body, asked);
  // Keeps the body as received, with fields that the interface may add later.
  return deepFreeze({ ...body, walletAddress: wallet }) as unknown as StakingSnapshots;
}

/** @throws UnexpectedAnswerError where the answer is of another contract, or names one that was not asked for */
export function requireContractOf(body: Json, { contract }: Pick<AskedOfWallet, 'contract'>): void {
  const chainId = contract === undefined ? undefined : Number(contract.split(':')[1]);
  if (body['contract'] === contract && (contract === undefined || body['chainId'] === chainId)) {
    return;
  }
  throw new UnexpectedAnswerError('contract is not the one that was asked for');
}

/** @throws UnexpectedAnswerError */
export function requireTexts(body: Json): void {
  for (const name of TEXTS) {
    if (typeof body[name] !== 'string') throw new UnexpectedAnswerError(`${name} is not a string`);
  }
}

/** The last day of the window: the one that was asked for, else the day before the request. */
export function lastDayOf(body: Json, { endDay }: Pick<AskedSnapshots, 'endDay'>): string {
  return endDay ?? new Date(requestedAtOf(body) - DAY_MS).toISOString().slice(0, 10);
}

function requireWindow(body: Json, asked: AskedSnapshots): void {
  const { lastDays } = asked;
  const lastDay = lastDayOf(body, asked);
  const days = body['stakingSnapshots'];
  const firstMs = Date.parse(`${lastDay}T00:00:00Z`) - (lastDays - 1) * DAY_MS;
  const isWindow =
    Array.isArray(days) &&
    days.length === lastDays &&
    days.every((day, place) => isDayFrom(day, firstMs + place * DAY_MS));
  if (!isWindow) {
    throw new UnexpectedAnswerError(
      `stakingSnapshots are not the ${lastDays} days up to ${lastDay} that were asked for`,
    );
  }
  for (const day of days as Json[]) requireAmount(day, 'snapshotAmount');
  const sum = (days as DailySnapshot[]).reduce(
    (total, { snapshotAmount }) => total + snapshotAmount,
    0,
  );
  const difference = Math.abs((body['averageStakedAmount'] as number) * lastDays - sum);
  if (difference <= sum * ROUNDING) return;
  throw new UnexpectedAnswerError(`averageStakedAmount is not that of the ${lastDays} days`);
}

function isDayFrom(day: unknown, startMs: number): boolean {
  const { from, to } = isObject(day) ? day : {};
  return isTime(from, startMs) && isTime(to, startMs + DAY_MS - 1);
}

function isTime(text: unknown, ms: number): boolean {
  return typeof text === 'string' && Date.parse(text) === ms;
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
