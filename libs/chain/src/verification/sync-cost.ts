/**
 * The cost of a first sync, or of the rest of one: calls by method, as range-verifier.ts and wallet-check.ts of the
 * indexer make them. A pure estimate, used by `plan-sync` and by the indexer's log line at its start. Calls whose
 * number does not grow with the history are left out: the heads that are read on the way, a sample of wallets at the
 * end, and retries.
 */
import { MULTICALL_SIZE } from '../reader/multicall.js';
import { computeUnitsOf } from '../rpc/rpc-call.js';
import { type VerificationMode } from './verification.js';

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
  const isEveryHeader = mode === 'headers';
  // Ranges that are read a second time: all ranges from another provider, or the final ones from the same provider.
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

export function callsInAll(calls: SyncCalls): number {
  return SYNC_METHODS.reduce((sum, method) => sum + calls[method], 0);
}

/** @param units cost of a call of each method */
export function unitsFor(calls: SyncCalls, units: Readonly<Record<SyncMethod, number>>): number {
  return SYNC_METHODS.reduce((sum, method) => sum + calls[method] * units[method], 0);
}

interface PriceList {
  readonly name: string;
  /** The provider's name for its unit. */
  readonly unit: string;
  readonly perCall: Readonly<Record<SyncMethod, number>>;
  readonly source: string;
}

/** The unit of the budgets in RPC_URLS, of the metrics and of docs/operating/chains.md. */
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
 * What providers count for a call, compute units first. The figures are from stored copies of the providers' public
 * pages, which may be older than what they charge now. They serve to compare modes and ranges, and are no invoice.
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
