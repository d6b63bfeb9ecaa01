/** What the redemption's tokens must fit into, in the smallest unit, before its points are taken. */
export interface ReservationLimits {
  /** What the vault can pay in all, the open payouts included. */
  readonly room: bigint;
  /** Of the partner and the UTC day on which the redemption was made; absent: not limited. */
  readonly partnerDailyTokens?: bigint | undefined;
  /** Of the wallet and the same day; absent: not limited. */
  readonly walletDailyTokens?: bigint | undefined;
}

/** As parameters of a statement; where nothing is to be reserved, all null. */
export function reservationValues(limits?: ReservationLimits): (string | null)[] {
  const { room, partnerDailyTokens, walletDailyTokens } = limits ?? {};
  return [room, partnerDailyTokens, walletDailyTokens].map((tokens) => tokens?.toString() ?? null);
}
