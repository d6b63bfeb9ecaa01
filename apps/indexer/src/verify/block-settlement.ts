/** A block of which two answers differ, settled by who tells the same of it, or by who contradicts itself. */
import {
  type ChainReader,
  type FetchOptions,
  isOutage,
  type LogSource,
  otherProvidersThan,
  ownProvider,
  providerOf,
  type RangeAnswer,
  unlessAllFail,
} from '#libs/chain';
import { PermanentError } from '#libs/domain';
import { deltaOf, effectsOf, withBlock } from './verified-range.js';

/** Sources that should tell the same of a block do not, and no two of them agree. */
export class EventsInDoubtError extends PermanentError {
  /** @param told what each source says of the block, bounded */
  constructor(block: bigint, told: readonly string[]) {
    super(
      'EVENTS_IN_DOUBT',
      `The events of block ${block}, or its time, come out differently each time they are read, and no two sources agree: ` +
        `${told.join('; ')}. Add an endpoint of another provider to RPC_URLS, or one that has eth_getBlockReceipts.`,
    );
  }
}

interface BlockInDoubt {
  readonly answer: RangeAnswer;
  readonly block: bigint;
  /** Two sources are two providers, not the logs and the receipts of one. */
  readonly isByProvider: boolean;
  readonly options: FetchOptions;
}

/** One of two providers is asked in both ways. */
const BOTH_WAYS = ['receipts', 'logs'] as const;
/** Where there is one provider only, logs are asked for more often: one of several nodes behind its address may lack them. */
const LOGS_REPEATED = ['receipts', 'logs', 'logs', 'logs'] as const;

/** Characters of what a source says that an error repeats. */
const MOST_SHOWN = 300;

interface Witness {
  /** Two of the same source are one. */
  readonly source: string;
  readonly single: RangeAnswer;
}

/**
 * An answer in which one block, of which two answers differed, is as two independent sources tell it: two providers where there
 * are two, else the logs and the receipts. Where two providers stand against each other, one whose events do not fit its own total is
 * wrong.
 * @throws EventsInDoubtError
 */
export async function settleBlock(
  reader: ChainReader,
  source: LogSource,
  { answer, block, isByProvider, options }: BlockInDoubt,
): Promise<RangeAnswer> {
  const { endpoints } = source;
  const { endpoint } = answer;
  const sides = isByProvider
    ? [otherProvidersThan(endpoint, endpoints), ownProvider(endpoint, endpoints)]
    : [[]];
  const ways = isByProvider ? BOTH_WAYS : LOGS_REPEATED;
  const witnesses: Witness[] = [];
  for (const avoid of sides) {
    for (const by of ways) {
      const single = await unlessAllFail(
        source.fetch({ from: block, to: block }, { ...options, by, avoid }),
      );
      if (!single) continue;
      const kind = isByProvider ? providerOf(single.endpoint) : by;
      witnesses.push({ source: kind, single });
      const agreed = agreeing(witnesses, block);
      if (agreed) return withBlock(answer, agreed);
    }
  }
  if (isByProvider && reader.hasTotal) {
    const singles = witnesses.map(({ single }) => single);
    const contradicted = await selfContradicted(reader, singles, options);
    const other = singles.find(({ endpoint: name }) => providerOf(name) !== contradicted);
    if (contradicted !== undefined && other) return withBlock(answer, other);
  }
  const told = witnesses.map(
    ({ source, single }) => `${source} ${tells(single, block).slice(0, MOST_SHOWN)}`,
  );
  throw new EventsInDoubtError(block, [...new Set(told)]);
}

function tells(single: RangeAnswer, block: bigint): string {
  return effectsOf(single.blocks, block) || 'none';
}

function agreeing(witnesses: readonly Witness[], block: bigint): RangeAnswer | undefined {
  return witnesses.find((one) =>
    witnesses.some(
      (other) =>
        other.source !== one.source && tells(other.single, block) === tells(one.single, block),
    ),
  )?.single;
}

/**
 * Of two providers that tell different events of a block and the same total before and after it, the one whose events do not add up to
 * the difference. One that tells the truth never contradicts itself.
 * @param singles what they say of the block
 * @returns undefined where neither or both contradict themselves, they differ about the total or the block's
 * time too, or past totals are not to be had
 */
async function selfContradicted(
  reader: ChainReader,
  singles: readonly RangeAnswer[],
  options: FetchOptions,
): Promise<string | undefined> {
  // A false time is not found by a sum.
  const times = new Set(singles.map(({ head }) => head.timestampSeconds));
  if (times.size !== 1) return undefined;
  const changes = new Map<string, bigint>();
  for (const { endpoint, head } of singles) {
    const provider = providerOf(endpoint);
    if (changes.has(provider)) continue;
    const change = await changeBy(reader, endpoint, head, options);
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
  reader: ChainReader,
  endpoint: string,
  head: RangeAnswer['head'],
  { signal }: FetchOptions,
): Promise<bigint | undefined> {
  const avoid = otherProvidersThan(endpoint, reader.endpoints);
  const options = { avoid, signal };
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
