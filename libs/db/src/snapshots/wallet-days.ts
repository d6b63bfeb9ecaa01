import { type BalanceDay } from '#libs/domain';

export type WalletDay = Omit<BalanceDay, 'wallet'>;

/** The form in which the database hands out a wallet's days, and in which they are kept: short, and amounts are texts. */
const DAYS = /^\[(?:\[-?\d{1,7},(?:null|"\d{1,78}"),"\d{1,78}"\](?:,(?=\[)|(?=\]$)))*\]$/;

/** Whether a text is what `SnapshotStore.read` hands out: it may have been kept where others can write. */
export function isDaysText(text: string): boolean {
  return DAYS.test(text);
}

/** @param daysText as `SnapshotStore.read` hands it out */
export function walletDaysFrom(daysText: string): WalletDay[] {
  const days = JSON.parse(daysText) as [day: number, low: string | null, closing: string][];
  return days.map(([day, low, closing]) => ({
    day,
    low: low === null ? null : BigInt(low),
    closing: BigInt(closing),
  }));
}
