/** Seeds in which something rare happens. */
export const NOTABLE_SEEDS: readonly { readonly seed: number; readonly what: string }[] = [
  { seed: 1, what: 'a wallet changes at midnight, and again after a rollback' },
  { seed: 8, what: 'an answer about a day whose last second is not over' },
  { seed: 9, what: 'a write of a range fails and is made again' },
  { seed: 93, what: 'a provider leaves out an event of a final block' },
  { seed: 375, what: 'a window begins after a day without a change' },
  { seed: 1273, what: 'a dead indexer takes the lead while another one audits' },
];
