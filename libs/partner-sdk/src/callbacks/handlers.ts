import { type FailedCall, type RefusedCall } from './call.js';
import { type ReplayStore } from './authenticate.js';
import { type Clock } from '../clock.js';
import { type Credential } from '../credential.js';

/** The call that a handler is called for. */
export interface CallContext {
  /** `X-API-REQUEST`, new for each attempt. Use it for logs, never to recognise a redemption. */
  readonly requestId: string;
}

/** Your four operations. A `Refusal` that a handler throws is sent as such, and any other error as ERR-INTERNAL. */
export interface CallbackHandlers {
  /** The points of a player. @throws Refusal ERR-USER-NOT-FOUND */
  getPoints(query: PointsQuery, call: CallContext): Promise<PointsBalance> | PointsBalance;
  /**
   * Takes points, once for each `svcRedemptionId`.
   * @throws Refusal ERR-DUPLICATE-REQUEST, ERR-USER-NOT-FOUND, ERR-INSUFFICIENT-POINTS
   */
  deductPoints(deduction: Deduction, call: CallContext): Promise<DeductionDone> | DeductionDone;
  /**
   * Gives the points of a deduction back, once for each `svcRedemptionId`.
   * @throws Refusal ERR-TRANSACTION-NOT-FOUND, ERR-ALREADY-REVERTED, ERR-INVALID-AMOUNT
   */
  revertDeduction(revert: Revert, call: CallContext): Promise<RevertDone> | RevertDone;
  /**
   * Says how a redemption ended. Without this handler the endpoint does not exist: tell the operator of the service.
   * @throws Refusal ERR-REDEMPTION-NOT-FOUND
   */
  confirmRedemption?(confirmation: Confirmation, call: CallContext): Promise<void> | void;
}

/** The argument of `getPoints`. Handlers get validated arguments, with wallets, hashes and UUIDs in lower case. */
export interface PointsQuery {
  /** `0x` and 40 hex digits in lower case. */
  readonly address: string;
}

/** The argument of `deductPoints`. */
export interface Deduction {
  /** `0x` and 40 hex digits in lower case. */
  readonly address: string;
  /** A whole number from 1 to 2^53 - 1. */
  readonly deductPoints: number;
  /** A UUID in lower case. It identifies the deduction, however often the call is repeated. */
  readonly svcRedemptionId: string;
}

/** The argument of `revertDeduction`. */
export interface Revert extends Deduction {
  /** Your id of the deduction. Absent where the service never received it: `svcRedemptionId` names the deduction. */
  readonly partnerTransactionId?: string;
  /** A reason for people; do not decide by it. */
  readonly revertReason?: string;
}

/** The argument of `confirmRedemption`. */
export interface Confirmation extends Deduction {
  /** Value of the points in US dollars. */
  readonly usdAmount: number;
  /** Tokens for the points, in token units. */
  readonly svcAmount: number;
  /** US dollars for one token. */
  readonly priceSvcUsd: number;
  readonly status: 'claimed' | 'reverted';
  readonly txnConfirmed: boolean;
  /** `0x` and 64 hex digits in lower case; absent or null for a redemption that was not claimed. */
  readonly txnHash?: string | null;
  /** All times are ISO 8601. */
  readonly initialAt: string;
  readonly pendingAt: string;
  readonly claimedAt: string | null;
  readonly revertedAt: string | null;
}

/** The result of `getPoints`. Additional fields are sent as well. */
export interface PointsBalance {
  /** Your id of the player, 1 to 255 characters. */
  readonly partnerUserId: string;
  /** A whole number from 0 to 2^53 - 1. */
  readonly points: number;
  /** `abstract`, `ronin`, `ethereum`, or a name of your own with 1 to 64 characters. */
  readonly chain: string;
  readonly [extra: string]: unknown;
}

/** The result of `deductPoints`. */
export interface DeductionDone {
  /** Your id of the deduction, unique for each deduction, 1 to 255 characters. */
  readonly partnerTransactionId: string;
}

/** The result of `revertDeduction`. */
export interface RevertDone {
  /** Your id of the deduction whose points are given back. */
  readonly partnerTransactionId: string;
  /** A new id, unique for each revert, 1 to 255 characters. */
  readonly partnerRevertId: string;
}

/** Options of the four endpoints, with the credential that the service calls them with. */
export interface CallbackOptions extends Credential {
  /**
   * Further accepted credentials, such as the new one during a rotation. An answer is signed with its caller's secret.
   */
  readonly alsoAccept?: readonly Credential[];
  /**
   * The path in front of the four endpoints as the service sends it, such as `/game/v1`. Default: every path that the
   * framework routes to the endpoints. The signature covers the path, so a call takes effect only at the path to which
   * the service has sent it.
   */
  readonly basePath?: string;
  /**
   * Default: a store in this process, which is right for a single process only. It forgets at a restart, so calls made
   * before the start are refused, except reads; the service sends them again.
   */
  readonly replayStore?: ReplayStore;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** Largest difference between the time in X-API-REQUEST and the clock, either way, in seconds. Default: 300. */
  readonly freshSeconds?: number;
  /** Largest accepted body in bytes. Default: 65536. */
  readonly maxBodyBytes?: number;
  /** Called for each failure that the caller sees as a bare ERR-INTERNAL. Default: `console.error`. */
  readonly onError?: (error: unknown, call: FailedCall) => void;
  /** Called for each refused call: not authentic, malformed, or refused by a handler. Default: none. */
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
