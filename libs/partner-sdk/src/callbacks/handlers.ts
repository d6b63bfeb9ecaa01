import { type FailedCall, type RefusedCall } from './call.js';
import { type ReplayStore } from './authenticate.js';
import { type Clock } from '../clock.js';
import { type Credential } from '../credential.js';

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

/** What the four calls carry, as a handler gets it: checked, the wallet and ids in lower case. */
export interface PointsQuery {
  /** `0x` and 40 hex digits in lower case. */
  readonly address: string;
}

export interface Deduction {
  /** `0x` and 40 hex digits in lower case. */
  readonly address: string;
  /** From 1 to 2^53 - 1. */
  readonly deductPoints: number;
  /** A UUID in lower case; it names the deduction, however often the call comes. */
  readonly svcRedemptionId: string;
}

export interface Revert extends Deduction {
  /** Left out where the service never got it: `svcRedemptionId` alone names the deduction. */
  readonly partnerTransactionId?: string;
  readonly revertReason?: string;
}

export interface Confirmation extends Deduction {
  readonly usdAmount: number;
  readonly svcAmount: number;
  readonly priceSvcUsd: number;
  readonly status: 'claimed' | 'reverted';
  readonly txnConfirmed: boolean;
  /** `0x` and 64 hex digits in lower case; there where claimed. */
  readonly txnHash?: string | null;
  /** Times are ISO 8601. */
  readonly initialAt: string;
  readonly pendingAt: string;
  readonly claimedAt: string | null;
  readonly revertedAt: string | null;
}

/** Fields beside these are sent along. */
export interface PointsBalance {
  readonly partnerUserId: string;
  /** 0 to 2^53 - 1, a whole number. */
  readonly points: number;
  /** `abstract`, `ronin`, `ethereum` or a name of your own. */
  readonly chain: string;
  readonly [extra: string]: unknown;
}

export interface DeductionDone {
  /** Unique for each deduction. */
  readonly partnerTransactionId: string;
}

export interface RevertDone {
  /** The deduction's. */
  readonly partnerTransactionId: string;
  /** New, unique for each revert. */
  readonly partnerRevertId: string;
}

export interface CallbackOptions extends Credential {
  /** Other credentials that are let in too: the new one, while a rotation is under way. Each answer is signed with its caller's. */
  readonly alsoAccept?: readonly Credential[];
  /**
   * The path in front of the four endpoints as the service sends it, such as `/game/v1`. Where it is left out any is served
   * that the framework lets through: the path is signed, so only where the service meant to call is anything done.
   */
  readonly basePath?: string;
  /** Default: in this process, which is right for one process only. */
  readonly replayStore?: ReplayStore;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** How far the time in an X-API-REQUEST may be from the clock, either way. Default: 300. */
  readonly freshSeconds?: number;
  /** Default: 65536. */
  readonly maxBodyBytes?: number;
  /** Told of every failure that the caller sees as a bare ERR-INTERNAL. Default: `console.error`. */
  readonly onError?: (error: unknown, call: FailedCall) => void;
  /** Called for each call that is refused: not authentic, malformed, or by a handler. Default: none. */
  readonly onRefused?: (call: RefusedCall) => void;
}

const BASE_PATH = /^(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+$/;

/** @throws TypeError */
export function requireBasePath(basePath: string): void {
  if (!BASE_PATH.test(basePath)) {
    throw new TypeError(
      'basePath must be a path as sent, such as /game/v1: percent-encoded, no slash at its end',
    );
  }
}
