import { type Clock } from '../clock.js';
import { type Credential } from '../credential.js';
import { type RefusedCall, type FailedCall } from './call-report.js';
import { type ReplayStore } from './replay-store.js';

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
  /** Told of every call that is refused: not authentic, malformed, or by a handler. Default: nobody is. */
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
