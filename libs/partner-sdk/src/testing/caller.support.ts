/** Calls a partner as the service does, over real sockets. Treated as a test file, but holds no tests. */
import { request } from 'node:http';
import { expect } from '@jest/globals';
import {
  type CallbackHandlers,
  type CallbackOptions,
  canonicalJson,
  type Clock,
  createCallbacks,
  newRequestId,
  type RefusedCall,
  Refusal,
  sign,
  verify,
} from '../index.js';

export const API_KEY = 'key_of_the_game_for_tests';
/** The secret of the published vectors. */
export const SECRET = 'svcs_test_Mxlw8mcT8glgb4FXerUprvW3Mvjv8g3hOXyWHOk7DbA';
export const NOON_MS = Date.parse('2026-11-21T12:00:02.123Z');
export const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7';
export const REDEMPTION = '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d';

export const DEDUCTION = { address: WALLET, deductPoints: 1500, svcRedemptionId: REDEMPTION };
export const REVERT = { ...DEDUCTION, revertReason: 'user cancelled' };
export const CONFIRMATION = {
  ...DEDUCTION,
  usdAmount: 3,
  svcAmount: 20.4,
  priceSvcUsd: 0.15,
  status: 'reverted',
  txnConfirmed: false,
  initialAt: '2026-11-20T06:50:32.426Z',
  pendingAt: '2026-11-20T06:50:33.001Z',
  claimedAt: null,
  revertedAt: '2026-11-20T06:58:11.000Z',
};

/** A game that records the calls of its handlers, with the options of its callbacks. */
export interface Game {
  readonly handlers: Required<CallbackHandlers>;
  readonly options: CallbackOptions & { readonly clock: Clock };
  readonly asked: object[];
  readonly errors: unknown[];
  readonly refused: RefusedCall[];
  nowMs: number;
}

export function aGame(options: Partial<CallbackOptions> = {}): Game {
  const game: Game = {
    nowMs: NOON_MS,
    asked: [],
    errors: [],
    refused: [],
    options: {
      apiKey: API_KEY,
      sharedSecret: SECRET,
      clock: { nowMs: () => game.nowMs },
      onError: (error) => void game.errors.push(error),
      onRefused: (call) => void game.refused.push(call),
      ...options,
    },
    handlers: {
      getPoints: (query) => {
        game.asked.push(query);
        return { partnerUserId: 'player_1', points: 5000, chain: 'ronin', level: 12 };
      },
      deductPoints: (deduction) => {
        game.asked.push(deduction);
        if (deduction.deductPoints === 13) throw new Error('The database is away');
        if (deduction.deductPoints > 5000) {
          throw new Refusal('ERR-INSUFFICIENT-POINTS', 'There are 5000.', { points: 5000 });
        }
        return { partnerTransactionId: 'ptx_1' };
      },
      revertDeduction: (revert) => {
        game.asked.push(revert);
        return { partnerTransactionId: 'ptx_1', partnerRevertId: 'prv_1' };
      },
      confirmRedemption: (confirmation) => void game.asked.push(confirmation),
    },
  };
  return game;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Empty where the text is not JSON. */
  readonly body: Record<string, unknown>;
  /** Whether the signature of the answer is valid; undefined without a signature. */
  readonly isSigned: boolean | undefined;
}

export interface CallOptions {
  readonly method?: string;
  readonly requestId?: string;
  readonly secret?: string;
  readonly nowMs?: number;
  /** The signed body, where another body is sent. */
  readonly signed?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface MadeCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | undefined;
}

/** A call as the service makes it: a new X-API-REQUEST, signed, with a canonical body. */
export function makeCall(
  url: string,
  body?: object | string | Buffer,
  options: CallOptions = {},
): MadeCall {
  const { method = body === undefined ? 'GET' : 'POST', secret = SECRET } = options;
  const { requestId = newRequestId(options.nowMs ?? NOON_MS) } = options;
  const bytes =
    body === undefined || Buffer.isBuffer(body)
      ? body
      : Buffer.from(typeof body === 'string' ? body : canonicalJson(body));
  const signature = sign(secret, { method, url, requestId, body: options.signed ?? bytes });
  return {
    method,
    url,
    body: bytes,
    headers: {
      'x-api-key': API_KEY,
      'x-api-request': requestId,
      'x-api-signature': signature,
      ...(bytes !== undefined && {
        'content-type': 'application/json',
        'content-length': String(bytes.length),
      }),
      ...options.headers,
    },
  };
}

/** Sends the call unchanged over a socket. */
export async function send(port: number, made: MadeCall): Promise<Answer> {
  const { method, url: path, headers, body } = made;
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const { statusCode: status = 0, headers: given } = response;
        resolve(asAnswer(made, { status, headers: given, text: bytes.toString() }));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Passes the call to the callbacks, without a server. */
export async function ask({ options, handlers }: Game, made: MadeCall): Promise<Answer> {
  const { method, url, headers, body = new Uint8Array() } = made;
  const given = await createCallbacks(options, handlers).handle({
    method,
    url,
    headers,
    body,
  });
  return asAnswer(made, { status: given.status, headers: given.headers, text: given.body });
}

export function asAnswer(
  { method, url, headers }: MadeCall,
  answer: Pick<Answer, 'status' | 'headers' | 'text'>,
): Answer {
  const signature = answer.headers['x-api-signature'];
  const id = headers['x-api-request'];
  const requestId = typeof id === 'string' ? id : id?.join(', ');
  const message = { method, url, requestId, body: answer.text };
  const isSigned = signature === undefined ? undefined : verify(SECRET, message, signature);
  return { ...answer, isSigned, body: jsonOf(answer.text) };
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Expects a refusal: status 200, signed, canonical, and only the envelope. */
export function expectRefused(
  answer: Answer,
  errorCode: string,
  message?: string | RegExp,
  more: object = {},
): void {
  expect(answer).toMatchObject({ status: 200, isSigned: true });
  expect(answer.text).toBe(canonicalJson(answer.body));
  expect(answer.body).toEqual({
    success: false,
    errorCode,
    errorMessage: message === undefined ? expect.any(String) : expect.stringMatching(message),
    ...more,
  });
}
