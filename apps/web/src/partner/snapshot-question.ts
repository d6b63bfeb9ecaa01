/** What the snapshot explorer asks. All are texts: what the api says of a mistake is to be seen. */
export interface SnapshotQuestion {
  /** Empty: none was chosen. */
  readonly keyPrefix: string;
  readonly walletAddress: string;
  readonly lastDays: string;
  /** As 2026-11-20; empty: the day before the request. */
  readonly endDay: string;
  /** Empty: the one agreed. */
  readonly contract: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** As the address has it, by which it comes back after a sign-in. */
export function questionOf(search: string): SnapshotQuestion {
  const query = new URLSearchParams(search);
  const endDay = query.get('endDay') ?? '';
  return {
    keyPrefix: query.get('keyPrefix') ?? '',
    walletAddress: query.get('walletAddress') ?? '',
    lastDays: query.get('lastDays') ?? '7',
    // A field for days shows nothing else, and what is not seen is not sent.
    endDay: DAY.test(endDay) && !Number.isNaN(Date.parse(endDay)) ? endDay : '',
    contract: query.get('contract') ?? '',
  };
}

/** As the console takes it: what is empty and may be absent is left out. */
export function queryOf({ endDay, contract, ...required }: SnapshotQuestion) {
  return {
    ...required,
    ...(endDay !== '' && { endDay }),
    ...(contract !== '' && { contract }),
  };
}
