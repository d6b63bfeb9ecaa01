/** The four endpoints: the method, the validation of the call, the handler, and the validation of its result. */
import {
  CONFIRMATION,
  DEDUCTION,
  type Fields,
  POINTS_QUERY,
  readFields,
  REVERT,
} from './bodies.js';
import { type CallbackCall, Refusal } from './call.js';
import { type CallbackHandlers, type CallContext, type PointsBalance } from './handlers.js';
import { canonicalJson, parseStrictJson } from '../signing/signing.js';

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** @returns the body of a success @throws Refusal, InvalidResultError, and any error of the handler */
  readonly answer: (
    handlers: CallbackHandlers,
    call: CallbackCall,
    context: CallContext,
  ) => Promise<object>;
}

const BY_NAME: Readonly<Record<string, Endpoint>> = {
  'get-points-by-address': {
    method: 'GET',
    answer: async (handlers, { url }, context) => {
      const query = readFields(queryOf(url), POINTS_QUERY);
      return balanceBody(query.address, await handlers.getPoints(query, context));
    },
  },
  'deduct-points-by-address': {
    method: 'POST',
    answer: async (handlers, call, context) => {
      const done = await handlers.deductPoints(readBody(call, DEDUCTION), context);
      return idsBody('deductPoints', done, ['partnerTransactionId']);
    },
  },
  'revert-deduct-points': {
    method: 'POST',
    answer: async (handlers, call, context) => {
      const done = await handlers.revertDeduction(readBody(call, REVERT), context);
      return idsBody('revertDeduction', done, ['partnerTransactionId', 'partnerRevertId']);
    },
  },
  'confirm-redemption': {
    method: 'POST',
    answer: async (handlers, call, context) => {
      await handlers.confirmRedemption?.(readBody(call, CONFIRMATION), context);
      return { success: true };
    },
  },
};

export const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map(Object.entries(BY_NAME));

export const ENDPOINT_NAMES: readonly string[] = [...ENDPOINTS.keys()];

function readBody<T extends object>({ body }: CallbackCall, fields: Fields<T>): T {
  let value: unknown;
  try {
    value = parseStrictJson(body);
  } catch (error) {
    throw new Refusal('ERR-INTERNAL', (error as SyntaxError).message);
  }
  return readFields(value, fields);
}

/** A parameter that is given several times becomes a list, which no field accepts. */
function queryOf(url: string): Record<string, string | string[]> {
  const at = url.indexOf('?');
  const query = new URLSearchParams(at === -1 ? '' : url.slice(at + 1).replace(/#.*$/s, ''));
  return Object.fromEntries(
    [...query.keys()].map((name) => {
      const values = query.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

/** Validates the results of handlers. The service would refuse the same faults; here the message names the handler. */

/** A handler returned a value that its interface does not allow. */
export class InvalidResultError extends TypeError {
  override name = 'InvalidResultError';
}

const MAX_ID_LENGTH = 255;
const MAX_CHAIN_LENGTH = 64;
/** Control characters and lone surrogates, which the service refuses in an id. */
const FORBIDDEN_CHARACTERS = /[\p{Cc}\p{Cs}]/u;

function balanceBody(address: string, balance: PointsBalance): object {
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

function idsBody<Done extends object>(
  from: string,
  done: Done,
  names: readonly (keyof Done & string)[],
): object {
  requireObject(from, done);
  for (const name of names) requireText({ from, name, value: done[name] });
  return { success: true, ...Object.fromEntries(names.map((name) => [name, done[name]])) };
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
  if (!fits || FORBIDDEN_CHARACTERS.test(value)) {
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
