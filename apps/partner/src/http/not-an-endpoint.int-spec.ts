import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  API_KEY,
  type Partner,
  sendRaw,
  startPartner,
} from '../testing/partner-harness.support.js';

let partner: Partner;
beforeAll(async () => {
  partner = await startPartner();
});
afterAll(() => partner.stop());

describe('what is not one of the four endpoints', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/deduct-points-by-address'],
    ['POST', '/get-points-by-address'],
    ['PUT', '/deduct-points-by-address'],
    ['HEAD', '/nothing'],
    ['OPTIONS', '/deduct-points-by-address'],
    ['GET', '/get-points-by-address/'],
    ['GET', '/Get-Points-By-Address'],
    ['GET', '/%zz'],
    ['GET', '/%c0%af?x=%zz'],
    ['GET', '//get-points-by-address'],
    ['PROPFIND', '/x'],
  ])('%s %s is a signed 404', async (method, path) => {
    const answer = await sendRaw(partner.port, { method, path, headers: { 'x-api-key': API_KEY } });
    expect(answer.status).toBe(404);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    if (method === 'HEAD') return;
    expect(answer.body).toEqual({
      success: false,
      errorCode: 'ERR-INTERNAL',
      errorMessage: 'There is no such endpoint.',
    });
  });

  it.each([
    'rubbish\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  ])('what is not HTTP gets no answer, so no unsigned one: %.30j', async (bytes) => {
    expect(await rawExchange(bytes)).toBe('');
  });

  it.each([
    'GET / HTTP/1.1\r\nConnection: close\r\n\r\n',
    'POST /x HTTP/1.1\r\nHost: a\r\nExpect: something\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  ])('what Node would answer by itself is signed: %.30j', async (bytes) => {
    expect(await rawExchange(bytes)).toMatch(
      /^HTTP\/1\.1 404 .*x-api-signature: [0-9a-f]{64}\r\n/is,
    );
  });
});

async function rawExchange(bytes: string): Promise<string> {
  const socket = connect(partner.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write(bytes);
  await closed;
  return text;
}
