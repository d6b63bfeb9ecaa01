/**
 * What a first sync, or the rest of one, costs: calls by method, as range-verifier.ts and wallet-check.ts of the indexer make them. A
 * pure estimate; `plan-sync` and the indexer's line at its start both count here. Left out are the calls whose number does not grow
 * with the history: the heads that are asked for as it goes, a sample of wallets at the end, and whatever has to be asked twice.
 */
import { MULTICALL_SIZE } from '../reader/multicall.js';
import { computeUnitsOf } from '../rpc/rpc-call.js';
import { type VerificationMode } from './verification.js';

/** Bytes of one answer to aim at: large enough to be worth a round trip, small enough to parse without a pause. */
export const ANSWER_BYTES = 3 * 1024 * 1024;

/** The methods that a sync is made of. */
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
  /** Missing blocks above it. */
  readonly tipBlocks: number;
  /** Blocks of one eth_getLogs, at least 1. */
  readonly rangeBlocks: number;
  /** Of the final blocks those with events, and likewise of the others; 0 where that is not known. */
  readonly finalEventBlocks?: number;
  readonly tipEventBlocks?: number;
  /** Calls for one reading of the contracts' total: one for each contract; 0 where there is no total. */
  readonly totalCalls: number;
  /** False where the total is compared above the newest final block only. Default: true. */
  readonly comparesPastTotals?: boolean;
  /** Wallets to be compared at the end; in the mode `wallets` only. */
  readonly wallets?: number;
  /** Calls for the balance of one wallet: one for each contract. */
  readonly callsPerWallet?: number;
  /** Multicall3 is on this chain. */
  readonly hasMulticall: boolean;
  /** There is another endpoint, which is asked for a block's logs where a second look is due; else the receipts are read. */
  readonly hasOtherEndpoint: boolean;
  /** Endpoints are of two providers: every range is compared at the other one, in every mode. */
  readonly hasOtherProvider?: boolean;
}

export function syncCalls(facts: SyncFacts): SyncCalls {
  const { mode, hasOtherEndpoint } = facts;
  const final = rangesOf(facts.finalBlocks, facts);
  const tip = rangesOf(facts.tipBlocks, facts);
  const finalEvents = Math.min(facts.finalEventBlocks ?? 0, facts.finalBlocks);
  const tipEvents = Math.min(facts.tipEventBlocks ?? 0, facts.tipBlocks);
  const totals = tip + (facts.comparesPastTotals === false ? 0 : final);
  const isEveryHeader = mode === 'headers';
  // Asked a second time: by another provider in the whole range, or by the same one in what is final.
  const isCompared = mode === 'two' || facts.hasOtherProvider === true;
  const again = isCompared ? final + tip : mode === 'wallets' ? final : 0;
  // Blocks with events are looked at a second time where nothing else would show that one of several is missing.
  const secondLooks =
    (isEveryHeader ? finalEvents : 0) + (isEveryHeader || mode === 'wallets' ? tipEvents : 0);
  return {
    eth_getLogs: final + tip + again + (hasOtherEndpoint ? secondLooks : 0),
    eth_getBlockByNumber:
      (isEveryHeader ? facts.finalBlocks : final + finalEvents) + facts.tipBlocks + again,
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

/** All calls together. */
export function callsInAll(calls: SyncCalls): number {
  return SYNC_METHODS.reduce((sum, method) => sum + calls[method], 0);
}

/** @param units what a call of each method costs */
export function unitsFor(calls: SyncCalls, units: Readonly<Record<SyncMethod, number>>): number {
  return SYNC_METHODS.reduce((sum, method) => sum + calls[method] * units[method], 0);
}

interface PriceList {
  readonly name: string;
  /** What the provider calls its unit. */
  readonly unit: string;
  readonly perCall: Readonly<Record<SyncMethod, number>>;
  readonly source: string;
}

/** In which budgets of RPC_URLS, the metrics and docs/operating/chains.md are counted. */
export const COMPUTE_UNITS: PriceList = {
  name: 'compute units',
  unit: 'CU',
  perCall: {
    eth_getLogs: computeUnitsOf('eth_getLogs'),
    eth_getBlockByNumber: computeUnitsOf('eth_getBlockByNumber'),
    eth_call: computeUnitsOf('eth_call'),
    eth_getBlockReceipts: computeUnitsOf('eth_getBlockReceipts'),
  },
  source: 'https://docs.alchemyapi.io/documentation/compute-units',
};

/**
 * What providers count for a call, compute units first. Facts of their public pages, read from stored copies that may be older than what
 * they charge now: they compare modes and ranges, and are no invoice.
 */
export const PRICE_LISTS: readonly PriceList[] = [
  COMPUTE_UNITS,
  {
    name: 'Alchemy',
    unit: 'CU',
    // eth_getBlockReceipts counts 20 in the bill and 500 in the rate limit.
    perCall: {
      eth_getLogs: 60,
      eth_getBlockByNumber: 20,
      eth_call: 26,
      eth_getBlockReceipts: 20,
    },
    source: 'https://www.alchemy.com/docs/reference/compute-unit-costs',
  },
  {
    name: 'Infura',
    unit: 'credits',
    perCall: {
      eth_getLogs: 255,
      eth_getBlockByNumber: 80,
      eth_call: 80,
      eth_getBlockReceipts: 1000,
    },
    source:
      'https://github.com/MetaMask/metamask-docs/blob/2562e5105f5b0e6867c365aa00d4bc966b226efd/services/get-started/pricing/credit-cost.md',
  },
  {
    name: 'QuickNode',
    unit: 'credits',
    // Most EVM chains; Abstract, Gnosis, Scroll and zkSync count 30 for each.
    perCall: {
      eth_getLogs: 20,
      eth_getBlockByNumber: 20,
      eth_call: 20,
      eth_getBlockReceipts: 20,
    },
    source: 'https://quicknode.com/api-credits/blast',
  },
];
