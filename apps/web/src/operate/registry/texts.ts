export const registryTexts = {
  title: 'Registry',
  intro:
    'The roots of sealed days that the redemption service publishes on chain, as ./lowmark cli registry status has them. What to do where something waits or differs: docs/operating/sealed-days.md#day-roots-on-chain.',
  registry: 'Registry',
  registryOf: (stakeSet: string) => `Registry of ${stakeSet}`,
  notSet:
    'REGISTRY_ADDRESS is not set for the console, so it knows of no registry. Publishing is optional: where the redemption service has the setting, give it to the console too.',
  noIndex: 'There is no index yet, so that nothing is sealed.',
  look: 'needs attention',
  underWay: 'under way',
  level: 'all that was due is final',
  nothing: 'nothing was due yet',
  differentMeans: (count: number) =>
    `Of ${count} ${count === 1 ? 'publication' : 'publications'} the registry holds another root, and contracts that rely on it refuse our proofs. Its reason is below.`,
  revisedMeans: (count: number, days: string) =>
    `Sealed again after ${count === 1 ? 'it was' : 'they were'} published, with another root than on chain: ${days}.`,
  chain: 'Chain',
  lastDay: 'Last day in a final block',
  lastTransaction: 'Its transaction',
  byOthers: 'of another publisher',
  final: 'Final',
  mined: 'In a block that is not final',
  waiting: 'Waiting',
  waitingSince: 'Oldest that is not final, due since',
  none: 'none',
  nothingYet:
    'Nothing was due yet: a day is published six hours after it was sealed, from REGISTRY_FIRST_DAY on.',
  publications: 'Publications, the newest first',
  day: 'UTC day',
  status: 'Status',
  root: 'Root',
  transaction: 'Transaction',
  acknowledged: 'acknowledged',
  statuses: {
    due: 'due',
    sent: 'sent',
    mined: 'in a block',
    final: 'final',
    refused: 'refused',
  },
};
