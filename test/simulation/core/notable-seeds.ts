/** Seeds in which something rare happens; each of them has found a fault of `test/simulation/faults/core`. */
export const NOTABLE_SEEDS: readonly { readonly seed: number; readonly what: string }[] = [];
