/**
 * Calls that any partner refuses, whatever its books say: not authentic, malformed, too large, or to no endpoint. Each
 * answer must be signed. Treated as a test file, but holds no tests.
 */
import { canonicalJson, newRequestId } from '../index.js';
import { type Answer, type CallOptions, type MadeCall, makeCall } from './caller.support.js';

export interface RefusedCall {
  readonly name: string;
  /** Absent where a server may read the body or not. */
  readonly errorCode?: 'ERR-AUTH-FAILED' | 'ERR-INTERNAL' | 'ERR-USER-NOT-FOUND';
  readonly made: MadeCall;
}

interface Place {
  /** The path in front of the four endpoints. */
  readonly prefix: string;
  /** The wallet of a player. */
  readonly wallet: string;
  readonly nowMs: number;
}

const READ = '/get-points-by-address';
const DEDUCT = '/deduct-points-by-address';
const REVERT = '/revert-deduct-points';
const CONFIRM = '/confirm-redemption';
const NOBODY = `0x${'ab'.repeat(20)}`;

/** Calls to the four endpoints. */
export function refusedCalls({ prefix, wallet, nowMs }: Place): readonly RefusedCall[] {
  const terms = (): object => ({
    address: wallet,
    deductPoints: 1,
    svcRedemptionId: newRequestId(nowMs),
  });
  const call = (
    path: string,
    body?: object | string | Buffer,
    options: CallOptions = {},
  ): MadeCall => makeCall(prefix + path, body, { nowMs, ...options });
  const typed = (type: string): CallOptions => ({ headers: { 'content-type': type } });
  const notAuthentic: Readonly<Record<string, CallOptions>> = {
    'with another secret': { secret: 'another secret than yours' },
    'without X-API-SIGNATURE': { headers: { 'x-api-signature': '' } },
    'with a signature that is not ASCII': { headers: { 'x-api-signature': 'é'.repeat(64) } },
    'signed for another body': { signed: '{}' },
    'without X-API-REQUEST': { requestId: '' },
    'with an X-API-REQUEST that is not ASCII': { requestId: 'é'.repeat(36) },
    'with a long X-API-REQUEST': { requestId: '7'.repeat(5000) },
    'with a UUID of version 4': { requestId: '7f1c2f3e-7d51-4c7b-9c2f-5b0f6f1a2c3d' },
    'from 400 s ago': { nowMs: nowMs - 400_000 },
    'from 400 s ahead': { nowMs: nowMs + 400_000 },
  };
  const notJson: Readonly<Record<string, string | Buffer>> = {
    empty: '',
    half: '{"address":',
    'a list': '[]',
    null: 'null',
    'not UTF-8': Buffer.from([0x22, 0xff, 0x22]),
    'open brackets': '['.repeat(60_000),
    'open objects': '{"a":'.repeat(13_000),
  };
  const wrongFields: Readonly<Record<string, object>> = {
    'without fields': {},
    'of null fields': { address: null, deductPoints: null, svcRedemptionId: null },
    'of lists': { address: [wallet], deductPoints: [1], svcRedemptionId: [] },
    'with half a point': { ...terms(), deductPoints: 0.5 },
    'with points as a text': { ...terms(), deductPoints: '1' },
    'with more points than a number holds': { ...terms(), deductPoints: 1e300 },
  };
  const huge = JSON.stringify({ ...terms(), more: 'x'.repeat(70_000) });
  const named = (
    errorCode: NonNullable<RefusedCall['errorCode']>,
    rows: readonly (readonly [string, MadeCall])[],
  ): RefusedCall[] => rows.map(([name, made]) => ({ name, errorCode, made }));
  return [
    ...named('ERR-AUTH-FAILED', [
      ...Object.entries(notAuthentic).flatMap(([name, options]) => [
        [`a deduction ${name}`, call(DEDUCT, terms(), options)] as const,
        [`a read ${name}`, call(`${READ}?address=${wallet}`, undefined, options)] as const,
      ]),
      ['a forged deduction from nobody', call(DEDUCT, { ...terms(), address: NOBODY }, forged())],
      ['a forged deduction of too much', call(DEDUCT, { ...terms(), deductPoints: 9e9 }, forged())],
      ['a forged body that is not JSON', call(DEDUCT, '{', forged())],
      ['a forged body as a text', call(DEDUCT, terms(), { ...forged(), ...typed('text/plain') })],
      ['a forged read of nobody', call(`${READ}?address=${NOBODY}`, undefined, forged())],
      ['a forged revert', call(REVERT, terms(), forged())],
      ['a forged confirmation', call(CONFIRM, terms(), forged())],
    ]),
    ...named('ERR-USER-NOT-FOUND', [
      ['a read of nobody', call(`${READ}?address=${NOBODY}`)],
      ['a deduction from nobody', call(DEDUCT, { ...terms(), address: NOBODY })],
    ]),
    ...named('ERR-INTERNAL', [
      ['a read without an address', call(READ)],
      ['a read of a text', call(`${READ}?address=0x12`)],
      ['a read of a list', call(`${READ}?address[]=${wallet}`)],
      ...Object.entries(notJson).flatMap(([name, body]) =>
        [DEDUCT, REVERT, CONFIRM].map((path) => [`${path}: ${name}`, call(path, body)] as const),
      ),
      ...Object.entries(wrongFields).flatMap(([name, body]) =>
        [DEDUCT, REVERT, CONFIRM].map((path) => [`${path}: ${name}`, call(path, body)] as const),
      ),
      ['a body that is too large', call(DEDUCT, huge)],
      ['half a body as a form', call(DEDUCT, '{', typed('application/x-www-form-urlencoded'))],
      ['half a body as a text', call(DEDUCT, '{', typed('text/plain'))],
      ['half a body without a type', call(DEDUCT, '{', typed(''))],
    ]),
    { name: 'a body that is too large, of no length', made: chunked(call(DEDUCT, huge)) },
    { name: 'a form without a boundary', made: call(DEDUCT, '{', typed('multipart/form-data')) },
  ];
}

