import fc from 'fast-check';
import { type Address, type BlockDeltas, dayOf, SECONDS_PER_DAY } from '#libs/domain';

/**
 * Stakes over some days that grow and shrink but never go below zero, some of them changing at midnight.
 * @param targets balances that a wallet may come to
 */
export function stakeHistories(
  wallets: readonly Address[],
  firstDay: number,
  targets: readonly bigint[],
): fc.Arbitrary<BlockDeltas[]> {
  const draft = fc.record({
    step: fc.constantFrom(0, 1, 3600, SECONDS_PER_DAY / 2, SECONDS_PER_DAY),
    toMidnight: fc.boolean(),
    wallet: fc.constantFrom(...wallets),
    target: fc.constantFrom(...targets),
  });
  return fc.array(draft, { minLength: 1, maxLength: 25 }).map((drafts) => {
    const held = new Map<Address, bigint>();
    let seconds = firstDay * SECONDS_PER_DAY;
    return drafts.map(({ step, toMidnight, wallet, target }, index): BlockDeltas => {
      seconds = toMidnight ? (dayOf(seconds) + 1) * SECONDS_PER_DAY : seconds + step;
      const amount = target - (held.get(wallet) ?? 0n);
      held.set(wallet, target);
      const deltas = [{ wallet, amount }];
      return { blockNumber: BigInt(index + 1), timestampSeconds: seconds, deltas };
    });
  });
}
