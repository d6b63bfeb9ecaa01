/** Seeds in which something rare happens. Most of them have found a fault of `test/simulation/faults/engine`. */
export const NOTABLE_SEEDS: readonly { readonly seed: number; readonly what: string }[] = [
  { seed: 5, what: 'an end on the chain is seen before it is final' },
  { seed: 10, what: 'one of two nodes makes up a cancellation' },
  { seed: 20, what: 'a worker dies while its deduction is under way' },
  { seed: 62, what: 'the vault holds less than what is asked for' },
  { seed: 141, what: 'a worker writes so late that another one has its lease' },
  { seed: 198, what: 'a slow partner takes longer than one lease' },
  { seed: 1212, what: 'a ledger goes back to before its points went back' },
  { seed: 5322, what: 'a held deduction arrives after the partner found nothing to revert' },
  { seed: 32775, what: 'unsigned answers leave a revert unknown for its seven days' },
];
