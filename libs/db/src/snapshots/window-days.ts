import { type Address, type DayBalance } from '#libs/domain';

/** What is made of one window of many wallets, piece by piece as they are read. */
export interface WindowSink {
  /** @param days of each of these wallets that ever staked: its days of the window and the newest one before it, in any order */
  add(wallets: readonly Address[], days: ReadonlyMap<Address, readonly DayBalance[]>): void;
}

/** Lists of one length, one entry for each day that was found; null where there is none. */
export interface WindowRow {
  /** Which so many of the wallets, from 0 on. */
  readonly piece: number;
  /** Of the index, in the first row. */
  readonly state: string | null;
  /** Which of these wallets, from 1 on. */
  readonly places: string | null;
  readonly days: string | null;
  readonly lows: string | null;
  readonly closings: string | null;
}

/** Of each wallet with an entry its days. @param wallets as asked for */
export function windowDaysFrom(
  wallets: readonly Address[],
  row: WindowRow,
): Map<Address, DayBalance[]> {
  const found = new Map<Address, DayBalance[]>();
  const days = numbersIn(row.days);
  const lows = numbersIn(row.lows);
  const closings = numbersIn(row.closings);
  for (const [entry, place] of numbersIn(row.places).entries()) {
    const wallet = wallets[Number(place) - 1];
    if (wallet === undefined) continue;
    let ofWallet = found.get(wallet);
    if (ofWallet === undefined) found.set(wallet, (ofWallet = []));
    const [day, low, closing] = [days[entry], lows[entry], closings[entry]];
    if (day === undefined || closing === undefined) continue;
    ofWallet.push({
      day: Number(day),
      low: low === undefined ? null : BigInt(low),
      closing: BigInt(closing),
    });
  }
  return found;
}

/** @param list as PostgreSQL writes it: `{1,NULL,3}`. Undefined stands for NULL. */
function numbersIn(list: string | null): (string | undefined)[] {
  if (list === null) return [];
  return list
    .slice(1, -1)
    .split(',')
    .map((text) => (text === 'NULL' ? undefined : text));
}
