import { type ConsoleBody } from '../../api/console-client';

type History = Pick<
  ConsoleBody<'WalletHistory'>,
  'days' | 'changes' | 'from' | 'indexedUntil' | 'balance'
>;

/** Values from a time on. The numbers are rounded, for drawing; the texts are the server's exact values. */
export interface Point {
  readonly atMs: number;
  readonly low: number;
  readonly balance: number;
  readonly exact: { readonly low: string; readonly balance: string };
}

export interface ChartData {
  /** In chronological order: each beginning of a day, each change, and the end of the indexed time. */
  readonly points: readonly Point[];
  readonly domain: readonly [number, number];
  /** Beginnings of UTC days, as many as fit below the chart. */
  readonly ticks: readonly number[];
}

const DAY_MS = 86_400_000;
const MOST_TICKS = 8;

/** Converts a history to steps, each as long as its day or its balance. */
export function chartData({ days, changes, from, indexedUntil, balance }: History): ChartData {
  const fromMs = Date.parse(from ?? indexedUntil);
  const untilMs = Math.max(Date.parse(indexedUntil), fromMs);
  const lows = new Map(days.map(({ day, low }) => [Date.parse(`${day}T00:00:00Z`), low]));
  // The change that set the first balance may be older than the beginning of the chart.
  const steps = changes.map(({ at, balance: then }) => ({
    atMs: Math.max(Date.parse(at), fromMs),
    balance: then,
  }));
  const starts = [...lows.keys()].map((dayMs) => Math.max(dayMs, fromMs));
  const moments = new Set([...starts, ...steps.map(({ atMs }) => atMs), untilMs]);
  let [next, current] = [0, '0'];
  const points = [...moments]
    .sort((a, b) => a - b)
    .map((atMs): Point => {
      for (; (steps[next]?.atMs ?? Infinity) <= atMs; next++) {
        current = steps[next]?.balance ?? current;
      }
      const exact = {
        low: lows.get(Math.floor(atMs / DAY_MS) * DAY_MS) ?? '0',
        balance: atMs === untilMs ? balance : current,
      };
      return { atMs, low: Number(exact.low), balance: Number(exact.balance), exact };
    });
  const every = Math.ceil(lows.size / MOST_TICKS);
  const ticks = [...lows.keys()].filter((dayMs, place) => dayMs >= fromMs && place % every === 0);
  return { points, domain: [fromMs, untilMs], ticks };
}
