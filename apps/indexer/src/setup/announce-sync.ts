/** Says at the start of a long sync what it will read, before it is spent. `plan-sync` says it in more detail and without an indexer. */
import {
  type ChainReader,
  COMPUTE_UNITS,
  countProviders,
  syncCalls,
  unitsFor,
  type Verification,
} from '#libs/chain';
import { type BlockRef } from '#libs/domain';
import { type Logger } from '#libs/platform';

/** Fewer are read in seconds. */
const WORTH_A_LINE = 1000n;

export interface MissingBlocks {
  /** The newest indexed block, or the one before the first. */
  readonly head: BlockRef;
  readonly verification: Verification;
  readonly maxRangeBlocks: number;
  readonly contracts: number;
}

/**
 * The calls are the least that it takes: the provider may allow smaller ranges only, and which blocks hold events is not known yet.
 * @throws AllEndpointsFailedError
 */
export async function announceSync(
  reader: ChainReader,
  logger: Logger,
  { head, verification, maxRangeBlocks, contracts }: MissingBlocks,
): Promise<void> {
  const { mode, comparesPastTotals } = verification;
  const { latest, finalised } = await reader.heads();
  const blocks = latest.number - head.number;
  if (blocks <= WORTH_A_LINE) return;
  const final = finalised.number > head.number ? finalised.number - head.number : 0n;
  const calls = syncCalls({
    mode,
    finalBlocks: Number(final),
    tipBlocks: Number(blocks - final),
    rangeBlocks: maxRangeBlocks,
    totalCalls: reader.hasTotal ? contracts : 0,
    comparesPastTotals,
    hasMulticall: true,
    hasOtherEndpoint: false,
    hasOtherProvider: countProviders(reader.endpoints) > 1,
  });
  logger.info(
    {
      fromBlock: head.number + 1n,
      toBlock: latest.number,
      blocks,
      verification: mode,
      maxRangeBlocks,
      leastCalls: calls,
      leastComputeUnits: unitsFor(calls, COMPUTE_UNITS.perCall),
      moreComputeUnitsPerBlockWithEvents: mode === 'headers' ? SECOND_LOOK : HEADER,
    },
    'Syncing: no estimate, but the fewest calls, where the provider allows such ranges and no block holds events; `plan-sync` asks the provider',
  );
}

const { eth_getBlockByNumber: HEADER, eth_getBlockReceipts: SECOND_LOOK } = COMPUTE_UNITS.perCall;
