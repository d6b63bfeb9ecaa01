import {
  AllEndpointsFailedError,
  type FetchOptions,
  type LogSource,
  otherProvidersThan,
  providerOf,
  type RangeAnswer,
  type VerificationMode,
} from '#libs/chain';
import { PermanentError } from '#libs/domain';

import { effectsOf, withBlock } from './range-parts.js';

/** Sources that should tell the same of a block do not, and no two of them agree. */
export class EventsInDoubtError extends PermanentError {
  constructor(block: bigint, endpoints: readonly string[]) {
    super(
      'EVENTS_IN_DOUBT',
      `The events of block ${block} come out differently each time they are read from ${endpoints.join(' and ')}, and no two sources ` +
        `agree. Add an endpoint of another provider to RPC_URLS, or one that has eth_getBlockReceipts.`,
    );
  }
}

export interface BlockInDoubt {
  readonly answer: RangeAnswer;
  readonly block: bigint;
  readonly mode: VerificationMode;
  readonly options: FetchOptions;
}

interface Witness {
  /** Two of the same source are one. */
  readonly source: string;
  readonly single: RangeAnswer;
}

/**
 * An answer in which one block, of which two answers differed, is as two independent sources tell it: two providers in the mode
 * `two`, else the logs and the receipts.
 * @throws EventsInDoubtError
 */
export async function settleBlock(
  { source }: { readonly source: Pick<LogSource, 'fetch' | 'endpoints'> },
  { answer, block, mode, options }: BlockInDoubt,
): Promise<RangeAnswer> {
  const { endpoints } = source;
  const provider = providerOf(answer.endpoint);
  const ofOthers = otherProvidersThan(answer.endpoint, endpoints);
  const sides =
    mode === 'two' ? [ofOthers, endpoints.filter((name) => providerOf(name) === provider)] : [[]];
  const witnesses: Witness[] = [];
  for (const avoid of sides) {
    for (const by of ['receipts', 'logs'] as const) {
      const single = await unlessAllFail(() =>
        source.fetch({ from: block, to: block }, { ...options, by, avoid }),
      );
      if (!single) continue;
      const kind = mode === 'two' ? providerOf(single.endpoint) : by;
      witnesses.push({ source: kind, single });
      const agreed = agreeing(witnesses, block);
      if (agreed) return withBlock(answer, agreed);
    }
  }
  throw new EventsInDoubtError(block, [...new Set(witnesses.map(({ single }) => single.endpoint))]);
}

function agreeing(witnesses: readonly Witness[], block: bigint): RangeAnswer | undefined {
  const tells = ({ single }: Witness): string => effectsOf(single.blocks, block);
  return witnesses.find((one) =>
    witnesses.some((other) => other.source !== one.source && tells(other) === tells(one)),
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
