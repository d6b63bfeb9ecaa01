/** Counts as a test file without being one. */
import { parseDecimal } from '#libs/domain';
import { createLogger } from '#libs/service';
import { type CommittedPayout } from '../payout/payout-port.js';
import { type CancelPolicy, type VoucherPayout } from '../payout/voucher-payout.js';

export const FIFTY_USD = parseDecimal('50.00');

/** Cancels all, at whatever a local chain asks for, and counts no coin. */
export function aCancelPolicy(changes: Partial<CancelPolicy> = {}): CancelPolicy {
  return {
    caps: { maxGasPrice: 500n * 10n ** 9n, maxGas: 1_000_000n },
    dailyWei: 10n ** 18n,
    coins: { reserve: () => Promise.resolve(true), spent: () => Promise.resolve(0n) },
    minUsd: parseDecimal('0'),
    logger: createLogger({ app: 'test', level: 'silent' }),
    raise: () => undefined,
    ...changes,
  };
}

/** Returns when the vault was asked. */
export function cancelled(payouts: VoucherPayout, payout: CommittedPayout): Promise<void> {
  payouts.requestCancel(payout, FIFTY_USD);
  return payouts.cancelsSent();
}
