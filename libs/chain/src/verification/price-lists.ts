/**
 * What providers count for a call. Facts of their public pages, read from stored copies that may be older than what they charge now:
 * they compare modes and ranges, and are no invoice.
 */
import { computeUnitsOf } from '../rpc/rpc-call.js';
import { type SyncMethod } from './sync-cost.js';

export interface PriceList {
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

/** `compute units` first. */
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
