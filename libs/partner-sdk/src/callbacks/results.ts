/** What the service would refuse is found here, where the message can say which handler gave it. */
import { canonicalJson } from '../signing/canonical-json.js';
import { type DeductionDone, type PointsBalance, type RevertDone } from './payloads.js';

/** A handler gave something that the interface does not allow. */
export class InvalidResultError extends TypeError {
  override name = 'InvalidResultError';
}

const MAX_ID_LENGTH = 255;
const MAX_CHAIN_LENGTH = 64;
/** Control characters and halves of surrogate pairs: what the service refuses in an id. */
const UNSPEAKABLE = /[\p{Cc}\p{Cs}]/u;

export function balanceBody(address: string, balance: PointsBalance): object {
  const from = 'getPoints';
  requireObject(from, balance);
  requireText({ from, name: 'partnerUserId', value: balance.partnerUserId });
  requireText({ from, name: 'chain', value: balance.chain, maxLength: MAX_CHAIN_LENGTH });
  if (!Number.isSafeInteger(balance.points) || balance.points < 0) {
    const type = typeof balance.points;
    throw new InvalidResultError(
      `getPoints must give points as a whole number, 0 or more, not ${type === 'number' ? 'this one' : `a ${type}`}`,
    );
  }
  return sendable(from, { ...balance, success: true, address });
}

export function deductionBody(done: DeductionDone): object {
  const from = 'deductPoints';
  requireObject(from, done);
  requireText({ from, name: 'partnerTransactionId', value: done.partnerTransactionId });
  return { success: true, partnerTransactionId: done.partnerTransactionId };
}

export function revertBody(done: RevertDone): object {
  const from = 'revertDeduction';
  requireObject(from, done);
  const { partnerTransactionId, partnerRevertId } = done;
  requireText({ from, name: 'partnerTransactionId', value: partnerTransactionId });
  requireText({ from, name: 'partnerRevertId', value: partnerRevertId });
  return { success: true, partnerTransactionId, partnerRevertId };
}

function requireObject(from: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    throw new InvalidResultError(
      `${from} must give an object; a call that is not done throws a Refusal`,
    );
  }
}

interface Text {
  readonly from: string;
  readonly name: string;
  readonly value: unknown;
  readonly maxLength?: number;
}

function requireText({ from, name, value, maxLength = MAX_ID_LENGTH }: Text): void {
  const fits = typeof value === 'string' && value.length > 0 && value.length <= maxLength;
  if (!fits || UNSPEAKABLE.test(value)) {
    throw new InvalidResultError(
      `${from} must give ${name} as a text of 1 to ${maxLength} characters without control characters`,
    );
  }
}

function sendable(from: string, body: object): object {
  try {
    canonicalJson(body);
  } catch (cause) {
    throw new InvalidResultError(`${from} gave a field that has no JSON form`, { cause });
  }
  return body;
}
