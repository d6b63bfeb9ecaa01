/**
 * The filter of eth_getLogs (execution-apis, `Filter`): addresses, and for each topic position null, one value or a
 * list.
 */
import { type ReplayContracts } from './replay-contracts.js';

type Wanted = ReadonlySet<string> | undefined;

export class LogFilter {
  private readonly addresses: Wanted;
  private readonly topics: readonly Wanted[];
  /** Whether the filter matches exactly the logs of the staking contract. */
  readonly isAllOfOurs: boolean;
  /** Whether the filter may match logs of other contracts. */
  readonly findsForeign: boolean;

  constructor(filter: Readonly<Record<string, unknown>>, { staking, topics }: ReplayContracts) {
    this.addresses = wantedOf(filter['address']);
    const places: unknown = filter['topics'];
    this.topics = Array.isArray(places) ? places.map(wantedOf) : [];
    this.findsForeign =
      this.addresses === undefined || [...this.addresses].some((address) => address !== staking);
    const [first, ...others] = this.topics;
    const { increase, decrease } = topics;
    const takesBoth = first === undefined || (first.has(increase) && first.has(decrease));
    const isOurAddress = !this.findsForeign && this.addresses?.has(staking) === true;
    this.isAllOfOurs = isOurAddress && takesBoth && others.every((place) => place === undefined);
  }

  matches(address: string, topics: readonly string[]): boolean {
    if (this.addresses && !this.addresses.has(address)) return false;
    if (this.topics.length > topics.length) return false;
    return this.topics.every((wanted, at) => wanted?.has(topics[at] ?? '') ?? true);
  }
}

function wantedOf(value: unknown): Wanted {
  if (value === null || value === undefined) return undefined;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  // An empty list matches any value, as in geth.
  return list.length === 0 ? undefined : new Set(list.map((item) => String(item).toLowerCase()));
}
