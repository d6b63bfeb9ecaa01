/** Days with all comparisons, in ascending order. One that the registry has by its period waits until the period's last day is there. */
import { type ChainDay } from '../day/chain-days.js';
import { type CheckedDay } from '../report.js';
import { type Comparer, type Comparison } from './comparison.js';
import { type PeriodComparer } from './period-comparison.js';
import { type DaySpan, type Period, type Published } from './registry.js';

export interface CheckOptions {
  /** Those that were asked for: others are only parts of periods. */
  readonly days: DaySpan;
  readonly published: ReadonlyMap<number, Published>;
  readonly comparer: Comparer;
  readonly periods: PeriodComparer;
}

export async function* checkedDays(
  chain: AsyncIterable<ChainDay>,
  { days, published, comparer, periods }: CheckOptions,
): AsyncGenerator<CheckedDay> {
  // Without their lists, which a month of would fill the memory.
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

/** In the place that the registry has among the others. */
function withPeriod({ chain, comparisons }: CheckedDay, found: Comparison): CheckedDay {
  const api = comparisons.filter((one) => one.with === 'api');
  return {
    chain,
    comparisons: [...api, found, ...comparisons.filter((one) => one.with !== 'api')],
  };
}
