/**
 * The whole reference partner on a database of its own, and calls as the service makes them. Named as a test file,
 * without tests of its own.
 */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { expect } from '@jest/globals';
import { readSettings } from '#libs/config';
import { type Database } from '#libs/db';
import { type Address, canonicalJson, mintUuidV7 } from '#libs/domain';
import { createLogger } from '#libs/service';
import { hmacSha256Hex, pathOf } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { createPartner } from '../create-partner.js';
import { PartnerSettings } from '../partner.env.js';
import { seedPlayers } from '../store/players.js';

export const API_KEY = 'key_of_the_game_for_tests';
/** The secret of the published test vectors. */
export const SECRET = 'svcs_test_Mxlw8mcT8glgb4FXerUprvW3Mvjv8g3hOXyWHOk7DbA';
export const NOON_MS = Date.parse('2026-11-21T12:00:02.123Z');

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export interface Partner {
  readonly app: NestFastifyApplication;
  readonly port: number;
  readonly clock: FakeClock;
  readonly logs: string[];
  readonly test: TestDatabase;
  readonly database: Database;
  stop(): Promise<void>;
}

export async function startPartner(
  overrides: Record<string, string> = {},
  shared: { test?: TestDatabase; clock?: FakeClock } = {},
): Promise<Partner> {
  const test = shared.test ?? (await createTestDatabase('empty'));
  const clock = shared.clock ?? new FakeClock(NOON_MS);
  const logs: string[] = [];
  const settings = readSettings(PartnerSettings, {
    DATABASE_URL: test.url,
    PARTNER_API_KEY: API_KEY,
    PARTNER_SHARED_SECRET: SECRET,
    LOG_LEVEL: 'trace',
    ...overrides,
  });
  const destination = { write: (line: string) => void logs.push(line) };
  const logger = createLogger({ app: 'partner', level: settings.logLevel, destination });
  const app = await createPartner({ settings, logger, clock });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const stop = async (): Promise<void> => {
    await app.close();
    if (shared.test === undefined) await test.drop();
  };
  return { app, port, clock, logs, test, database: await test.open(), stop };
}

interface RawCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** Sends exactly this over a socket, and checks that the answer is signed. */
export async function sendRaw(port: number, call: RawCall): Promise<Answer> {
  const { method, path, headers, body } = call;
  const answer = await new Promise<Omit<Answer, 'body'>>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
  const given = headers['x-api-request'];
  const requestId = typeof given === 'string' ? given : (given?.join(', ') ?? '');
  const prefix = Buffer.from(method + pathOf(path) + requestId, 'latin1');
  const content = Buffer.concat([prefix, Buffer.from(answer.text)]);
  expect(answer.headers['x-api-signature']).toBe(hmacSha256Hex(SECRET, content));
  if (method === 'HEAD') return { ...answer, body: {} };
  const value = JSON.parse(answer.text) as Record<string, unknown>;
  expect(canonicalJson(value)).toBe(answer.text);
  return { ...answer, body: value };
}

export interface CallOptions {
  readonly method?: string;
  readonly requestId?: string;
  /** The body that is signed, where it differs from the sent one. */
  readonly signed?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Makes a call as the service does: with a new X-API-REQUEST, signed, and with a canonical body. */
export function call(
  { port, clock }: Pick<Partner, 'port' | 'clock'>,
  path: string,
  body?: object | string | Buffer,
  options: CallOptions = {},
): Promise<Answer> {
  const { method = body === undefined ? 'GET' : 'POST' } = options;
  const requestId = options.requestId ?? aRequestId(clock.nowMs());
  const sent =
    body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
      ? body
      : canonicalJson(body);
  const prefix = Buffer.from(method + pathOf(path) + requestId, 'latin1');
  const content = Buffer.concat([prefix, Buffer.from(options.signed ?? sent ?? '')]);
  return sendRaw(port, {
    method,
    path,
    headers: {
      'x-api-key': API_KEY,
      'x-api-request': requestId,
      'x-api-signature': hmacSha256Hex(SECRET, content),
      ...(sent === undefined
        ? {}
        : {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(sent)),
          }),
      ...options.headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

export function aRequestId(ms: number): string {
  return mintUuidV7(ms, randomBytes(10));
}

export const aRedemptionId = (): string => mintUuidV7(NOON_MS, randomBytes(10));

/** A new player, so that tests do not affect each other. */
export async function aPlayer(
  { database }: Pick<Partner, 'database'>,
  points: number,
): Promise<Address> {
  const wallet = `0x${randomBytes(20).toString('hex')}` as Address;
  await seedPlayers(database, [{ wallet, points }]);
  return wallet;
}

export interface Booking {
  readonly address: Address;
  readonly deductPoints: number;
  readonly svcRedemptionId: string;
}

export const deduct = (partner: Partner, body: Booking): Promise<Answer> =>
  call(partner, '/deduct-points-by-address', body);
export const revert = (partner: Partner, body: object): Promise<Answer> =>
  call(partner, '/revert-deduct-points', body);
export const confirm = (partner: Partner, body: object): Promise<Answer> =>
  call(partner, '/confirm-redemption', body);

export async function pointsOf(partner: Partner, address: string): Promise<unknown> {
  const answer = await call(partner, `/get-points-by-address?address=${address}`);
  return answer.body['points'];
}

/** A player of whose points some were deducted. */
export async function aDeduction(
  partner: Partner,
  { had = 1000, deductPoints = 300 }: { had?: number; deductPoints?: number } = {},
): Promise<{ booking: Booking; partnerTransactionId: string }> {
  const address = await aPlayer(partner, had);
  const booking = { address, deductPoints, svcRedemptionId: aRedemptionId() };
  const { body } = await deduct(partner, booking);
  expect(body).toEqual({ success: true, partnerTransactionId: expect.stringMatching(/^ptx_/) });
  return { booking, partnerTransactionId: String(body['partnerTransactionId']) };
}

/** The service's confirmation of a redemption that was paid out. */
export function aClaim(booking: Booking): Record<string, unknown> {
  return {
    ...booking,
    usdAmount: 3,
    svcAmount: 20.4,
    priceSvcUsd: 0.15,
    status: 'claimed',
    txnConfirmed: true,
    txnHash: `0x${'ab'.repeat(32)}`,
    initialAt: '2026-11-20T06:50:32.426Z',
    pendingAt: '2026-11-20T06:50:33.001Z',
    claimedAt: '2026-11-20T06:58:11.000Z',
    revertedAt: null,
  };
}

/** The service's confirmation of a redemption whose points went back. */
export function aReversal(booking: Booking): Record<string, unknown> {
  const claim = aClaim(booking);
  delete claim['txnHash'];
  return {
    ...claim,
    status: 'reverted',
    txnConfirmed: false,
    claimedAt: null,
    revertedAt: '2026-11-20T07:30:00.000Z',
  };
}

export function expectRefused(answer: Answer, errorCode: string, more: object = {}): void {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 200,
    body: { success: false, errorCode, errorMessage: expect.any(String), ...more },
  });
}
