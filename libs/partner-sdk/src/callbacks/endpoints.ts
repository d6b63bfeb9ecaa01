/** The four endpoints: how each is called, what it reads, which handler it is, and what a handler must give. */
import { parseStrictJson } from '../strict-json.js';
import { CONFIRMATION, DEDUCTION, POINTS_QUERY, REVERT } from './bodies.js';
import { type CallbackCall } from './call.js';
import { type Fields, readFields } from './fields.js';
import { type CallbackHandlers, type CallContext } from './handlers.js';
import { Refusal } from './refusal.js';
import { balanceBody, deductionBody, revertBody } from './results.js';

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** @returns the body of a success @throws Refusal, InvalidResultError, whatever the handler throws */
  readonly run: (
    handlers: CallbackHandlers,
    call: CallbackCall,
    context: CallContext,
  ) => Promise<object>;
}

export const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  [
    'get-points-by-address',
    {
      method: 'GET',
      run: async (handlers, { url }, context) => {
        const query = readFields(queryOf(url), POINTS_QUERY);
        return balanceBody(query.address, await handlers.getPoints(query, context));
      },
    },
  ],
  [
    'deduct-points-by-address',
    {
      method: 'POST',
      run: async (handlers, call, context) =>
        deductionBody(await handlers.deductPoints(readBody(call, DEDUCTION), context)),
    },
  ],
  [
    'revert-deduct-points',
    {
      method: 'POST',
      run: async (handlers, call, context) =>
        revertBody(await handlers.revertDeduction(readBody(call, REVERT), context)),
    },
  ],
  [
    'confirm-redemption',
    {
      method: 'POST',
      run: async (handlers, call, context) => {
        await handlers.confirmRedemption?.(readBody(call, CONFIRMATION), context);
        return { success: true };
      },
    },
  ],
]);

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

/** A parameter that is given several times is a list, which no field can be. */
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
