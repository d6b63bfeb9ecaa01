import { type Address, parseAddress } from '#libs/domain';
import { HttpProblem } from '#libs/service';

/** What is asked for. */
export interface SnapshotQuery {
  readonly wallet: Address;
  /** 1 to 30. */
  readonly lastDays: number;
}

const DEFAULT_DAYS = 7;
const DAYS = /^(?:[1-9]|[12]\d|30)$/;

/**
 * Checks the query string by hand: two fields, on every request. A parameter that comes twice is an array and so refused;
 * those not known are ignored.
 * @throws HttpProblem 400
 */
export function snapshotQuery(query: Record<string, unknown>): SnapshotQuery {
  return {
    wallet: walletOf(query['walletAddress']),
    lastDays: daysOf(query['lastDays']),
  };
}

function walletOf(value: unknown): Address {
  const wallet = typeof value === 'string' ? parseAddress(value) : undefined;
  if (wallet === undefined) {
    throw new HttpProblem(400, 'walletAddress must be given once: 0x and 40 hex digits.');
  }
  return wallet;
}

function daysOf(value: unknown): number {
  if (value === undefined) return DEFAULT_DAYS;
  if (typeof value !== 'string' || !DAYS.test(value)) {
    throw new HttpProblem(
      400,
      'lastDays must be given at most once: a whole number from 1 to 30 in plain digits.',
    );
  }
  return Number(value);
}
