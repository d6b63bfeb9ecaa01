/** Tests that every adapter keeps the same contract, on a real server over real sockets. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newRequestId } from '../index.js';
import {
  aGame,
  type Answer,
  API_KEY,
  type CallOptions,
  DEDUCTION,
  expectRefused,
  makeCall,
  NOON_MS,
  REDEMPTION,
  send,
  WALLET,
} from '../testing/caller.support.js';
import { faultsIn, refusedCalls } from '../testing/refused-calls.support.js';
import { ADAPTERS, type Running } from './servers.support.js';

describe.each(Object.entries(ADAPTERS))('%s', (_, { prefix, hasParserInFront, start }) => {
  const game = aGame();
  let server: Running;
  beforeAll(async () => {
    server = await start(game);
  });
  beforeEach(() => {
    for (const list of [game.asked, game.errors, game.refused]) list.length = 0;
  });
  afterAll(() => server.close());

  const call = (
    path: string,
    body?: object | string | Buffer,
    options: CallOptions = {},
  ): Promise<Answer> => send(server.port, makeCall(prefix + path, body, options));
  const DEDUCT = '/deduct-points-by-address';
  const READ = `/get-points-by-address?address=${WALLET.toUpperCase().replace('X', 'x')}`;
  const deduct = (
    body: object | string | Buffer = DEDUCTION,
    options: CallOptions = {},
  ): Promise<Answer> => call(DEDUCT, body, options);

  it('answers the four calls, signed, with the handlers’ results', async () => {
    const confirmation = {
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
    const revert = { ...DEDUCTION, revertReason: 'user cancelled' };
    const answers = [
      await call(READ),
      await deduct(),
      await call('/revert-deduct-points', revert),
      await call('/confirm-redemption', confirmation),
    ];
    expect(answers.map(({ body }) => body)).toEqual([
      {
        success: true,
        address: WALLET,
        partnerUserId: 'player_1',
        points: 5000,
        chain: 'ronin',
        level: 12,
      },
      { success: true, partnerTransactionId: 'ptx_1' },
      { success: true, partnerTransactionId: 'ptx_1', partnerRevertId: 'prv_1' },
      { success: true },
    ]);
    for (const { status, isSigned, headers, text } of answers) {
      expect({ status, isSigned }).toEqual({ status: 200, isSigned: true });
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store, no-transform');
      expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    }
    expect(game.asked).toEqual([{ address: WALLET }, DEDUCTION, revert, confirmation]);
    expect([...game.errors, ...game.refused]).toEqual([]);
  });

  it('tells a refusal as it is, and a failure as nothing but that', async () => {
    const poor = await deduct({ ...DEDUCTION, deductPoints: 5001 });
    expectRefused(poor, 'ERR-INSUFFICIENT-POINTS', 'There are 5000.', { points: 5000 });
    expect(game.refused).toMatchObject([
      {
        endpoint: 'deduct-points-by-address',
        requestId: expect.any(String),
        errorCode: 'ERR-INSUFFICIENT-POINTS',
      },
    ]);
    const failed = await deduct({ ...DEDUCTION, deductPoints: 13 });
    expectRefused(failed, 'ERR-INTERNAL', 'The call failed here.');
    expect(game.errors).toEqual([new Error('The database is away')]);
  });

  it('lets in nothing but the service’s own call, once, in time and unchanged', async () => {
    const requestId = newRequestId(NOON_MS);
    expect((await deduct(DEDUCTION, { requestId })).body['success']).toBe(true);
    const hostile: [string, CallOptions, (object | string)?][] = [
      ['X-API-KEY is missing or wrong.', { headers: { 'x-api-key': 'another' } }],
      ['X-API-KEY is missing or wrong.', { headers: { 'x-api-key': '' } }],
      ['X-API-SIGNATURE', { headers: { 'x-api-signature': '' } }],
      ['X-API-SIGNATURE', { secret: 'another' }],
      ['X-API-SIGNATURE', { signed: JSON.stringify({ ...DEDUCTION, deductPoints: 1 }) }],
      ['X-API-SIGNATURE', { method: 'POST', signed: '' }],
      ['must be a UUID of version 7', { requestId: REDEMPTION.replace('-7', '-4') }],
      ['more than 300 s', { nowMs: NOON_MS - 300_001 }],
      ['more than 300 s', { nowMs: NOON_MS + 300_001 }],
      ['was used before', { requestId }],
      ['was used before', { requestId: requestId.toUpperCase() }],
    ];
    for (const [message, options] of hostile) {
      expectRefused(await deduct(DEDUCTION, options), 'ERR-AUTH-FAILED', message);
    }
    expect(game.asked).toHaveLength(1);
    expect(game.refused).toHaveLength(hostile.length);
  });

  it('takes a body that was printed again on its way, by its canonical form', async () => {
    const { address, ...rest } = DEDUCTION;
    const printed = JSON.stringify({ ...rest, address }, undefined, 2);
    const signed = makeCall('', DEDUCTION).body;
    const answer = await deduct(printed, signed === undefined ? {} : { signed });
    expect(answer).toMatchObject({ isSigned: true, body: { success: true } });
    expect(game.asked).toEqual([DEDUCTION]);
  });

  it('refuses a field that is given twice, even where the service signed it', async () => {
    const body = JSON.stringify(DEDUCTION).replace('{', '{"deductPoints":1,');
    const answer = await deduct(body);
    expectRefused(answer, 'ERR-INTERNAL', 'deductPoints must be given once');
    expectRefused(await call(`${READ}&address=${WALLET}`), 'ERR-INTERNAL', 'address must be');
    expect(game.asked).toEqual([]);
  });

  it('signs the path as sent, prefix and all, without the query', async () => {
    const requestId = newRequestId(NOON_MS);
    const short = makeCall('/get-points-by-address', undefined, { requestId });
    const url = `${prefix}/get-points-by-address?address=${WALLET}`;
    const answer = await send(server.port, { ...short, url });
    if (prefix === '') expect(answer.body['success']).toBe(true);
    else expectRefused(answer, 'ERR-AUTH-FAILED', 'X-API-SIGNATURE');
  });

  it('has no endpoint at another method, other capitals, a slash or percents in the name', async () => {
    for (const made of [
      makeCall(`${prefix}${DEDUCT}`),
      makeCall(`${prefix}${READ}`, {}),
      makeCall(`${prefix}${READ}`, undefined, { method: 'HEAD' }),
      makeCall(`${prefix}${DEDUCT}`, DEDUCTION, { method: 'PUT' }),
      makeCall(`${prefix}/Deduct-Points-By-Address`, DEDUCTION),
      makeCall(`${prefix}${DEDUCT}/`, DEDUCTION),
      makeCall(`${prefix}/deduct%2Dpoints-by-address`, DEDUCTION),
      makeCall(`${prefix}/other`),
    ]) {
      const { status, isSigned, text } = await send(server.port, made);
      expect(status).toBe(404);
      // The framework answers a call that is passed on, and does not sign the answer.
      expect(isSigned).not.toBe(false);
      if (made.method === 'HEAD') expect(text).toBe('');
    }
    expect([...game.asked, ...game.errors]).toEqual([]);
  });

  it('signs every answer of the four endpoints, also to calls that are forged or malformed', async () => {
    const place = { prefix, wallet: WALLET, nowMs: NOON_MS };
    // This game knows all wallets.
    const calls = refusedCalls(place).filter(({ errorCode }) => errorCode !== 'ERR-USER-NOT-FOUND');
    const faults = await faultsIn(calls, (made) => send(server.port, made));
    // A parser in front answers a body that is not JSON by itself, and cannot sign.
    const isParsers = (fault: string): boolean => fault.endsWith('status 400, unsigned');
    expect(faults.filter((fault) => !isParsers(fault))).toEqual([]);
    expect(faults.some(isParsers)).toBe(hasParserInFront === true);
    expect([...game.asked, ...game.errors]).toEqual([]);
  });

  it('serves the next call on the same server after whatever came before', async () => {
    await deduct('['.repeat(60_000));
    await deduct(Buffer.from([0xff]));
    expect((await deduct()).body['success']).toBe(true);
    expect(game.errors).toEqual([]);
  });

  it('says nothing of the key or the secret in any refusal', async () => {
    const answer = await deduct({ ...DEDUCTION, address: API_KEY });
    expect(answer.text).not.toContain(API_KEY);
  });
});
