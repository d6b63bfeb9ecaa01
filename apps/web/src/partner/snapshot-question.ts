import { textsOf } from '../shared/search-texts.js';

/** The values of the snapshot explorer's form. All are texts, to show the api's answer to an invalid value. */
export interface SnapshotQuestion {
  /** Empty where no key was chosen. */
  readonly keyPrefix: string;
  readonly walletAddress: string;
  readonly lastDays: string;
  /** UTC day such as 2026-11-20; empty means the day before the request. */
  readonly endDay: string;
  /** Empty means the contract of the partner's stake set. */
  readonly contract: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

const NAMES = ['keyPrefix', 'walletAddress', 'lastDays', 'endDay', 'contract'] as const;

/** The question in the parameters of an address, which preserves it over a sign-in. */
export function snapshotSearch(given: Readonly<Record<string, unknown>> | SnapshotQuestion) {
  const { endDay = '', ...others } = textsOf({ ...given }, NAMES);
  // A date input shows nothing for other text, and an invisible value must not be sent.
  return { ...others, ...(DAY.test(endDay) && !Number.isNaN(Date.parse(endDay)) && { endDay }) };
}

/** The parameters for the console; empty optional values are left out. */
export function queryOf({ endDay, contract, ...required }: SnapshotQuestion) {
  return {
    ...required,
    ...(endDay !== '' && { endDay }),
    ...(contract !== '' && { contract }),
  };
}