/** Calls that are to none of the four endpoints, below the same path. */
export function callsToNoEndpoint({ prefix, nowMs }: Place): readonly RefusedCall[] {
  const call = (path: string, method: string, body?: object): MadeCall =>
    makeCall(prefix + path, body, { nowMs, method });
  const rows: readonly (readonly [string, MadeCall])[] = [
    ...['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(
      (method) => [`${method} of a deduction`, call(DEDUCT, method)] as const,
    ),
    ['a HEAD of a read', call(READ, 'HEAD')],
    ['a POST to a read', call(READ, 'POST', {})],
    ['another name', call('/nothing', 'POST', {})],
    ['other capitals', call('/Deduct-Points-By-Address', 'POST', {})],
    ['a slash at the end', call(`${DEDUCT}/`, 'POST', {})],
    ['percents in the name', call('/deduct%2Dpoints-by-address', 'POST', {})],
    ['a name that is not ASCII', call('/%C3%A9', 'GET')],
  ];
  return rows.map(([name, made]) => ({ name, errorCode: 'ERR-INTERNAL', made }));
}

/** Signed by someone else. */
function forged(): CallOptions {
  return { secret: 'another secret than yours' };
}

function chunked(made: MadeCall): MadeCall {
  const headers: Record<string, string | string[]> = { ...made.headers };
  delete headers['content-length'];
  return { ...made, headers: { ...headers, 'transfer-encoding': 'chunked' } };
}

/** The name, and what of the answer is not as it must be; undefined where nothing is. */
function faultOf({ name, errorCode, made }: RefusedCall, answer: Answer): string | undefined {
  if (answer.isSigned !== true) {
    return `${name}: status ${answer.status}, ${answer.isSigned === undefined ? 'unsigned' : 'signed wrongly'}`;
  }
  if (made.method === 'HEAD') return answer.text === '' ? undefined : `${name}: has a body`;
  const { success, errorCode: code } = answer.body;
  const isTold = success === false && code === (errorCode ?? code);
  return isTold ? undefined : `${name}: ${canonicalJson(answer.body)}`;
}

/** Sends the calls one after the other. @returns a line for each answer that is not the refusal, signed */
export async function faultsIn(
  calls: readonly RefusedCall[],
  send: (made: MadeCall) => Promise<Answer>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const call of calls) {
    const fault = await send(call.made).then(
      (answer) => faultOf(call, answer),
      (error: unknown) => `${call.name}: no answer, ${String(error)}`,
    );
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}
