import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type PriceReading, priceReader } from './price-reader.js';
import { parsePriceSource } from './price-source.js';

const NOW_MS = 1_700_000_000_000;
const clock = { nowMs: () => NOW_MS };
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function read(
  source: string,
  round = { answer: 0n, decimals: 8, updatedAtSeconds: 0 },
): Promise<PriceReading> {
  const chain = { latestRound: () => Promise.resolve(round) };
  const reader = priceReader(parsePriceSource(source), { chain, clock });
  if (reader === undefined) throw new Error('no reader');
  return reader();
}

const FEED = `chainlink:0x${'11'.repeat(20)}`;

describe('a chainlink feed', () => {
  it('is read exactly, with the time of its round', async () => {
    const updatedAtSeconds = NOW_MS / 1000 - 1800;
    expect(await read(FEED, { answer: 12_345n, decimals: 8, updatedAtSeconds })).toEqual({
      usd: '0.00012345',
      observedAt: new Date(updatedAtSeconds * 1000),
    });
  });

  it.each([
    [{ answer: 0n, decimals: 8, updatedAtSeconds: 1 }, 'The price is zero'],
    [{ answer: -5n, decimals: 8, updatedAtSeconds: 1 }, 'The price is negative'],
    [{ answer: 10n ** 30n, decimals: 8, updatedAtSeconds: 1 }, 'The price is absurdly high'],
    [
      { answer: 5n, decimals: 8, updatedAtSeconds: 0 },
      'The price belongs to a round that is not complete',
    ],
    [
      { answer: 5n, decimals: 8, updatedAtSeconds: NOW_MS / 1000 + 301 },
      'The price is dated in the future',
    ],
  ])('is refused where it is %j', async (round, message) => {
    await expect(read(FEED, round)).rejects.toMatchObject({ code: 'PRICE_REFUSED', message });
  });
});

describe('an http source', () => {
  it.each([
    ['{"data":[{"usd":0.10000000000000000001}]}', '/data/0/usd', '0.10000000000000000001'],
    ['{"a/b":{"~":"2.50"}}', '/a~1b/~0', '2.5'],
    ['1e-7', '', '0.0000001'],
  ])('gives every digit of %s at %j', async (body, pointer, usd) => {
    const host = await serve((_, response) => response.end(body));
    const reading = await read(`http:http://${host}/v1?key=k#${pointer}`);
    expect(reading).toEqual({ usd, observedAt: new Date(NOW_MS) });
  });

  it('is sent the credentials of its URL', async () => {
    const host = await serve((request, response) => {
      response.end(JSON.stringify({ usd: request.headers.authorization === 'Basic dTpw' ? 1 : 0 }));
    });
    expect(await read(`http:http://u:p@${host}#/usd`)).toMatchObject({ usd: '1' });
  });

  it.each(['{"usd":null}', '{"usd":true}', '{"usd":[1]}', '{}', '{"usd":{}}'])(
    'is refused where %s has no number',
    async (body) => {
      const host = await serve((_, response) => response.end(body));
      await expect(read(`http:http://${host}#/usd`)).rejects.toMatchObject({
        code: 'PRICE_REFUSED',
      });
    },
  );

  it('is unavailable where it fails, sends no JSON or too much', async () => {
    const answers: [RequestListener, string][] = [
      [(_, response) => response.writeHead(503).end('{"usd":1}'), 'answered with status 503'],
      [(_, response) => response.end('<html>'), 'did not send JSON'],
      [(_, response) => response.end(' '.repeat(1_048_577)), 'did not answer'],
      [(_, response) => response.destroy(), 'did not answer'],
    ];
    for (const [listener, reason] of answers) {
      const host = await serve(listener);
      await expect(read(`http:http://u:hunter2@${host}#/usd`)).rejects.toMatchObject({
        code: 'PRICE_UNAVAILABLE',
        message: `The source of the price ${reason}`,
      });
      server?.close();
    }
  });
});

describe('other sources', () => {
  it('a fixed price is observed now; none has no reader', async () => {
    expect(await read('fixed:0.5')).toEqual({ usd: '0.5', observedAt: new Date(NOW_MS) });
    const chain = { latestRound: () => Promise.reject(new Error('not asked')) };
    expect(priceReader({ kind: 'none' }, { chain, clock })).toBeUndefined();
  });
});
