import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  decimalToNumber,
  isFinal,
  payableUntilSeconds,
  PUBLIC_STATUSES,
  type PublicStatus,
  publicStatus,
  type Redemption,
  REDEMPTION_STATES,
  type RedemptionState,
  tokensToNumber,
} from '#libs/domain';
import { ADDRESS, COUNT, DIGITS, HEX, NUMBER, PARTNER_NAME, TIME, UUID } from '../http/schema.js';
import { type PartnerName } from '../partner/partner.dto.js';
import { type Voucher } from '../payout/payout.js';

@ApiSchema({ name: 'Voucher' })
export class VoucherBody {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly chainId!: number;

  @ApiProperty({ ...ADDRESS, description: 'Where the transaction goes.' })
  readonly vault!: string;

  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-f]{64}$' })
  readonly redemptionId!: string;

  @ApiProperty({ ...ADDRESS, description: 'Is paid; any account may send the transaction.' })
  readonly recipient!: string;

  @ApiProperty({ ...DIGITS, description: 'In the token’s smallest unit.' })
  readonly amount!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Unix seconds; the last block time that pays.',
  })
  readonly deadline!: number;

  @ApiProperty({ type: 'string', pattern: '^0x[0-9a-f]{130}$' })
  readonly signature!: string;

  @ApiProperty({ ...HEX, description: 'The data of the transaction that claims it.' })
  readonly calldata!: string;
}

const TIME_OR_NULL = { ...TIME, nullable: true } as const;

/** Amounts in whole units are numbers, rounded once. */
@ApiSchema({ name: 'Redemption' })
export class RedemptionBody {
  @ApiProperty(UUID)
  readonly id!: string;

  @ApiProperty(PARTNER_NAME)
  readonly partner!: PartnerName;

  @ApiProperty(ADDRESS)
  readonly wallet!: string;

  @ApiProperty(COUNT)
  readonly points!: number;

  @ApiProperty(NUMBER)
  readonly usdAmount!: number;

  @ApiProperty({ ...NUMBER, description: 'Whole tokens, rounded once to a double.' })
  readonly tokens!: number;

  @ApiProperty({ ...DIGITS, description: 'Exact, in the token’s smallest unit.' })
  readonly tokenAmount!: string;

  @ApiProperty({ ...NUMBER, description: 'US dollars for one token; frozen with the rest.' })
  readonly priceUsd!: number;

  @ApiProperty({ enum: PUBLIC_STATUSES })
  readonly status!: PublicStatus;

  @ApiProperty({ enum: REDEMPTION_STATES })
  readonly stage!: RedemptionState;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why, where it is not the course of things.',
  })
  readonly reason!: string | null;

  @ApiProperty({ type: 'boolean' })
  readonly cancelRequested!: boolean;

  @ApiProperty(TIME)
  readonly quoteExpiresAt!: string;

  @ApiProperty(TIME)
  readonly initialAt!: string;

  @ApiProperty(TIME_OR_NULL)
  readonly pendingAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly deductedAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly authorisedAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly claimedAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly revertedAt!: string | null;

  @ApiProperty(TIME_OR_NULL)
  readonly failedAt!: string | null;

  @ApiProperty({
    ...TIME_OR_NULL,
    description:
      'The voucher’s deadline, until the redemption is final: unclaimed, the points go back once a final block is later. Null before there was a voucher.',
  })
  readonly payableUntil!: string | null;

  @ApiProperty({
    ...TIME_OR_NULL,
    description:
      'In stage authorised: when the points are back at the latest if the voucher is not claimed, as long as chain and partner answer as they do. Else null.',
  })
  readonly returnsBy!: string | null;

  @ApiProperty({
    ...TIME_OR_NULL,
    description:
      'Until when a cancellation is of use: the quote’s end in stage created, `payableUntil` in stage authorised. Null where it was cancelled, or no such time is known.',
  })
  readonly cancellableUntil!: string | null;

  @ApiProperty({ ...HEX, nullable: true, description: 'Of the final claim.' })
  readonly txnHash!: string | null;

  @ApiProperty({
    type: () => VoucherBody,
    nullable: true,
    description: 'In stage authorised, unless it is to be cancelled.',
  })
  readonly voucher!: VoucherBody | null;
}

