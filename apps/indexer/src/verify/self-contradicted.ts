import {
  type ChainReader,
  type FetchOptions,
  isOutage,
  ownProvider,
  providerOf,
  type RangeAnswer,
} from '#libs/chain';
import { deltaOf } from './range-parts.js';

export interface ContradictionParts {
  readonly reader: Pick<ChainReader, 'stakeTotal' | 'headers'>;
  readonly endpoints: readonly string[];
}

/**
 * Of two providers that tell different events of a block and the same total before and after it, the one whose events do not add up to
 * the difference. One that tells the truth never contradicts itself.
 * @param singles what they say of the block
 * @returns undefined where neither or both contradict themselves, they differ about the total or the block's
 * time too, or past totals are not to be had
 */
export async function selfContradicted(
  parts: ContradictionParts,
  singles: readonly RangeAnswer[],
  options: Pick<FetchOptions, 'signal'>,
): Promise<string | undefined> {
  // A false time is not found by a sum.
  const times = new Set(singles.map(({ head }) => head.timestampSeconds));
  if (times.size !== 1) return undefined;
  const changes = new Map<string, bigint>();
  for (const { endpoint, head } of singles) {
    const provider = providerOf(endpoint);
    if (changes.has(provider)) continue;
    const change = await changeBy(parts, endpoint, head, options);
    if (change === undefined) return undefined;
    changes.set(provider, change);
  }
  const [change, other, ...more] = changes.values();
  if (change === undefined || change !== other || more.length > 0) return undefined;
  const misfits = singles.filter((single) => deltaOf(single) !== change);
  const [wrong, ...others] = new Set(misfits.map(({ endpoint }) => providerOf(endpoint)));
  return others.length === 0 ? wrong : undefined;
}

/** What the contract's total changes by in a block, by the provider of an endpoint. */
async function changeBy(
  { reader, endpoints }: ContradictionParts,
  endpoint: string,
  head: RangeAnswer['head'],
  { signal }: Pick<FetchOptions, 'signal'>,
): Promise<bigint | undefined> {
  const own = ownProvider(endpoint, endpoints);
  const avoid = endpoints.filter((name) => !own.includes(name));
  const options = { avoid, ...(signal && { signal }) };
  try {
    const [parent] = await reader.headers([head.number - 1n], { avoid });
    const before = parent && (await reader.stakeTotal(parent, options));
    const end = await reader.stakeTotal(head, options);
    return before === undefined || end === undefined ? undefined : end - before;
  } catch (error) {
    if (isOutage(error)) return undefined;
    throw error;
  }
}
