/** The two payloads of POST /confirm-redemption, as the service sends them. */

export interface Outcome {
  readonly id: string;
  readonly address: string;
  readonly points: number;
}

type Payload = Readonly<Record<string, unknown>>;

const PRICE = 0.15;
const USD_PER_POINT = 0.01;

const INITIAL_AT = '2026-01-15T10:00:00.000Z';
const PENDING_AT = '2026-01-15T10:00:01.000Z';
const FINAL_AT = '2026-01-15T10:08:00.000Z';

export function claimedPayload(outcome: Outcome): Payload {
  return {
    ...common(outcome),
    status: 'claimed',
    txnConfirmed: true,
    txnHash: `0x${'c0'.repeat(32)}`,
    claimedAt: FINAL_AT,
    revertedAt: null,
  };
}

/** Nothing is confirmed on chain, so there is no hash. */
export function revertedPayload(outcome: Outcome): Payload {
  return {
    ...common(outcome),
    status: 'reverted',
    txnConfirmed: false,
    claimedAt: null,
    revertedAt: FINAL_AT,
  };
}

function common({ id, address, points }: Outcome): Payload {
  const usdAmount = points * USD_PER_POINT;
  return {
    address,
    deductPoints: points,
    usdAmount,
    svcAmount: usdAmount / PRICE,
    priceSvcUsd: PRICE,
    svcRedemptionId: id,
    initialAt: INITIAL_AT,
    pendingAt: PENDING_AT,
  };
}
