/** Translates the callback fields of a request into the `CallbackChange` of the operations. */
import { type Decimal, parseDecimal } from '#libs/domain';
import { type CallbackChange, NONE, type OrNone } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { type CallbackDto } from './partner.requests.js';

/** @throws HttpProblem 400 */
export function callbackChange(dto: CallbackDto = {}): CallbackChange {
  const { url, key, secret, confirm, capabilities, allowPrivate } = dto;
  const usdPerPoint = dto.usdPerPoint === undefined ? undefined : parseDecimal(dto.usdPerPoint);
  if (usdPerPoint?.digits === 0n) {
    throw HttpProblem.badRequest('usdPerPoint', 'usdPerPoint must be above 0.');
  }
  return {
    ...{ url, key, secret, usdPerPoint, confirm, capabilities, allowPrivate },
    bonusFrom: pointsOrNone('bonusFrom', dto.bonusFrom),
    bonusRate: dto.bonusRate === undefined ? undefined : parseDecimal(dto.bonusRate),
    minPoints: pointsOrNone('minPoints', dto.minPoints),
    maxPoints: pointsOrNone('maxPoints', dto.maxPoints),
    dailyTokenBudget: decimalOrNone(dto.dailyTokenBudget),
  };
}

function pointsOrNone(field: string, text: string | undefined): OrNone<bigint> | undefined {
  if (text === undefined || text === NONE) return text;
  const value = BigInt(text);
  // Calls to partners carry points as a JSON number.
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw HttpProblem.badRequest(field, `${field} is more than ${Number.MAX_SAFE_INTEGER}.`);
  }
  return value;
}

function decimalOrNone(text: string | undefined): OrNone<Decimal> | undefined {
  return text === undefined || text === NONE ? text : parseDecimal(text);
}
