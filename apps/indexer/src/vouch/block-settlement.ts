/**
 * Settles a block about which two answers differ: two independent sources must report the same, or one provider
 * contradicts its own total.
 */
import {
  type ChainReader,
  type FetchOptions,
  isOutage,
  type LogSource,
  otherProvidersThan,
  ownProvider,
  providerOf,
  type ReadRange,
  unlessAllFail,
} from '#libs/chain';
import { PermanentError } from '#libs/domain';
import { effectsOf, withBlock } from './ranges.js';

/** Independent sources report different events of a block, and no two of them agree. */
export class EventsInDoubtError extends PermanentError {
  /** @param told what each source reports about the block, shortened */
  constructor(block: bigint, told: readonly string[]) {
    super(
      'EVENTS_IN_DOUBT',
      `The events of block ${block}, or its time, come out differently each time they are read, and no two sources agree: ` +
        `${told.join('; ')}. Add an endpoint of another provider to RPC_URLS, or one that has eth_getBlockReceipts.`,
    );
  }
}

interface BlockInDoubt {
  readonly answer: ReadRange;
  readonly block: bigint;
  /** Whether independent sources are two providers; otherwise they are the logs and the receipts of one provider. */
  readonly isByProvider: boolean;
  readonly options: FetchOptions;
}

/** Each of two providers is asked in both ways. */
const BOTH_WAYS = ['receipts', 'logs'] as const;
/** A single provider is asked for logs three times, because one of several nodes behind its address may lack them. */
const LOGS_REPEATED = ['receipts', 'logs', 'logs', 'logs'] as const;

/** Longest text per source in the error message, in characters. */
const MOST_SHOWN = 300;

/** What one source reports about the block. */
interface Testimony {
  /** Testimonies of the same source are not independent and count as one. */
  readonly source: string;
  readonly single: ReadRange;
}

/**
 * Replaces one block of an answer by what two independent sources report: two providers where there are two, else the
 * logs and the receipts. Where two providers contradict each other, the one whose events do not fit its own total is
 * wrong.
 * @throws EventsInDoubtError
 */
export async function settleBlock(
  reader: ChainReader,
  source: LogSource,
  { answer, block, isByProvider, options }: BlockInDoubt,
): Promise<ReadRange> {
  const { endpoints } = source;
  const { endpoint } = answer;
  const sides = isByProvider
    ? [otherProvidersThan(endpoint, endpoints), ownProvider(endpoint, endpoints)]
    : [[]];
  const ways = isByProvider ? BOTH_WAYS : LOGS_REPEATED;
  const testimonies: Testimony[] = [];
  for (const avoid of sides) {
    for (const by of ways) {
      const single = await unlessAllFail(
        source.fetch({ from: block, to: block }, { ...options, by, avoid }),
      );
      if (!single) continue;
      const kind = isByProvider ? providerOf(single.endpoint) : by;
      testimonies.push({ source: kind, single });
      const agreed = agreeing(testimonies, block);
      if (agreed) return withBlock(answer, agreed);
    }
  }
  if (isByProvider && reader.hasTotal) {
    const singles = testimonies.map(({ single }) => single);
    const contradicted = await selfContradictingProvider(reader, singles, options);
    const other = singles.find(({ endpoint: name }) => providerOf(name) !== contradicted);
    if (contradicted !== undefined && other) return withBlock(answer, other);
  }
  const told = testimonies.map(
    ({ source, single }) => `${source} ${eventsTextOf(single, block).slice(0, MOST_SHOWN)}`,
  );
  throw new EventsInDoubtError(block, [...new Set(told)]);
}

function eventsTextOf(single: ReadRange, block: bigint): string {
  return effectsOf(single.blocks, block) || 'none';
}

function agreeing(testimonies: readonly Testimony[], block: bigint): ReadRange | undefined {
  return testimonies.find((one) =>
    testimonies.some(
      (other) =>
        other.source !== one.source &&
        eventsTextOf(other.single, block) === eventsTextOf(one.single, block),
    ),
  )?.single;
}

/**
 * Of two providers that report different events of a block, but the same change of the contract's total, finds the
 * provider whose events do not add up to this change. An honest provider never contradicts itself.
 * @param singles the providers' answers about the block
 * @returns undefined where neither or both contradict themselves, they differ about the total or the block's time too,
 * or past totals are not available
 */
async function selfContradictingProvider(
  reader: ChainReader,
  singles: readonly ReadRange[],
  options: FetchOptions,
): Promise<string | undefined> {
  // A sum does not reveal a false time.
  const times = new Set(singles.map(({ head }) => head.timestampSeconds));
  if (times.size !== 1) return undefined;
  const changes = new Map<string, bigint>();
  for (const { endpoint, head } of singles) {
    const provider = providerOf(endpoint);
    if (changes.has(provider)) continue;
    const change = await totalChangeIn(reader, endpoint, head, options);
    if (change === undefined) return undefined;
    changes.set(provider, change);
  }
  const [change, other, ...more] = changes.values();
  if (change === undefined || change !== other || more.length > 0) return undefined;
  const misfits = singles.filter((single) => single.change !== change);
  const [wrong, ...others] = new Set(misfits.map(({ endpoint }) => providerOf(endpoint)));
  return others.length === 0 ? wrong : undefined;
}

/** Change of the contract's total in the block of `head`, as the endpoint's provider reports it. */
async function totalChangeIn(
  reader: ChainReader,
  endpoint: string,
  head: ReadRange['head'],
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