@ApiSchema({ name: 'Redemptions' })
export class RedemptionsBody {
  @ApiProperty({ type: [RedemptionBody] })
  readonly redemptions!: readonly RedemptionBody[];

  @ApiProperty({ ...UUID, nullable: true, description: '`before` of the next page.' })
  readonly next!: string | null;
}

/** Facts of the body that are not in the row. */
export interface PresentFacts {
  readonly partner: PartnerName;
  readonly voucher: Voucher | undefined;
  /** Seconds from the deadline of a voucher until the points are back. */
  readonly returnSeconds: number | undefined;
}

export function redemptionBody(
  redemption: Redemption,
  { partner, voucher, returnSeconds }: PresentFacts,
): RedemptionBody {
  const { id, wallet, points, tokenAmount, state } = redemption;
  return {
    id,
    partner,
    wallet,
    points: Number(points),
    usdAmount: decimalToNumber(redemption.usdAmount),
    tokens: tokensToNumber(tokenAmount, redemption.tokenDecimals),
    tokenAmount: tokenAmount.toString(),
    priceUsd: decimalToNumber(redemption.priceUsd),
    status: publicStatus(state),
    stage: state,
    reason: redemption.reason,
    cancelRequested: isCancelRequested(redemption),
    quoteExpiresAt: isoOf(redemption.quoteExpiresAtMs),
    initialAt: isoOf(redemption.initialAtMs),
    pendingAt: isoOrNull(redemption.pendingAtMs),
    deductedAt: isoOrNull(redemption.deductedAtMs),
    authorisedAt: isoOrNull(redemption.authorisedAtMs),
    claimedAt: isoOrNull(redemption.claimedAtMs),
    revertedAt: isoOrNull(redemption.revertedAtMs),
    failedAt: isoOrNull(redemption.failedAtMs),
    payableUntil: isoOrNull(payableUntilMs(redemption)),
    returnsBy: isoOrNull(returnsByMs(redemption, returnSeconds)),
    cancellableUntil: isoOrNull(cancellableUntilMs(redemption)),
    txnHash: redemption.paidEvidence?.transactionHash ?? null,
    voucher: voucher ? voucherBody(voucher) : null,
  };
}

/** Whether a cancellation was requested, whatever its outcome. */
export function isCancelRequested({ reason, revertReason }: Redemption): boolean {
  return [reason, revertReason].some((one) => one?.endsWith('-cancelled') === true);
}

function payableUntilMs(redemption: Redemption): number | null {
  if (redemption.plan === null || isFinal(redemption.state)) return null;
  return payableUntilSeconds(redemption) * 1000;
}

function returnsByMs(redemption: Redemption, returnSeconds: number | undefined): number | null {
  if (redemption.state !== 'authorised' || returnSeconds === undefined) return null;
  return (payableUntilSeconds(redemption) + returnSeconds) * 1000;
}

function cancellableUntilMs(redemption: Redemption): number | null {
  const { state, quoteExpiresAtMs } = redemption;
  if (isCancelRequested(redemption)) return null;
  if (state === 'created') return quoteExpiresAtMs;
  return state === 'authorised' ? payableUntilMs(redemption) : null;
}

function voucherBody({
  vaultRedemptionId,
  amount,
  deadlineSeconds,
  ...rest
}: Voucher): VoucherBody {
  return {
    chainId: rest.chainId,
    vault: rest.vault,
    redemptionId: vaultRedemptionId,
    recipient: rest.recipient,
    amount: amount.toString(),
    deadline: deadlineSeconds,
    signature: rest.signature,
    calldata: rest.calldata,
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : isoOf(ms);
}
