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
import { type SnapshotState, type WalletDay } from '#libs/db';

/** The answer before it is written: numbers are final, days are still numbers. */
export interface Snapshot {
  readonly wallet: Address;
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
  readonly window: Pick<DayWindow, 'firstDay' | 'endDay'>;
  /** Those of the wallet in the window, and the newest one before it. */
  readonly days: readonly WalletDay[];
}

/** The facts of the token, as every answer names them. */
export type TokenFacts = Pick<
  SnapshotState,
  'tokenSymbol' | 'tokenDecimals' | 'tokenContract' | 'stakeContract'
>;

/** @param rate US dollars for one token, where there is a fresh price */
export function snapshotOf(
  { wallet, window, days }: SnapshotRequest,
  facts: TokenFacts,
  rate: Decimal | undefined,
): Snapshot {
  const decimals = facts.tokenDecimals;
  const minima = dailyMinima(days, window);
  const average = averageStaked(
    minima.map(({ minimum }) => minimum),
    window.endDay - window.firstDay,
    decimals,
  );
  const value = rate && valueOf(average, rate);
  return {
    wallet,
    tokenSymbol: facts.tokenSymbol,
    tokenContract: facts.tokenContract,
    stakeContract: facts.stakeContract,
    average: ratioToNumber(average.numerator, average.denominator),
    ...(value && {
      usd: {
        value: ratioToNumber(value.numerator, value.denominator),
        rate: tokensToNumber(rate.digits, rate.scale),
      },
    }),
    days: amountsOf(minima, decimals),
  };
}

/** Most days are as the day before: what was rounded last is not rounded again. */
function amountsOf(minima: readonly DailyMinimum[], decimals: number): Snapshot['days'] {
  let last = { minimum: 0n, amount: 0 };
  return minima.map(({ day, minimum }) => {
    if (minimum !== last.minimum) last = { minimum, amount: tokensToNumber(minimum, decimals) };
    return { day, amount: last.amount };
  });
}
