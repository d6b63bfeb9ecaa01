import {
  type Confirmation,
  type Deduction,
  type DeductionDone,
  type PointsBalance,
  type PointsQuery,
  type Revert,
  type RevertDone,
} from './payloads.js';

/** The call that a handler works for. */
export interface CallContext {
  /** `X-API-REQUEST`, new for each attempt: for logs, never to recognise a redemption by. */
  readonly requestId: string;
}

/** The four operations. What a handler throws is sent as a refusal where it is a `Refusal`, and as ERR-INTERNAL where not. */
export interface CallbackHandlers {
  /** @throws Refusal ERR-USER-NOT-FOUND */
  getPoints(query: PointsQuery, call: CallContext): Promise<PointsBalance> | PointsBalance;
  /** Once for each `svcRedemptionId`. @throws Refusal ERR-DUPLICATE-REQUEST, ERR-USER-NOT-FOUND, ERR-INSUFFICIENT-POINTS */
  deductPoints(deduction: Deduction, call: CallContext): Promise<DeductionDone> | DeductionDone;
  /** Once for each `svcRedemptionId`. @throws Refusal ERR-TRANSACTION-NOT-FOUND, ERR-ALREADY-REVERTED, ERR-INVALID-AMOUNT */
  revertDeduction(revert: Revert, call: CallContext): Promise<RevertDone> | RevertDone;
  /** Where it is left out, the endpoint does not exist: tell the service so. @throws Refusal ERR-REDEMPTION-NOT-FOUND */
  confirmRedemption?(confirmation: Confirmation, call: CallContext): Promise<void> | void;
}
