import { type Address, type DayBalance } from '#libs/domain';

/** Takes one window of many wallets, piece by piece as the wallets are read. */
export interface WindowSink {
  /**
   * @param days for each of these wallets that ever staked, its days in the window and the newest one before
   * the window, in any order
   */
  add(wallets: readonly Address[], days: ReadonlyMap<Address, readonly DayBalance[]>): void;
}

/** The lists have equal length, with one entry for each day that was found; null where there is none. */
export interface WindowRow {
  /** Number of the piece, from 0 on. */
  readonly piece: number;
  /** The state of the index, in the first row only. */
  readonly state: string | null;
  /** For each entry, the place of its wallet in the piece, from 1 on. */
  readonly places: string | null;
  readonly days: string | null;
  readonly lows: string | null;
  readonly closings: string | null;
}

/** The days of each wallet that has an entry. @param wallets of the piece, in the order asked */
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

/** @param list as PostgreSQL writes it: `{1,NULL,3}`. NULL becomes undefined. */
function numbersIn(list: string | null): (string | undefined)[] {
  if (list === null) return [];
  return list
    .slice(1, -1)
    .split(',')
    .map((text) => (text === 'NULL' ? undefined : text));
}
