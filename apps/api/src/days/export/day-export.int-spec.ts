/** Lists of sealed days over real sockets: forms, ranges, conditions, signatures, limits. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayText, type DayTree, type Keccak256 } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { hmacSha256Hex, type MintedCredential } from '#libs/signing';
import { type RawAnswer } from '#libs/testing/wire';
import { addPartner, type Api, startApi } from '../../testing/api-harness.support.js';
import { askRaw, listPath } from '../../testing/list-client.support.js';
import {
  FIRST,
  LAST,
  type Sealer,
  startSealing,
  treeOf,
} from '../../testing/sealed-days.support.js';
import { expectError } from '../../testing/wire.support.js';

const MANY = 45_000;
const [KEPT_NO_MORE, EMPTY, SMALL, LARGE] = [FIRST, FIRST + 1, FIRST + 2, FIRST + 3];

let api: Api;
let partner: MintedCredential;
let keccak: Keccak256;
let sealer: Sealer;
let small: DayTree;

beforeAll(async () => {
  keccak = await createKeccak256();
  api = await startApi();
  partner = await addPartner(api, 'lists', { rate: 10_000, burst: 100_000 });
  sealer = await startSealing(api);
  small = treeOf(3000, keccak);
  await sealer.seal(KEPT_NO_MORE, treeOf(3, keccak));
  await sealer.seal(EMPTY, treeOf(0, keccak));
  await sealer.seal(SMALL, small);
  await sealer.seal(LARGE, treeOf(MANY, keccak));
  await sealer.forgetLists(EMPTY);
});
afterAll(() => api.stop());

const pathOf = listPath;
const ask = (
  target: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<RawAnswer> =>
  askRaw({ port: api.port, apiKey: partner.apiKey }, target, headers, method);

function expectSignedHead({ headers }: RawAnswer, path: string, method = 'GET'): void {
  const content = method + path + (headers['x-sealed-day'] ?? '');
  expect(headers['x-api-signature']).toBe(hmacSha256Hex(partner.sharedSecret, content));
}

const linesOf = (tree: DayTree): [string, bigint][] =>
  [...tree.leaves.list].map(({ wallet, low }) => [wallet, low]);

describe('a list', () => {
  it('is one JSON object for each wallet, in their order', async () => {
    const answer = await ask(pathOf(SMALL));
    expect(answer.status).toBe(200);
    expectSignedHead(answer, pathOf(SMALL));
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-length': String(Buffer.byteLength(answer.body)),
      'accept-ranges': 'bytes',
      vary: 'Accept-Encoding',
      etag: `"${small.root.slice(2)}.ndjson"`,
      'cache-control': 'private, no-cache',
    });
    const lines = answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual(
      linesOf(small).map(([walletAddress, low]) => ({ walletAddress, low: String(low) })),
    );
  });

  it('names the day as it is told by itself', async () => {
    const list = await ask(pathOf(SMALL));
    const day = await ask(`/api/staking/days/${dayText(SMALL)}`);
    expect(list.headers['x-sealed-day']).toBe(day.body);
  });

  it('is CSV as well', async () => {
    const answer = await ask(pathOf(SMALL, 'csv'));
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    const [header, ...rows] = answer.body.trimEnd().split('\r\n');
    expect(header).toBe('walletAddress,low');
    const read = rows.map((row) => row.split(','));
    expect(read.map(([wallet, low]) => [wallet, BigInt(low ?? '')])).toEqual(linesOf(small));
  });

  it('is empty where no wallet has anything', async () => {
    expect(await ask(pathOf(EMPTY))).toMatchObject({ status: 200, body: '' });
    const csv = await ask(pathOf(EMPTY, 'csv'));
    expect(csv).toMatchObject({ status: 200, body: 'walletAddress,low\r\n' });
    const ranged = await ask(pathOf(EMPTY), { range: 'bytes=0-' });
    expectError(ranged, 416, 'RANGE_NOT_SATISFIABLE');
    expect(ranged.headers['content-range']).toBe('bytes */0');
  });

  it('is packed for those who ask for it, and the same then', async () => {
    const headers = { 'x-api-key': partner.apiKey, 'accept-encoding': 'gzip' };
    const request = get(`${api.url}${pathOf(SMALL)}`, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
      etag: `W/"${small.root.slice(2)}.ndjson.gz"`,
    });
    expect(response.headers).not.toHaveProperty('content-length');
    const plain = await ask(pathOf(SMALL));
    expect(gunzipSync(await buffer(response)).toString()).toBe(plain.body);
  });

  it('is not sent to those who have it', async () => {
    const { headers } = await ask(pathOf(SMALL));
    const again = await ask(pathOf(SMALL), { 'if-none-match': headers['etag'] ?? '' });
    expect(again).toMatchObject({ status: 304, body: '' });
    expect(again.headers['etag']).toBe(headers['etag']);
    expectSignedHead(again, pathOf(SMALL));
  });

  it('has its headers by HEAD', async () => {
    const answer = await ask(pathOf(LARGE), { range: 'bytes=1-2' }, 'HEAD');
    expect(answer.status).toBe(200);
    expectSignedHead(answer, pathOf(LARGE), 'HEAD');
    const { body, headers } = await ask(pathOf(LARGE));
    expect(answer.headers['content-length']).toBe(String(body.length));
    expect(answer.headers['etag']).toBe(headers['etag']);
  });

  it('is signed as Accept-Signature asks, without a digest', async () => {
    const answer = await ask(pathOf(SMALL), { 'accept-signature': 'sig=()' });
    expect(answer.headers['signature-input']).toContain('"@query";req "x-sealed-day")');
    expect(answer.headers).not.toHaveProperty('content-digest');
  });
});

