/**
 * The cost of a first sync, or of the rest of one: calls by method, as `vouch` of the indexer makes
 * them. Calls whose number does not grow with the history are left out: the heads that are read on the
 * way, a sample of wallets at the end, and retries.
 */
import { type BlockRef } from '#libs/domain';
import { type ChainReader } from './chain-reader.js';
import { MULTICALL_SIZE } from '../calls/multicall.js';
import { countProviders, providerOf } from '../rpc/endpoint-urls.js';
import { computeUnitsOf } from '../rpc/rpc-call.js';
import { type Verification, type VerificationMode } from './verification.js';

/** Target size of one answer in bytes: large enough to be worth a round trip, small enough to parse without a pause. */
export const ANSWER_BYTES = 3 * 1024 * 1024;

export const SYNC_METHODS = [
  'eth_getLogs',
  'eth_getBlockByNumber',
  'eth_call',
  'eth_getBlockReceipts',
] as const;
export type SyncMethod = (typeof SYNC_METHODS)[number];

export type SyncCalls = Readonly<Record<SyncMethod, number>>;

export interface SyncFacts {
  readonly mode: VerificationMode;
  /** Missing blocks up to the newest final one. */
  readonly finalBlocks: number;
  /** Missing blocks above the newest final one. */
  readonly tipBlocks: number;
  /** Blocks per eth_getLogs request, at least 1. */
  readonly rangeBlocks: number;
  /** Blocks with events, among `finalBlocks` and among `tipBlocks`; 0 where not known. */
  readonly finalEventBlocks?: number;
  readonly tipEventBlocks?: number;
  /** Calls that read the contracts' total once: one for each contract; 0 where there is no total. */
  readonly totalCalls: number;
  /** False where the total is compared above the newest final block only. Default: true. */
  readonly comparesPastTotals?: boolean;
  /** Wallets to compare at the end, in the mode `wallets` only. */
  readonly wallets?: number;
  /** Calls for the balance of one wallet: one for each contract. */
  readonly callsPerWallet?: number;
  /** Whether Multicall3 is on this chain. */
  readonly hasMulticall: boolean;
  /** Whether another endpoint can be asked for a second look at a block's logs; otherwise the receipts are read. */
  readonly hasOtherEndpoint: boolean;
  /** Whether the endpoints are of two providers, so every range is compared at the other one, in every mode. */
  readonly hasOtherProvider?: boolean;
}

export function syncCalls(facts: SyncFacts): SyncCalls {
  const { mode, hasOtherEndpoint } = facts;
  const final = rangesOf(facts.finalBlocks, facts);
  const tip = rangesOf(facts.tipBlocks, facts);
  const finalEvents = Math.min(facts.finalEventBlocks ?? 0, facts.finalBlocks);
  const tipEvents = Math.min(facts.tipEventBlocks ?? 0, facts.tipBlocks);
  const totals = tip + (facts.comparesPastTotals === false ? 0 : final);
  // Ranges that are read a second time: all ranges from another provider, or the final ones from the same provider.
  const isCompared = mode === 'two' || facts.hasOtherProvider === true;
  const again = isCompared ? final + tip : mode === 'wallets' ? final : 0;
  // Blocks with events are looked at a second time where nothing else would show that one of several is missing.
  const secondLooks = mode === 'wallets' || mode === 'none' ? tipEvents : 0;
  return {
    eth_getLogs: final + tip + again + (hasOtherEndpoint ? secondLooks : 0),
    eth_getBlockByNumber: final + finalEvents + facts.tipBlocks + again,
    eth_call: totals * facts.totalCalls + (mode === 'wallets' ? walletCalls(facts) : 0),
    eth_getBlockReceipts: hasOtherEndpoint ? 0 : secondLooks,
  };
}

function rangesOf(blocks: number, { rangeBlocks }: SyncFacts): number {
  return Math.ceil(blocks / rangeBlocks);
}

function walletCalls({ wallets = 0, callsPerWallet = 1, hasMulticall }: SyncFacts): number {
  const calls = wallets * callsPerWallet;
  return hasMulticall ? Math.ceil(calls / MULTICALL_SIZE) : calls;
}

