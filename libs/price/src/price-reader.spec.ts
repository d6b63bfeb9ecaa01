import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type PriceReaderOptions,
  type PriceReading,
  priceReader,
  type SourceReading,
} from './price-reader.js';
import { parsePriceSources } from './price-source.js';

const NOW_MS = 1_700_000_000_000;
const clock = { nowMs: () => NOW_MS };
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ROUND = { roundId: 9n, answeredInRound: 9n, answer: 0n, decimals: 8, updatedAtSeconds: 0 };

function read(
  source: string,
  round: Partial<typeof ROUND> = {},
  onSource: PriceReaderOptions['onSource'] = () => undefined,
): Promise<PriceReading> {
  const chain = { latestRound: () => Promise.resolve({ ...ROUND, ...round }) };
  const limits = { maxAgeSeconds: 7200 };
  const sources = parsePriceSources(source);
  const reader = priceReader(sources, { chain, clock, onSource, ...limits });
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
    [
      { answer: 5n, decimals: 8, updatedAtSeconds: 1, answeredInRound: 8n },
      'The price was carried over from an earlier round',
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
      servers.pop()?.close();
    }
  });
});

describe('the time of an http source', () => {
  const at = (time: string) => (_: unknown, response: { end(text: string): void }) => {
    response.end(`{"usd":0.15,"at":${time}}`);
  };

  it.each([
    ['1699999000', NOW_MS - 1_000_000],
    ['"1699999000"', NOW_MS - 1_000_000],
    ['1699999000.5', NOW_MS - 999_500],
    ['1699999000123', NOW_MS - 999_877],
    ['"2023-11-14T21:56:40Z"', NOW_MS - 1_000_000],
    ['"2023-11-14T22:56:40.5+01:00"', NOW_MS - 999_500],
  ])('is read from %s', async (time, observedAtMs) => {
    const host = await serve(at(time));
    const reading = await read(`http:http://${host}#/usd#/at`);
    expect(reading).toEqual({ usd: '0.15', observedAt: new Date(observedAtMs) });
  });

  it.each(['null', '""', '0', '-5', '"yesterday"', '"2023-11-14T21:56:40"', '{}', '1e400', 'true'])(
    'is refused where it is %s',
    async (time) => {
      const host = await serve(at(time));
      await expect(read(`http:http://${host}#/usd#/at`)).rejects.toMatchObject({
        code: 'PRICE_REFUSED',
        message: 'The price has no time at the second JSON pointer',
      });
    },
  );

  it('is refused where it is ahead of the clock by more than five minutes', async () => {
    const host = await serve(at(String(NOW_MS / 1000 + 301)));
    await expect(read(`http:http://${host}#/usd#/at`)).rejects.toMatchObject({
      message: 'The price is dated in the future',
    });
  });
});

describe('a price that is none', () => {
  // What else is none: price-limits.spec.ts.
  it.each([
    ['0', 'is zero'],
    ['"0.15 USD"', 'is not a decimal number'],
  ])('is refused: %s', async (text, reason) => {
    const host = await serve((_, response) => response.end(`{"usd":${text}}`));
    await expect(read(`http:http://${host}#/usd`)).rejects.toMatchObject({
      code: 'PRICE_REFUSED',
      message: `The price ${reason}`,
    });
  });
});

describe('several sources', () => {
  const found: SourceReading[] = [];
  const results = (): string[] => found.map(({ result }) => result);
  afterEach(() => {
    found.length = 0;
  });

  /**
   * Reads one source for each body, with a time pointer where the body has a time; undefined: a source that is down.
   */
  async function readAll(...bodies: (string | undefined)[]): Promise<PriceReading> {
    const sources: string[] = [];
    for (const body of bodies) {
      const host = await serve((_, response) => {
        if (body === undefined) response.destroy();
        else response.end(body);
      });
      sources.push(`http:http://${host}#/usd${body?.includes('at') === true ? '#/at' : ''}`);
    }
    return read(sources.join(','), {}, (reading) => found.push(reading));
  }
  const usd = (price: string): string => `{"usd":${price}}`;
  const NOW = new Date(NOW_MS);

  it.each<[string, string | undefined, string]>([
    ['wrong by a thousand', usd('0.00015'), 'apart'],
    ['wrong the other way', usd('150'), 'apart'],
    ['zero', usd('0'), 'refused'],
    ['no JSON', '<html>', 'failed'],
    ['dead', undefined, 'failed'],
    ['stopped', `{"usd":0.4,"at":${NOW_MS / 1000 - 7201}}`, 'stale'],
    ['from the future', `{"usd":0.4,"at":${NOW_MS / 1000 + 400}}`, 'refused'],
  ])('of which one of three is %s: nothing changes', async (_, body, result) => {
    for (const place of [0, 1, 2]) {
      const bodies: (string | undefined)[] = [usd('0.15'), usd('0.15')];
      bodies.splice(place, 0, body);
      expect(await readAll(...bodies)).toEqual({ usd: '0.15', observedAt: NOW });
      const expected = ['used', 'used'];
      expected.splice(place, 0, result);
      expect(results()).toEqual(expected);
      found.splice(0);
    }
  });

  it('have the median, of an even number the middle of the two in the middle', async () => {
    expect(await readAll(usd('0.151'), usd('0.149'), usd('0.15'))).toMatchObject({ usd: '0.15' });
    expect(await readAll(usd('0.151'), usd('0.15'))).toMatchObject({ usd: '0.1505' });
    const four = await readAll(usd('9'), usd('0.15'), usd('0.152'), usd('0.149'));
    expect(four).toMatchObject({ usd: '0.151' });
  });

  it('have the newest time of those that agree', async () => {
    const at = (seconds: number): string => `{"usd":0.15,"at":${NOW_MS / 1000 - seconds}}`;
    expect(await readAll(at(1200), at(60), at(600))).toEqual({
      usd: '0.15',
      observedAt: new Date(NOW_MS - 60_000),
    });
    const apart = `{"usd":0.4,"at":${NOW_MS / 1000}}`;
    expect(await readAll(at(1200), apart, at(600))).toMatchObject({
      observedAt: new Date(NOW_MS - 600_000),
    });
  });

  it('of which two differ are refused, with both figures', async () => {
    await expect(readAll(usd('0.15'), usd('0.16'))).rejects.toMatchObject({
      code: 'PRICE_REFUSED',
      message: expect.stringMatching(/not the same by its sources: 0\.15 by .+, 0\.16 by http/),
    });
    expect(results()).toEqual(['apart', 'apart']);
    await expect(readAll(usd('0.15'), usd('0.2'), usd('0.3'))).rejects.toMatchObject({
      code: 'PRICE_REFUSED',
    });
  });

  it('of which fewer than two tell a price have none', async () => {
    await expect(readAll(usd('0.15'), undefined)).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
      retryable: true,
    });
    await expect(readAll(undefined, usd('0.15'), '<html>')).rejects.toMatchObject({
      code: 'PRICE_UNAVAILABLE',
    });
  });
});

describe('other sources', () => {
  it('a fixed price is observed now; none has no reader', async () => {
    expect(await read('fixed:0.5')).toEqual({ usd: '0.5', observedAt: new Date(NOW_MS) });
    const chain = { latestRound: () => Promise.reject(new Error('not asked')) };
    const limits = { maxAgeSeconds: 7200 };
    expect(priceReader([], { chain, clock, ...limits })).toBeUndefined();
  });
});
