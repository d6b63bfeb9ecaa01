import { describe, expect, it } from '@jest/globals';
import { type NodeHash } from '#libs/domain';
import { DayLines } from './day-lines.js';
import { acceptsGzip, representationFor } from './representation.js';

const ROOT = `0x${'ab'.repeat(32)}` as NodeHash;
const LINES = new DayLines('ndjson', { wallets: 10, total: 99n });
const SIZE = LINES.size;
const ETAG = `"${'ab'.repeat(32)}.ndjson"`;
const PACKED = `W/"${'ab'.repeat(32)}.ndjson.gz"`;

const of = (headers: Record<string, string>, method = 'GET') =>
  representationFor({ method, headers }, LINES, ROOT);

describe('Range', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=5-', 5, SIZE],
    ['BYTES=5-7', 5, 8],
    ['bytes= 5-7 ', 5, 8],
    [`bytes=5-${'9'.repeat(400)}`, 5, SIZE],
    ['bytes=-3', SIZE - 3, SIZE],
    [`bytes=-${SIZE + 1}`, 0, SIZE],
    [`bytes=-${'9'.repeat(400)}`, 0, SIZE],
  ])('takes %s', (range, from, to) => {
    const found = of({ range, 'accept-encoding': 'gzip' });
    expect(found).toMatchObject({ status: 206, isGzip: false, etag: ETAG, span: { from, to } });
  });

  it.each([`bytes=${SIZE}-`, `bytes=${'9'.repeat(400)}-`, 'bytes=-0'])(
    'has nothing of %s',
    (range) => {
      expect(of({ range }).status).toBe(416);
    },
  );

  it.each([
    '',
    'bytes',
    'bytes=-',
    'bytes=7-5',
    'bytes=1-2,4-5',
    'bytes=+1-2',
    'bytes=1.0-2',
    'lines=1-2',
    `bytes=${'1-2,'.repeat(1000)}1-2`,
  ])('ignores "%s"', (range) => {
    expect(of({ range })).toMatchObject({ status: 200, span: { from: 0, to: SIZE } });
  });

  it('is of GET alone', () => {
    expect(of({ range: 'bytes=1-2' }, 'HEAD').status).toBe(200);
  });

  it.each([
    [ETAG, 206],
    [`W/${ETAG}`, 200],
    [PACKED, 200],
    ['"another"', 200],
    ['Sat, 21 Nov 2026 12:00:00 GMT', 200],
    ['', 200],
  ])('depends on If-Range: %s', (condition, status) => {
    expect(of({ range: 'bytes=1-2', 'if-range': condition }).status).toBe(status);
  });
});

describe('If-None-Match', () => {
  it.each([
    [{ 'if-none-match': ETAG }, 304],
    [{ 'if-none-match': `"x", W/${ETAG}` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': ETAG, range: 'bytes=0-1' }, 304],
    [{ 'if-none-match': ETAG, 'accept-encoding': 'gzip' }, 200],
    [{ 'if-none-match': PACKED, 'accept-encoding': 'gzip' }, 304],
    [{ 'if-none-match': PACKED }, 200],
    [{ 'if-none-match': ETAG.slice(1, -1) }, 200],
    [{ 'if-none-match': '' }, 200],
  ])('%j: %s', (headers, status) => {
    expect(of(headers).status).toBe(status);
  });
});

describe('acceptsGzip', () => {
  it.each([
    ['gzip', true],
    ['x-gzip', true],
    ['br, gzip;q=0.5', true],
    ['*', true],
    ['gzip;q=1.0, identity;q=0.5', true],
    ['identity, gzip;q=0.5', false],
    ['gzip;q=0', false],
    ['*, gzip;q=0', false],
    ['gzip;q=nonsense', false],
    ['', false],
    [undefined, false],
    [',;,;q=,'.repeat(1000), false],
  ])('%s: %s', (header, expected) => {
    expect(acceptsGzip(header)).toBe(expected);
  });
});