export function callsInAll(calls: SyncCalls): number {
  return SYNC_METHODS.reduce((sum, method) => sum + calls[method], 0);
}

/** In the unit of the budgets in RPC_URLS, of the metrics and of docs/operating/chains.md. */
export function unitsFor(calls: SyncCalls): number {
  return SYNC_METHODS.reduce((sum, method) => sum + calls[method] * computeUnitsOf(method), 0);
}

interface SyncQuestion {
  /** The newest indexed block, or the one before the first. */
  readonly head: BlockRef;
  readonly verification: Verification;
  /** Number of staking contracts. */
  readonly contracts: number;
  readonly maxRangeBlocks: number;
}

export interface SyncEstimate {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
  readonly blocks: number;
  readonly calls: SyncCalls;
  readonly computeUnits: number;
  /** At the speed of one request that was just made, and within the budgets of RPC_URLS. */
  readonly seconds: number;
}

/**
 * The least that the missing part of a sync takes: where the provider allows ranges of `maxRangeBlocks`, and none of
 * the blocks holds events. Asks for the newest blocks only.
 * @throws AllEndpointsFailedError
 */
export async function estimateSync(
  reader: ChainReader,
  { head, verification, contracts, maxRangeBlocks }: SyncQuestion,
): Promise<SyncEstimate> {
  const begunMs = performance.now();
  const { latest, finalised } = await reader.heads();
  const requestSeconds = (performance.now() - begunMs) / 1000;
  const { mode, comparesPastTotals } = verification;
  const finalBlocks = Math.max(0, Number(finalised.number - head.number));
  const blocks = Math.max(finalBlocks, Number(latest.number - head.number));
  const calls = syncCalls({
    mode,
    finalBlocks,
    tipBlocks: blocks - finalBlocks,
    rangeBlocks: maxRangeBlocks,
    totalCalls: reader.hasTotal ? contracts : 0,
    comparesPastTotals,
    hasMulticall: true,
    hasOtherEndpoint: false,
    hasOtherProvider: countProviders(reader.endpoints) > 1,
  });
  return {
    fromBlock: head.number + 1n,
    toBlock: latest.number,
    blocks,
    calls,
    computeUnits: unitsFor(calls),
    seconds: Math.max(
      (requestsFor(calls) * requestSeconds) / REQUESTS_AT_ONCE,
      secondsWithin(reader, calls, mode),
    ),
  };
}

/** What an indexer sends at once, about; up to 24 to an endpoint that accepts them. */
const REQUESTS_AT_ONCE = 16;
/** Headers that it reads with one request; those of the ranges come with their logs. */
const HEADERS_AT_ONCE = 20;

function requestsFor({ eth_getLogs, eth_getBlockByNumber, eth_call }: SyncCalls): number {
  return eth_getLogs + Math.max(0, eth_getBlockByNumber - eth_getLogs) / HEADERS_AT_ONCE + eth_call;
}

/**
 * The shortest duration that the budgets allow; 0 where endpoints without a budget can do all the work. In the mode
 * `two`, each range is read from two providers, so that one provider does half of the work at most.
 */
export function secondsWithin(
  { endpoints, budgets }: Pick<ChainReader, 'endpoints' | 'budgets'>,
  calls: SyncCalls,
  mode: VerificationMode,
): number {
  // The part of the work that each provider can do in a second.
  const speeds = new Map<string, number>();
  for (const [place, endpoint] of endpoints.entries()) {
    const provider = providerOf(endpoint);
    const speed = 1 / secondsAlone(budgets[place], calls);
    speeds.set(provider, (speeds.get(provider) ?? 0) + speed);
  }
  const [fastest = 0, ...others] = [...speeds.values()].sort((a, b) => b - a);
  const speedOfOthers = others.reduce((sum, speed) => sum + speed, 0);
  const together = 1 / (fastest + speedOfOthers);
  return mode === 'two' ? Math.max(together, 0.5 / speedOfOthers) : together;
}

function secondsAlone(budget: ChainReader['budgets'][number], calls: SyncCalls): number {
  if (budget === undefined) return 0;
  const isByCalls = budget.unit === 'calls';
  const needed = isByCalls ? callsInAll(calls) : unitsFor(calls);
  return needed / budget.perSecond;
}
