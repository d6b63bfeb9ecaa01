/** One answer of the snapshot API, worked out exactly and rounded once: the rules of docs/wire/snapshots.md. */
import {
  type Address,
  averageStaked,
  dailyMinima,
  type DayWindow,
  type DailyMinimum,
  type Decimal,
  ratioToNumber,
  tokensToNumber,
  valueOf,
} from '#libs/domain';
import { type SnapshotRead } from '#libs/db';

/** The answer before it is written: numbers are final, days are still numbers. */
export interface Snapshot {
  readonly wallet: Address;
  /** Unix time in milliseconds. */
  readonly requestedAtMs: number;
  readonly tokenSymbol: string;
  readonly tokenContract: Address;
  readonly stakeContract: Address;
  /** In token units, like every amount here. */
  readonly average: number;
  /** Absent without a price, or where it is too old. */
  readonly usd?: { readonly value: number; readonly rate: number };
  /** Oldest first. */
  readonly days: readonly { readonly day: number; readonly amount: number }[];
}

export interface SnapshotRequest {
  readonly wallet: Address;
  readonly requestedAtMs: number;
  readonly window: DayWindow;
}

/** @param rate US dollars for one token, where there is a fresh price */
export function snapshotOf(
  { wallet, requestedAtMs, window }: SnapshotRequest,
  { index, days }: Pick<SnapshotRead, 'index' | 'days'>,
  rate: Decimal | undefined,
): Snapshot {
  const decimals = index.tokenDecimals;
  const minima = dailyMinima(days, window);
  const average = averageStaked(
    minima.map(({ minimum }) => minimum),
    window.endDay - window.firstDay,
    decimals,
  );
  const value = rate && valueOf(average, rate);
  return {
    wallet,
    requestedAtMs,
    tokenSymbol: index.tokenSymbol,
    tokenContract: index.tokenContract,
    stakeContract: index.stakeContract,
    average: ratioToNumber(average.numerator, average.denominator),
    ...(value && {
      usd: {
        value: ratioToNumber(value.numerator, value.denominator),
        rate: tokensToNumber(rate.digits, rate.scale),
      },
    }),
    days: minima.map(({ day, minimum }: DailyMinimum) => ({
      day,
      amount: tokensToNumber(minimum, decimals),
    })),
  };
}
