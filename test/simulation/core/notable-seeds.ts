/** Seeds in which something rare happens; each of them has found a fault of `test/simulation/faults/core`. */
export const NOTABLE_SEEDS: readonly { readonly seed: number; readonly what: string }[] = [
  { seed: 1, what: 'a wallet changes at midnight, and again after a rollback' },
  { seed: 8, what: 'an answer about a day whose last second is not over' },
  { seed: 9, what: 'a write of a range fails and is made again' },
];
