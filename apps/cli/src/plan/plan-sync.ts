/** Estimates the cost of a sync from a few requests to the chain and the cost model that the indexer uses too. */
import {
  ANSWER_BYTES,
  type ChainReader,
  chooseVerification,
  COMPUTE_UNITS,
  multicallOf,
  readVerificationOffer,
  type RpcPool,
  syncCalls,
  type SyncCalls,
  type SyncFacts,
  unitsFor,
  type Verification,
} from '#libs/chain';
import { type BlockRef, PermanentError } from '#libs/domain';
import { stakeReader } from '#libs/operations';
import { type MissingPart, type PlanSettings, readMissingPart } from './missing-part.js';
import { secondsWithin } from './seconds-within.js';
import { HEADERS_AT_ONCE, type LogSurvey, surveyLogs } from './survey-logs.js';

/** What limits the size of ranges: MAX_RANGE_BLOCKS, the provider, or the maximum size of an answer. */
type RangeLimit = 'setting' | 'provider' | 'weight';

export interface SyncPlan {
  readonly chainId: number;
  readonly startBlock: bigint;
  /** The newest indexed block; undefined where there is no index. */
  readonly indexedBlock: bigint | undefined;
  readonly latestBlock: bigint;
  readonly finalBlock: bigint;
  /** Missing blocks up to the newest final block (`finalBlocks`) and above it (`tipBlocks`). */
  readonly finalBlocks: number;
  readonly tipBlocks: number;
  readonly verification: Verification;
  /** Undefined where no block is missing. */
  readonly survey: LogSurvey | undefined;
  /** Blocks per `eth_getLogs` request, within the limits of the provider and the size of an answer. */
  readonly rangeBlocks: number;
  readonly rangeLimit: RangeLimit;
  readonly calls: SyncCalls;
  /**
   * Duration of the sync with the indexer's concurrency and the request times of the survey, within the budgets of
   * RPC_URLS.
   */
  readonly secondsAtRateSeen: number;
  /** Whether the budgets of RPC_URLS, not the endpoints' speed, determine the duration. */
  readonly isBoundByBudget: boolean;
  /** Cost in compute units if a second provider, or a total, verified instead; in the mode `headers` only. */
  readonly insteadOfHeaders: { readonly two: number; readonly total: number } | undefined;
}

interface PlanOptions {
  /** Plans as if there were no index. */
  readonly anew: boolean;
  /** Called before each request or group of requests. */
  readonly onProgress: (said: string) => void;
}

/** Assumed concurrent requests of an indexer, which sends up to 24 to an endpoint that accepts them. */
const AT_ONCE = 16;
/** Receipts of blocks per request of the indexer. */
const RECEIPTS_AT_ONCE = 25;

export async function planSync(
  pool: RpcPool,
  settings: PlanSettings,
  { anew, onProgress }: PlanOptions,
): Promise<SyncPlan> {
  const asks = `Asking ${pool.endpoints.join(', ')}`;
  onProgress('Reading what is indexed');
  const stored = await readMissingPart(settings, pool);
  const part = anew ? { ...stored, indexed: undefined } : stored;
  onProgress(`${asks} which chain they serve`);
  await pool.verifyChainId(part.chainId);
  onProgress(`${asks} for the contracts and the newest block`);
  const reader = await stakeReader(pool, part, settings);
  await requireContracts(reader, part);
  const { latest, finalised } = await reader.heads();
  const before = part.indexed ?? (await blockBefore(reader, part));
  onProgress(`${asks} what there is to verify events by`);
  const offer = await readVerificationOffer(reader, before);
  const verification = chooseVerification(settings.stakeVerification, offer);
  const [head, final] = [before.number, finalised.number];
  const finalBlocks = Math.max(0, Number(final - head));
  const tipBlocks = Math.max(0, Number(latest.number - (head > final ? head : final)));
  const survey =
    finalBlocks + tipBlocks === 0
      ? undefined
      : await surveyLogs(pool, {
          ...part,
          from: head + 1n,
          to: latest.number,
          maxRangeBlocks: settings.maxRangeBlocks,
          each: verification.mode === 'two' ? pool.endpoints : [],
          onProgress,
        });
  const { rangeBlocks, rangeLimit } = rangeOf(settings, survey);
  const facts: SyncFacts = {
    mode: verification.mode,
    finalBlocks,
    tipBlocks,
    rangeBlocks,
    ...expectedEvents(survey, finalBlocks, tipBlocks),
    totalCalls: reader.hasTotal ? part.contracts.length : 0,
    comparesPastTotals: verification.comparesPastTotals,
    callsPerWallet: part.contracts.length,
    hasMulticall:
      verification.mode === 'wallets' && (await reader.hasCode(multicallOf(part.chainId))),
    hasOtherEndpoint: reader.endpoints.length > 1,
    hasOtherProvider: offer.providers > 1,
  };
  const calls = syncCalls(facts);
  const seenSeconds = secondsAt(calls, survey);
  const budgetSeconds = secondsWithin(pool, calls, verification.mode);
  return {
    chainId: part.chainId,
    startBlock: part.startBlock,
    indexedBlock: part.indexed?.number,
    latestBlock: latest.number,
    finalBlock: final,
    finalBlocks,
    tipBlocks,
    verification,
    survey,
    rangeBlocks,
    rangeLimit,
    calls,
    secondsAtRateSeen: Math.max(seenSeconds, budgetSeconds),
    isBoundByBudget: budgetSeconds > seenSeconds,
    insteadOfHeaders: verification.mode === 'headers' ? cheaperThan(facts) : undefined,
  };
}

