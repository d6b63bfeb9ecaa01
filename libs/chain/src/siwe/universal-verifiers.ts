import { type Address } from '#libs/domain';

/**
 * Chain id to the contract that verifies signatures by EIP-6492, where one was deployed because the chain takes no `eth_call` without
 * `to`: the ZK Stack chains of viem's chain definitions (`contracts.erc6492Verifier`, https://github.com/wevm/viem/pull/2807). Kept by
 * hand, as viem's list of all chains takes 50 MB and 0.3 s to load; a test compares the two.
 */
export const UNIVERSAL_VERIFIERS: ReadonlyMap<number, Address> = new Map(
  [
    /* ZKsync Sepolia */ 300, /* ZKsync Era */ 324, /* Abstract */ 2741,
    /* Abstract Testnet */ 11_124,
  ].map((chainId) => [chainId, '0xfb688330379976da81eb64fe4bf50d7401763b9c' as Address]),
);
