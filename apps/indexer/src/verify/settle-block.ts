import {
  AllEndpointsFailedError,
  type ChainReader,
  type FetchOptions,
  type LogSource,
  otherProvidersThan,
  ownProvider,
  providerOf,
  type RangeAnswer,
} from '#libs/chain';
import { PermanentError } from '#libs/domain';
import { effectsOf, withBlock } from './range-parts.js';
import { selfContradicted } from './self-contradicted.js';

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

export interface SettleParts {
  readonly source: Pick<LogSource, 'fetch' | 'endpoints'>;
  readonly reader: Pick<ChainReader, 'stakeTotal' | 'headers' | 'hasTotal'>;
}

export interface BlockInDoubt {
  readonly answer: RangeAnswer;
  readonly block: bigint;
  /** Two sources are two providers, not the logs and the receipts of one. */
  readonly isByProvider: boolean;
  readonly options: FetchOptions;
}

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
  { source, reader }: SettleParts,
  { answer, block, isByProvider, options }: BlockInDoubt,
): Promise<RangeAnswer> {
  const { endpoints } = source;
  const { endpoint } = answer;
  const sides = isByProvider
    ? [otherProvidersThan(endpoint, endpoints), ownProvider(endpoint, endpoints)]
    : [[]];
  const witnesses: Witness[] = [];
  for (const avoid of sides) {
    for (const by of ['receipts', 'logs'] as const) {
      const single = await unlessAllFail(() =>
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
    const contradicted = await selfContradicted({ reader, endpoints }, singles, options);
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

async function unlessAllFail<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AllEndpointsFailedError) return undefined;
    throw error;
  }
}