async function requireContracts(
  reader: ChainReader,
  { contracts, chainId }: MissingPart,
): Promise<void> {
  for (const contract of contracts) {
    if (await reader.hasCode(contract)) continue;
    throw new PermanentError(
      'NO_CONTRACT',
      `STAKE_CONTRACT: there is no contract at ${contract} on chain ${chainId}. Check the address and CHAIN_ID.`,
    );
  }
}

async function blockBefore(reader: ChainReader, { startBlock }: MissingPart): Promise<BlockRef> {
  const [before] = await reader.headers([startBlock - 1n]);
  if (before) return before;
  throw new PermanentError(
    'START_BLOCK_AHEAD',
    `STAKE_START_BLOCK: block ${startBlock - 1n} does not exist on this chain yet.`,
  );
}

function rangeOf(
  { maxRangeBlocks }: PlanSettings,
  survey: LogSurvey | undefined,
): { readonly rangeBlocks: number; readonly rangeLimit: RangeLimit } {
  if (survey === undefined) return { rangeBlocks: maxRangeBlocks, rangeLimit: 'setting' };
  const isRefused = survey.refusal !== undefined;
  const rangeBlocks = isRefused ? survey.rangeBlocks : maxRangeBlocks;
  const byWeight = Math.max(1, Math.floor(ANSWER_BYTES / survey.bytesPerBlock));
  return byWeight < rangeBlocks
    ? { rangeBlocks: byWeight, rangeLimit: 'weight' }
    : { rangeBlocks, rangeLimit: isRefused ? 'provider' : 'setting' };
}

/**
 * The expected events if the missing blocks are as dense as the sampled ones. The number of wallets is rather too high,
 * since the sampled wallets may act again in other blocks.
 */
function expectedEvents(survey: LogSurvey | undefined, finalBlocks: number, tipBlocks: number) {
  const density = survey ? survey.eventBlocks / survey.blocks : 0;
  const wallets = survey ? survey.wallets / survey.blocks : 0;
  return {
    finalEventBlocks: Math.round(density * finalBlocks),
    tipEventBlocks: Math.round(density * tipBlocks),
    wallets: Math.round(wallets * finalBlocks),
  };
}

function secondsAt(calls: SyncCalls, survey: LogSurvey | undefined): number {
  if (survey === undefined) return 0;
  const { eth_getLogs, eth_getBlockByNumber, eth_call, eth_getBlockReceipts } = calls;
  const { rangeSeconds, headersSeconds } = survey;
  const headers = Math.max(0, eth_getBlockByNumber - eth_getLogs) / HEADERS_AT_ONCE;
  const others = headers + eth_call + eth_getBlockReceipts / RECEIPTS_AT_ONCE;
  return (eth_getLogs * rangeSeconds + others * headersSeconds) / AT_ONCE;
}

function cheaperThan(facts: SyncFacts): { readonly two: number; readonly total: number } {
  const unitsIn = (changed: Partial<SyncFacts>): number =>
    unitsFor(syncCalls({ ...facts, ...changed }), COMPUTE_UNITS.perCall);
  return {
    two: unitsIn({ mode: 'two', hasOtherEndpoint: true }),
    total: unitsIn({ mode: 'total', totalCalls: 1 }),
  };
}
