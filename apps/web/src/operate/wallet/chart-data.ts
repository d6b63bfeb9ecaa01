import { type ConsoleBody } from '../../api/console-client';

type History = Pick<
  ConsoleBody<'WalletHistory'>,
  'days' | 'changes' | 'from' | 'indexedUntil' | 'balance'
>;

/** Of a day or of a change. The numbers are to draw by, and rounded; the texts are to read, as the server has them. */
export interface Point {
  readonly atMs: number;
  readonly low?: number;
  readonly balance?: number;
  readonly exact: { readonly low?: string; readonly balance?: string };
}

export interface ChartData {
  /** In the order of time: the low of each day at its noon, and each change up to what is indexed. */
  readonly points: readonly Point[];
  readonly domain: readonly [number, number];
}

const HALF_DAY_MS = 43_200_000;

/** What the chart draws of a history. */
export function chartData({ days, changes, from, indexedUntil, balance }: History): ChartData {
  const fromMs = Date.parse(from ?? indexedUntil);
  const untilMs = Math.max(Date.parse(indexedUntil), fromMs);
  const lows = days.map(({ day, low }): Point => {
    const atMs = Date.parse(`${day}T00:00:00Z`) + HALF_DAY_MS;
    return { atMs, low: Number(low), exact: { low } };
  });
  // The change that the time began with is older than its beginning.
  const steps = changes.map(({ at, balance: then }) =>
    stepAt(Math.max(Date.parse(at), fromMs), then),
  );
  const points = [...lows, ...steps, stepAt(untilMs, balance)];
  const lastMs = Math.max(untilMs, (lows.at(-1)?.atMs ?? untilMs) + HALF_DAY_MS);
  return { points: points.sort((a, b) => a.atMs - b.atMs), domain: [fromMs, lastMs] };
}

function stepAt(atMs: number, exact: string): Point {
  return { atMs, balance: Number(exact), exact: { balance: exact } };
}
