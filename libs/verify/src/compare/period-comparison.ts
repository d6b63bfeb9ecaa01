/** Compares the registry's root of a period with the chain, and finds the first day on which the api differs. */
import { buildPeriodTree, dayText, type Keccak256, type NodeHash } from '#libs/domain';
import { UncheckedError } from '../verify.error.js';
import { type Comparison } from './comparison.js';
import { type Period } from './registry.js';
import { type ServiceApi } from './service-api.js';

export class PeriodComparer {
  /** Roots computed from the chain, by day. */
  private readonly roots = new Map<number, NodeHash>();
  private readonly compared = new Map<number, Promise<Comparison>>();

  constructor(
    private readonly keccak: Keccak256,
    private readonly api: ServiceApi | undefined,
    private readonly onProgress: (text: string) => void,
  ) {}

  add(day: number, root: NodeHash): void {
    this.roots.set(day, root);
  }

  /** Needs all days of the period to be added first. The days of one period share one comparison. */
  compare(period: Period): Promise<Comparison> {
    const known = this.compared.get(period.firstDay) ?? this.compareOnce(period);
    this.compared.set(period.firstDay, known);
    return known;
  }

  private async compareOnce({ firstDay, lastDay, root }: Period): Promise<Comparison> {
    const days = Array.from({ length: lastDay - firstDay + 1 }, (_, place) => {
      const day = firstDay + place;
      const found = this.roots.get(day);
      if (found === undefined) throw new Error(`${dayText(day)} was not worked out`);
      return { day, root: found };
    });
    const chainRoot = buildPeriodTree(days, this.keccak).root;
    const period = { firstDay: dayText(firstDay), lastDay: dayText(lastDay), chainRoot };
    const said = { with: 'registry', root, period } as const;
    if (chainRoot === root) return { ...said, result: 'agrees' };
    return { ...said, result: 'differs', ...(await this.firstOther(days)) };
  }

  private async firstOther(
    days: readonly { readonly day: number; readonly root: NodeHash }[],
  ): Promise<Pick<Comparison, 'differentDay' | 'reason'>> {
    if (this.api === undefined) return { reason: 'give --api to have the day named' };
    try {
      for (const { day: number, root } of days) {
        const day = dayText(number);
        this.onProgress(`asks the api for the root of ${day}`);
        const said = await this.api.day(day);
        if (said.root !== root) return { differentDay: { day, chain: root, api: said.root } };
      }
      return { reason: 'the api says the same as the chain of each of its days' };
    } catch (error) {
      if (!(error instanceof UncheckedError)) throw error;
      return { reason: `the day could not be found: ${error.message}` };
    }
  }
}
