import { isCounted, type StakeEventSpec } from '#libs/chain';

/** Where events name wallets. */
export type WalletSlots = Pick<
  StakeEventSpec,
  'topic0' | 'topics' | 'where' | 'account' | 'receiver'
>;

/**
 * Adds the wallets that a log names: its last 20 bytes of each field. What is malformed names none.
 * @returns whether one of the events counts the log
 */
export function addWalletsOf(
  log: unknown,
  events: readonly WalletSlots[],
  wallets: Set<string>,
): boolean {
  const { topics, data } = (log ?? {}) as { readonly topics?: unknown; readonly data?: unknown };
  if (!Array.isArray(topics) || typeof data !== 'string') return false;
  const counting = events.filter((event) => isCounted([event], { topics, data }));
  for (const { account, receiver } of counting) {
    for (const slot of receiver ? [account, receiver] : [account]) {
      const word: unknown =
        slot.in === 'topic'
          ? topics[slot.index]
          : data.slice(2 + slot.word * 64, 2 + (slot.word + 1) * 64);
      if (typeof word === 'string') wallets.add(word.slice(-40));
    }
  }
  return counting.length > 0;
}
