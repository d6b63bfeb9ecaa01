/** Tests that every adapter keeps the same contract, on a real server over real sockets. */
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { expressCallbacks, fetchCallbacks, newRequestId } from '../index.js';
import {
  aGame,
  type Answer,
  type CallOptions,
  CONFIRMATION,
  DEDUCTION,
  expectRefused,
  makeCall,
  NOON_MS,
  REVERT,
  send,
  WALLET,
} from '../testing/caller.support.js';
import { faultsIn, refusedCalls } from '../testing/refused-calls.support.js';
import { ADAPTERS, listening, type Running } from './servers.support.js';

const DEDUCT = '/deduct-points-by-address';
const READ = `/get-points-by-address?address=${WALLET.toUpperCase().replace('X', 'x')}`;

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
  const deduct = (
    body: object | string | Buffer = DEDUCTION,
    options: CallOptions = {},
  ): Promise<Answer> => call(DEDUCT, body, options);

  it('answers the four calls, signed, with the handlers’ results', async () => {
    const answers = [
      await call(READ),
      await deduct(),
      await call('/revert-deduct-points', REVERT),
      await call('/confirm-redemption', CONFIRMATION),
    ];
    const user = { partnerUserId: 'player_1', points: 5000, chain: 'ronin', level: 12 };
    expect(answers.map(({ body }) => body)).toEqual([
      { success: true, address: WALLET, ...user },
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
    expect(game.asked).toEqual([{ address: WALLET }, DEDUCTION, REVERT, CONFIRMATION]);
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

  it('lets in a call once, and only as it was signed', async () => {
    const requestId = newRequestId(NOON_MS);
    expect((await deduct(DEDUCTION, { requestId })).body['success']).toBe(true);
    expectRefused(await deduct(DEDUCTION, { requestId }), 'ERR-AUTH-FAILED', 'was used before');
    const headers = { 'x-api-key': 'another' };
    expectRefused(await deduct(DEDUCTION, { headers }), 'ERR-AUTH-FAILED', 'X-API-KEY');
    // The path is signed as it is sent, prefix and all, without the query.
    const short = makeCall('/get-points-by-address');
    const url = `${prefix}/get-points-by-address?address=${WALLET}`;
    const answer = await send(server.port, { ...short, url });
    if (prefix === '') expect(answer.body['success']).toBe(true);
    else expectRefused(answer, 'ERR-AUTH-FAILED', 'X-API-SIGNATURE');
  });

  it('takes a body that was printed again on its way, but for a field that is given twice', async () => {
    const { address, ...rest } = DEDUCTION;
    const printed = JSON.stringify({ ...rest, address }, undefined, 2);
    const signed = makeCall('', DEDUCTION).body;
    const answer = await deduct(printed, signed === undefined ? {} : { signed });
    expect(answer).toMatchObject({ isSigned: true, body: { success: true } });
    expect(game.asked).toEqual([DEDUCTION]);
    const twice = await deduct(JSON.stringify(DEDUCTION).replace('{', '{"deductPoints":1,'));
    expectRefused(twice, 'ERR-INTERNAL', 'deductPoints must be given once');
    expectRefused(await call(`${READ}&address=${WALLET}`), 'ERR-INTERNAL', 'address must be');
    expect(game.asked).toHaveLength(1);
  });

  it('has no endpoint at another method, other capitals, a slash or percents in the name', async () => {
    for (const made of [
      makeCall(`${prefix}${DEDUCT}`),
      makeCall(`${prefix}${READ}`, undefined, { method: 'HEAD' }),
      makeCall(`${prefix}${DEDUCT}`, DEDUCTION, { method: 'PUT' }),
      makeCall(`${prefix}/Deduct-Points-By-Address`, DEDUCTION),
      makeCall(`${prefix}${DEDUCT}/`, DEDUCTION),
      makeCall(`${prefix}/deduct%2Dpoints-by-address`, DEDUCTION),
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
    expect((await deduct()).body['success']).toBe(true);
  });
});

describe.each(['Express, with a base path', 'Fastify'])('a body on %s', (name) => {
  const { prefix, start } = ADAPTERS[name] as (typeof ADAPTERS)[string];
  const path = prefix + DEDUCT;
  const game = aGame({ maxBodyBytes: 1000 });
  let server: Running;
  beforeAll(async () => {
    server = await start(game);
  });
  beforeEach(() => {
    game.asked.length = 0;
  });
  afterAll(async () => {
    await server.close();
    expect(game.errors).toEqual([]);
  });

  it('may be as large as the limit, and the connection is kept', async () => {
    const room = 1000 - JSON.stringify({ ...DEDUCTION, more: '' }).length;
    const body = JSON.stringify({ ...DEDUCTION, more: 'x'.repeat(room) });
    const taken = await send(server.port, makeCall(path, body));
    expect(taken).toMatchObject({ body: { success: true }, headers: { connection: 'keep-alive' } });
    const more = await send(server.port, makeCall(path, body.replace('xx', 'xxx')));
    expectRefused(more, 'ERR-INTERNAL', 'The body is too large.');
    expect(more.headers['connection']).toBe('close');
    const broken = await send(server.port, makeCall(path, '{'));
    expect(broken.headers['connection']).toBe('keep-alive');
  });

  it('whose caller goes away in the middle is no failure', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const { headers } = makeCall(path, DEDUCTION);
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${String(value)}\r\n`);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n{"addr`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await send(server.port, makeCall(path, DEDUCTION))).body['success']).toBe(true);
    expect(game.asked).toHaveLength(1);
  });

  it('that was signed as JSON but sent compressed is not what was signed', async () => {
    const made = makeCall(path, Buffer.from('H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==', 'base64'), {
      signed: '{}',
      headers: { 'content-encoding': 'gzip' },
    });
    expectRefused(await send(server.port, made), 'ERR-AUTH-FAILED');
  });

  it('of a read is not read', async () => {
    const made = makeCall(`${prefix}/get-points-by-address?address=${WALLET}`);
    const headers = { ...made.headers, 'content-length': '2' };
    const answer = await send(server.port, { ...made, headers, body: Buffer.from('{}') });
    expect(answer).toMatchObject({ isSigned: true, body: { success: true } });
  });
});

describe('a body that other code read before', () => {
  it('is refused with what to do about it, behind express.json()', async () => {
    const { options, handlers, asked } = aGame();
    const server = await listening(
      express().use(express.json()).use(expressCallbacks(options, handlers)),
    );
    const answer = await send(server.port, makeCall(DEDUCT, DEDUCTION));
    const message =
      'The body was parsed before its signature could be verified. Mount the callbacks';
    expectRefused(answer, 'ERR-INTERNAL', message);
    const read = makeCall(`/get-points-by-address?address=${WALLET}`);
    expect((await send(server.port, read)).body['success']).toBe(true);
    expect(asked).toEqual([{ address: WALLET }]);
    await server.close();
  });

  it('is refused with what to do about it, in the form of the Fetch API', async () => {
    const { options, handlers } = aGame();
    const made = makeCall(DEDUCT, DEDUCTION);
    const headers = made.headers as Record<string, string>;
    const url = `https://game.example${DEDUCT}`;
    const request = new Request(url, { method: 'POST', headers, body: '{}' });
    await request.text();
    const answer = await fetchCallbacks(options, handlers)(request);
    expect(await answer.json()).toMatchObject({
      errorMessage: expect.stringContaining('The body was read before its signature'),
    });
  });
});