describe('a range', () => {
  it('is just those bytes', async () => {
    const { body, headers } = await ask(pathOf(SMALL));
    const size = body.length;
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=100-20000', 100, 20_001],
      [`bytes=${size - 10}-`, size - 10, size],
      ['bytes=-77', size - 77, size],
    ] as const) {
      const etag = headers['etag'] ?? '';
      const part = await ask(pathOf(SMALL), { range, 'if-range': etag, 'accept-encoding': 'gzip' });
      expect([range, part.status, part.body]).toEqual([range, 206, body.slice(from, to)]);
      expect(part.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${size}`);
      expectSignedHead(part, pathOf(SMALL));
    }
    const csv = (await ask(pathOf(SMALL, 'csv'))).body;
    const part = await ask(pathOf(SMALL, 'csv'), { range: 'bytes=5-40' });
    expect(part.body).toBe(csv.slice(5, 41));
  });
});

describe('what is refused', () => {
  it.each([
    [pathOf(LAST), 409, 'DAY_NOT_SEALED'],
    [pathOf(LAST + 1), 409, 'DAY_NOT_OVER'],
    [pathOf(FIRST - 1), 404, 'DAY_NOT_FOUND'],
    [pathOf(KEPT_NO_MORE), 410, 'LIST_NOT_KEPT'],
    [`${pathOf(SMALL)}?revision=2`, 404, 'REVISION_NOT_FOUND'],
    [`${pathOf(SMALL)}?revision=0`, 400, 'BAD_REQUEST'],
    [`${pathOf(SMALL)}?revision=1&revision=1`, 400, 'BAD_REQUEST'],
    [`${pathOf(SMALL)}?contract=0x`, 400, 'BAD_REQUEST'],
    ['/api/staking/days/2026-02-30/wallets.ndjson', 400, 'BAD_REQUEST'],
    ['/api/staking/days/2026-11-18/wallets.xml', 404, 'NOT_FOUND'],
  ])('%s: %s %s', async (target, status, code) => {
    expectError(await ask(target), status, code);
  });

  it('is for partners', async () => {
    expectError(await ask(pathOf(SMALL), { 'x-api-key': '' }), 401, 'UNAUTHORIZED');
  });
});

describe('the limit', () => {
  it('counts a request for each 10,000 wallets that are sent', async () => {
    const remaining = async (headers: Record<string, string>): Promise<number> => {
      const answer = await ask(pathOf(LARGE), { 'x-api-key': key, ...headers });
      return Number(answer.headers['x-ratelimit-remaining']);
    };
    const { apiKey: key } = await addPartner(api, 'weighed', { rate: 1, burst: 40 });
    // The test's clock stands still, so the bucket does not refill.
    expect(await remaining({})).toBe(35);
    expect(await remaining({ range: 'bytes=0-99' })).toBe(34);
    expect(await remaining({ range: 'bytes=-2000000' })).toBeGreaterThan(30);
    const { apiKey } = await addPartner(api, 'small', { rate: 1, burst: 7 });
    expect((await ask(pathOf(LARGE), { 'x-api-key': apiKey })).status).toBe(200);
    const refused = await ask(pathOf(LARGE), { 'x-api-key': apiKey });
    expectError(refused, 429, 'RATE_LIMIT_EXCEEDED');
  });
});
