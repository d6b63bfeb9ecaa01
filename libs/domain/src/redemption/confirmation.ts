import { type Address } from '../values/address.js';
import { decimalToNumber, tokensToNumber } from '../values/ratio.js';
import { PermanentError } from '../values/errors.js';
import { type Redemption } from './redemption.js';
import { type UuidV7 } from './uuid-v7.js';

/**
 * The body of POST /confirm-redemption, by the field table of the partner interface. The table leaves two fields of
 * `reverted` open: nothing is confirmed on chain, so `txnConfirmed` is false and `txnHash` is left out.
 */
export interface ConfirmationPayload {
  readonly address: Address;
  readonly deductPoints: number;
  readonly usdAmount: number;
  /** In tokens, not in the smallest unit. */
  readonly svcAmount: number;
  readonly priceSvcUsd: number;
  readonly svcRedemptionId: UuidV7;
  readonly status: 'claimed' | 'reverted';
  readonly txnConfirmed: boolean;
  readonly txnHash?: string;
  /** ISO 8601, UTC, with milliseconds; the following three fields too. */
  readonly initialAt: string;
  readonly pendingAt: string;
  readonly claimedAt: string | null;
  readonly revertedAt: string | null;
}

/**
 * Rounds each number once, to the nearest double.
 * @throws PermanentError NOT_CONFIRMABLE for a redemption that is neither claimed nor reverted
 */
export function confirmationPayload(redemption: Redemption): ConfirmationPayload {
  const { state, pendingAtMs, claimedAtMs, revertedAtMs, paidEvidence } = redemption;
  if (pendingAtMs === null) throw notConfirmable(redemption);
  const common = {
    address: redemption.wallet,
    deductPoints: Number(redemption.points),
    usdAmount: decimalToNumber(redemption.usdAmount),
    svcAmount: tokensToNumber(redemption.tokenAmount, redemption.tokenDecimals),
    priceSvcUsd: decimalToNumber(redemption.priceUsd),
    svcRedemptionId: redemption.id,
    initialAt: isoTime(redemption.initialAtMs),
    pendingAt: isoTime(pendingAtMs),
  };
  if (state === 'claimed' && paidEvidence !== null && claimedAtMs !== null) {
    return {
      ...common,
      status: 'claimed',
      txnConfirmed: true,
      txnHash: paidEvidence.transactionHash,
      claimedAt: isoTime(claimedAtMs),
      revertedAt: null,
    };
  }
  if (state === 'reverted' && revertedAtMs !== null) {
    return {
      ...common,
      status: 'reverted',
      txnConfirmed: false,
      claimedAt: null,
      revertedAt: isoTime(revertedAtMs),
    };
  }
  throw notConfirmable(redemption);
}

function notConfirmable({ state }: Redemption): PermanentError {
  return new PermanentError(
    'NOT_CONFIRMABLE',
    `Only a claimed or a reverted redemption is confirmed to the partner, and this one is ${state}.`,
  );
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
