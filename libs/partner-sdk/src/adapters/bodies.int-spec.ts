/** Tests bodies that are too large, incomplete, of another type, or already read by other code. */
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import fastify from 'fastify';
import { expressCallbacks, fastifyCallbacks, fetchCallbacks } from '../index.js';
import {
  aGame,
  type Answer,
  DEDUCTION,
  expectRefused,
  type Game,
  makeCall,
  send,
  WALLET,
} from '../testing/caller.support.js';

const DEDUCT = '/deduct-points-by-address';
const SMALL = { maxBodyBytes: 1000 };

const SERVERS: Readonly<
  Record<string, (game: Game) => Promise<{ port: number; close: () => void }>>
> = {
  Express: async ({ options, handlers }) => {
    const server = createServer(express().use(expressCallbacks(options, handlers)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, close: () => server.close() };
  },
  Fastify: async ({ options, handlers }) => {
    const app = fastify({ bodyLimit: 10 });
    await app.register(fastifyCallbacks(options, handlers));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return { port: (app.server.address() as AddressInfo).port, close: () => void app.close() };
  },
};

describe.each(Object.entries(SERVERS))('on %s', (_, start) => {
  const game = aGame(SMALL);
  let port = 0;
  let close: () => void;
  beforeAll(async () => {
    ({ port, close } = await start(game));
  });
  beforeEach(() => {
    game.asked.length = 0;
  });
  afterAll(() => {
    close();
    expect(game.errors).toEqual([]);
  });

  const HUGE = JSON.stringify({ ...DEDUCTION, more: 'x'.repeat(70_000) });

  it('a huge body is refused before it is read', async () => {
    const answer = await send(port, makeCall(DEDUCT, HUGE));
    expectRefused(answer, 'ERR-INTERNAL', 'The body is too large.');
    expect(answer.headers['connection']).toBe('close');
  });

  it('a huge body of which nobody says the length is cut where the limit is passed', async () => {
    const made = makeCall(DEDUCT, HUGE);
    const headers = { ...made.headers, 'transfer-encoding': 'chunked' };
    delete (headers as Record<string, unknown>)['content-length'];
    const answer = await send(port, { ...made, headers });
    expectRefused(answer, 'ERR-INTERNAL', 'The body is too large.');
  });

  it('a connection is kept for the next call', async () => {
    for (const made of [
      makeCall(`/get-points-by-address?address=${WALLET}`),
      makeCall(DEDUCT, DEDUCTION),
      makeCall(DEDUCT, '{'),
    ]) {
      expect((await send(port, made)).headers['connection']).toBe('keep-alive');
    }
  });

  it('a body as large as it may be is taken', async () => {
    const room = 1000 - JSON.stringify({ ...DEDUCTION, more: '' }).length;
    const body = JSON.stringify({ ...DEDUCTION, more: 'x'.repeat(room) });
    expect((await send(port, makeCall(DEDUCT, body))).body['success']).toBe(true);
    expectRefused(
      await send(port, makeCall(DEDUCT, body.replace('xx', 'xxx'))),
      'ERR-INTERNAL',
      'The body is too large.',
    );
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'nonsense',
    'application/json5',
    'application/jsonx; a=b',
    '',
  ])('Content-Type %p is refused', async (type) => {
    const answer = await send(
      port,
      makeCall(DEDUCT, DEDUCTION, { headers: { 'content-type': type } }),
    );
    expectRefused(answer, 'ERR-INTERNAL', 'Content-Type must be application/json.');
    expect(game.asked).toEqual([]);
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json ;x=y'])(
    'Content-Type %p is taken',
    async (type) => {
      const made = makeCall(DEDUCT, DEDUCTION, { headers: { 'content-type': type } });
      expect((await send(port, made)).body['success']).toBe(true);
    },
  );

  it.each([
    ['empty', ''],
    ['half', '{"address":'],
    ['text behind it', '{}x'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['a byte order mark', '\ufeff{}'],
  ])('not JSON: %s', async (__, body) => {
    expectRefused(await send(port, makeCall(DEDUCT, body)), 'ERR-INTERNAL', 'is not JSON in UTF-8');
  });

  it('a caller that goes away in the middle of its body is nobody to answer, and no failure', async () => {
    const socket = connect(port, '127.0.0.1');
    const { headers } = makeCall(DEDUCT, DEDUCTION);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(`POST ${DEDUCT} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n{"addr`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await send(port, makeCall(DEDUCT, DEDUCTION))).body['success']).toBe(true);
    expect(game.asked).toHaveLength(1);
  });

  it('a body that was signed as JSON but sent compressed is not what was signed', async () => {
    const made = makeCall(DEDUCT, Buffer.from('H4sIAAAAAAAAA6uuBQBDv6ajAgAAAA==', 'base64'), {
      signed: '{}',
      headers: { 'content-encoding': 'gzip' },
    });
    expectRefused(await send(port, made), 'ERR-AUTH-FAILED');
  });

  it('a read is answered without a body that somebody put into it', async () => {
    const made = makeCall(`/get-points-by-address?address=${WALLET}`);
    const answer = await send(port, {
      ...made,
      headers: { ...made.headers, 'content-length': '2' },
      body: Buffer.from('{}'),
    });
    expect(answer).toMatchObject({ isSigned: true, body: { success: true } });
  });
});

describe('a body that somebody read before', () => {
  const DEDUCTED =
    'The body was parsed before its signature could be verified. Mount the callbacks';

  it('is refused with what to do about it, behind express.json()', async () => {
    const { options, handlers, asked } = aGame();
    const app = express().use(express.json()).use(expressCallbacks(options, handlers));
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer: Answer = await send(port, makeCall(DEDUCT, DEDUCTION));
    expectRefused(answer, 'ERR-INTERNAL', DEDUCTED);
    const read = makeCall(`/get-points-by-address?address=${WALLET}`);
    expect((await send(port, read)).body['success']).toBe(true);
    expect(asked).toEqual([{ address: WALLET }]);
    server.close();
  });

  it('is refused with what to do about it, in the form of the Fetch API', async () => {
    const { options, handlers } = aGame();
    const made = makeCall(DEDUCT, DEDUCTION);
    const request = new Request(`https://game.example${DEDUCT}`, {
      method: 'POST',
      headers: made.headers as Record<string, string>,
      body: '{}',
    });
    await request.text();
    const answer = await fetchCallbacks(options, handlers)(request);
    expect(await answer.json()).toMatchObject({
      errorMessage: expect.stringContaining('The body was read before its signature'),
    });
  });
});
