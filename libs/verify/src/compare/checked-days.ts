/**
 * Yields days with all their comparisons, in ascending order. A day that the registry covers by a period waits until
 * the last day of that period was computed.
 */
import { type ChainDay } from '../day/chain-days.js';
import { type CheckedDay } from '../report.js';
import { type Comparer, type Comparison } from './comparison.js';
import { type PeriodComparer } from './period-comparison.js';
import { type DaySpan, type Period, type Published } from './registry.js';

export interface CheckOptions {
  /** The days to check; the chain may also yield other days, which are only parts of periods. */
  readonly days: DaySpan;
  readonly published: ReadonlyMap<number, Published>;
  readonly comparer: Comparer;
  readonly periods: PeriodComparer;
}

export async function* checkedDays(
  chain: AsyncIterable<ChainDay>,
  { days, published, comparer, periods }: CheckOptions,
): AsyncGenerator<CheckedDay> {
  // Days without their lists: the lists of a month would fill the memory.
  const waiting: { checked: CheckedDay; period: Period | undefined }[] = [];
  for await (const day of chain) {
    periods.add(day.day, day.root);
    if (day.day >= days.first && day.day <= days.last) {
      const said = published.get(day.day);
      const comparisons = await comparer.compare(day, said);
      const period = said && 'period' in said ? said.period : undefined;
      waiting.push({ checked: { chain: factsOf(day), comparisons }, period });
    }
    for (let [first] = waiting; first; [first] = waiting) {
      const { checked, period } = first;
      if (period !== undefined && period.lastDay > day.day) break;
      waiting.shift();
      yield period === undefined ? checked : withPeriod(checked, await periods.compare(period));
    }
  }
}

function factsOf({ day, root, list, closing }: ChainDay): CheckedDay['chain'] {
  return { day, root, closing, wallets: list.length, total: list.total };
}

/** Puts the comparison of the period after that of the api, the place of a comparison with the registry. */
function withPeriod({ chain, comparisons }: CheckedDay, found: Comparison): CheckedDay {
  const api = comparisons.filter((one) => one.with === 'api');
  return {
    chain,
    comparisons: [...api, found, ...comparisons.filter((one) => one.with !== 'api')],
  };
}
