/**
 * A partner's books, honest whatever its front end answers: each redemption id deducts at most once, and each deduction
 * goes back at most once. `nature` is what the partner does beyond the interface; the capabilities recorded about it
 * may be fewer, never more.
 */
import {
  type Address,
  type ConfirmationPayload,
  type PartnerCapability,
  type PartnerErrorCode,
  type PartnerRequest,
  parseUuidV7,
  uuidV7Ms,
} from '#libs/domain';

export interface PartnerNature {
  readonly does: readonly PartnerCapability[];
  /** Checks the balance before the redemption id: its refusal may be the echo of our own lost success. */
  readonly balanceFirst: boolean;
  /** Names the standing deduction in ERR-DUPLICATE-REQUEST. */
  readonly namesDuplicates: boolean;
  /** Otherwise it signs answers of status 200 alone, as the interface allows, and refuses with another status. */
  readonly signsRefusals: boolean;
  /** Its clock minus ours, in milliseconds. */
  readonly clockAheadMs: number;
}

export interface BookedDeduction {
  readonly redemptionId: string;
  readonly transactionId: string;
  readonly wallet: Address;
  readonly points: number;
  revertId: string | undefined;
}

type DeductBody = Extract<PartnerRequest, { step: 'deduct' }>['body'];
type RevertBody = Extract<PartnerRequest, { step: 'revert' }>['body'];
export type BookAnswer = Readonly<Record<string, unknown>> & { readonly success: boolean };
export type BookRequest =
  PartnerRequest | { readonly step: 'confirm'; readonly body: ConfirmationPayload };

const FRESHNESS_MS = 300_000;

export class PartnerBooks {
  readonly points = new Map<Address, number>();
  readonly deductions: BookedDeduction[] = [];
  /** Accepted confirmations, by redemption id. */
  readonly confirmed = new Map<string, string>();
  private readonly byRedemption = new Map<string, BookedDeduction[]>();
  private readonly tombstones = new Set<string>();
  private readonly seen = new Set<string>();
  private serial = 0;

  constructor(
    private readonly name: string,
    readonly nature: PartnerNature,
  ) {
    // A deduction of a player that has nothing to do with the service.
    this.book({
      redemptionId: 'bystander',
      transactionId: `${name}-tx-bystander`,
      wallet: `0x${'b5'.repeat(20)}` as Address,
      points: 5000,
      revertId: undefined,
    });
  }

  get bystanderRobbed(): boolean {
    return this.deductions[0]?.revertId !== undefined;
  }

  of(redemptionId: string): readonly BookedDeduction[] {
    return this.byRedemption.get(redemptionId) ?? [];
  }

  standing(redemptionId: string): BookedDeduction | undefined {
    return this.of(redemptionId).find(({ revertId }) => revertId === undefined);
  }

  /** The partner's answer to a balance read. */
  balanceOf(address: string): BookAnswer {
    const points = this.points.get(address.toLowerCase() as Address);
    return points === undefined
      ? refusal('ERR-USER-NOT-FOUND')
      : { success: true, partnerUserId: `user-${address}`, address, points, chain: 'local' };
  }

  /** Changes the books. @returns the partner's answer */
  handle(request: BookRequest, requestId: string, nowMs: number): BookAnswer {
    if (this.nature.does.includes('enforces-freshness')) {
      const uuid = parseUuidV7(requestId);
      const ageMs = uuid ? nowMs + this.nature.clockAheadMs - uuidV7Ms(uuid) : Infinity;
      if (Math.abs(ageMs) > FRESHNESS_MS || this.seen.has(requestId)) {
        return refusal('ERR-AUTH-FAILED');
      }
      this.seen.add(requestId);
    }
    switch (request.step) {
      case 'deduct':
        return this.deduct(request.body);
      case 'revert':
        return this.revert(request.body);
      case 'confirm':
        return this.confirm(request.body);
    }
  }

  /** Gives points back by hand, at an operator's request. */
  restoreByHand(redemptionId: string): void {
    const standing = this.standing(redemptionId);
    if (standing !== undefined) this.giveBack(standing);
  }

  private deduct({ svcRedemptionId, deductPoints, address }: DeductBody): BookAnswer {
    const balance = this.points.get(address);
    if (balance === undefined) return refusal('ERR-USER-NOT-FOUND');
    const poor = balance < deductPoints;
    if (poor && this.nature.balanceFirst) return refusal('ERR-INSUFFICIENT-POINTS');
    const [known] = this.of(svcRedemptionId);
    if (known || this.tombstones.has(svcRedemptionId)) {
      const stands = known?.revertId === undefined ? known : undefined;
      return {
        ...refusal('ERR-DUPLICATE-REQUEST'),
        ...(stands && this.nature.namesDuplicates
          ? { partnerTransactionId: stands.transactionId }
          : {}),
      };
    }
    if (poor) return refusal('ERR-INSUFFICIENT-POINTS');
    this.points.set(address, balance - deductPoints);
    const transactionId = `${this.name}-tx-${++this.serial}`;
    this.book({
      redemptionId: svcRedemptionId,
      transactionId,
      wallet: address,
      points: deductPoints,
      revertId: undefined,
    });
    return { success: true, partnerTransactionId: transactionId };
  }

  private revert({ svcRedemptionId, partnerTransactionId, deductPoints }: RevertBody): BookAnswer {
    const { does } = this.nature;
    const found = this.deductions.find((one) =>
      partnerTransactionId === undefined
        ? // A search with an undefined id finds the first row.
          !does.includes('revert-by-redemption-id') || one.redemptionId === svcRedemptionId
        : one.transactionId === partnerTransactionId &&
          (!does.includes('refuses-mismatched-pair') || one.redemptionId === svcRedemptionId),
    );
    if (!found) {
      if (does.includes('tombstones')) this.tombstones.add(svcRedemptionId);
      return refusal('ERR-TRANSACTION-NOT-FOUND');
    }
    if (found.revertId !== undefined) return refusal('ERR-ALREADY-REVERTED');
    // A partner that takes any row for the right one does not compare the amount either.
    const isSloppy = found.redemptionId !== svcRedemptionId;
    if (found.points !== deductPoints && !isSloppy) return refusal('ERR-INVALID-AMOUNT');
    const partnerRevertId = this.giveBack(found);
    return { success: true, partnerTransactionId: found.transactionId, partnerRevertId };
  }

  private confirm(body: ConfirmationPayload): BookAnswer {
    if (this.confirmed.has(body.svcRedemptionId)) return refusal('ERR-DUPLICATE-REQUEST');
    this.confirmed.set(body.svcRedemptionId, body.status);
    return { success: true };
  }

  private book(deduction: BookedDeduction): void {
    this.deductions.push(deduction);
    const { redemptionId } = deduction;
    this.byRedemption.set(redemptionId, [...this.of(redemptionId), deduction]);
  }

  private giveBack(deduction: BookedDeduction): string {
    const revertId = `${this.name}-rev-${++this.serial}`;
    deduction.revertId = revertId;
    const { wallet, points } = deduction;
    this.points.set(wallet, (this.points.get(wallet) ?? 0) + points);
    return revertId;
  }
}

export function refusal(errorCode: PartnerErrorCode): BookAnswer {
  return { success: false, errorCode, errorMessage: 'No.' };
}
