import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CredentialId, type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aCredentialId, aNewCredential } from '#libs/testing/partner';
import {
  type Database,
  type LoggedRequest,
  PartnerStore,
  PortalDatabase,
  readRequests,
  RequestBatch,
  RequestLogStore,
} from '../index.js';

const NOW_MS = Date.now();
const DAY_MS = 86_400_000;

let test: TestDatabase;
let owner: Database;
let log: RequestLogStore;
let portal: PortalDatabase;
let partnerId: PartnerId;
let credentialId: CredentialId;

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  // Connects like the api.
  log = new RequestLogStore(await test.open({ url: test.urlAs('api'), readOnly: true }));
  portal = new PortalDatabase(await test.open({ url: test.urlAs('portal') }));
});
afterAll(() => test.drop());

beforeEach(async () => {
  await test.empty();
  const credential = aNewCredential();
  const partners = new PartnerStore(owner);
  ({ partnerId } = await partners.create({ name: 'Acme', rate: 1, burst: 1, credential }));
  credentialId =
    (await partners.findCredential(credential.keyHash))?.credentialId ?? aCredentialId();
});

function aRequest(change: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    partnerId,
    credentialId,
    requestId: 'order-17.retry_2',
    atMs: NOW_MS,
    method: 'GET',
    path: '/api/staking/snapshots?walletAddress=0x1&lastDays=7',
    status: 200,
    body: '{"success":true}',
    signature: 'ab'.repeat(32),
    durationUs: 1234.4,
    ...change,
  };
}

function note(requests: readonly LoggedRequest[]): Promise<number> {
  const batch = new RequestBatch();
  for (const request of requests) expect(batch.add(request)).toBe(0);
  return log.note(batch);
}

const read = (page: Partial<Parameters<typeof readRequests>[1]> = {}) =>
  portal.asPartner(partnerId, (query) => readRequests(query, { limit: 100, ...page }));

describe('RequestLogStore', () => {
  it('keeps requests and answers as they were', async () => {
    const requests = [
      aRequest(),
      aRequest({ status: 404, code: 'NOT_FOUND', body: '{"message":"„weiß“ \\"x\\" \\u0000"}' }),
      aRequest({ method: 'HEAD', body: '' }),
      aRequest({ path: '/\xff\xfe\x80?q={,"\\}', body: Buffer.from([0, 255, 92, 34]) }),
    ];
    expect(await note(requests)).toBe(requests.length);
    const rows = (await read()).reverse();
    expect(rows).toEqual(
      requests.map((request, place) => ({
        id: rows[place]?.id,
        requestId: request.requestId,
        credentialId,
        keyPrefix: 'svck_test',
        at: new Date(NOW_MS),
        method: request.method,
        path: request.path,
        pathLength: request.path.length,
        status: request.status,
        code: request.code ?? null,
        body: Buffer.from(request.body),
        bodyBytes: Buffer.byteLength(request.body),
        signature: request.signature,
        durationUs: 1234,
      })),
    );
  });

  it('keeps the beginning of what is long, and its length', async () => {
    const path = `/${'p'.repeat(15_000)}`;
    await note([aRequest({ path, body: 'é'.repeat(5000) }), aRequest({ body: 'next' })]);
    const [next, long] = await read();
    expect(long).toMatchObject({ pathLength: 15_001, bodyBytes: 10_000 });
    expect(long?.path).toBe(path.slice(0, 2048));
    expect(long?.body).toEqual(Buffer.from('é'.repeat(4096)));
    expect(next?.body.toString()).toBe('next');
  });

  it('loses the newest of the largest share, where it is full, and nothing of an equal share', async () => {
    const batch = new RequestBatch();
    // Bodies of any size: a request of a partner takes the room of several of another one.
    const body = (place: number) => 'x'.repeat((place * 997) % 9000);
    const partners = 20;
    let [asked, lost] = [0, 0];
    const add = (of: string, count: number): void => {
      for (let place = 0; place < count; place += 1) {
        const path = `/${of}/${place}`;
        lost += batch.add(aRequest({ partnerId: of as PartnerId, path, body: body(place) }));
        asked += 1;
      }
    };
    add('first', 2000);
    for (let quiet = 0; quiet < partners; quiet += 1) add(`quiet ${quiet}`, 10);
    add('second', 2000);
    for (let quiet = 0; quiet < partners; quiet += 1) add(`late ${quiet}`, 10);
    expect(batch.count).toBe(asked - lost);
    expect(await log.note(batch)).toBe(batch.count);
    const kept = new Map<string, string[]>();
    for (const { path, body: stored } of (await read({ limit: 2000 })).reverse()) {
      const [, of = '', place = ''] = path.split('/');
      expect(stored.toString()).toBe(body(Number(place)).slice(0, 8192));
      kept.set(of, [...(kept.get(of) ?? []), place]);
    }
    for (const [of, places] of kept) {
      expect(places).toEqual(places.map((_, place) => String(place)));
      if (of === 'first' || of === 'second') expect(places.length).toBeGreaterThan(100);
      else expect(places).toHaveLength(10);
    }
    expect(kept.size).toBe(2 + 2 * partners);
  });

  it('leaves out what belongs to no credential', async () => {
    const stranger = aRequest({ credentialId: aCredentialId() });
    expect(await note([stranger, aRequest()])).toBe(1);
  });

  it('forgets what is old, never anything of the last day', async () => {
    const old = { atMs: NOW_MS - 8 * DAY_MS, path: '/old' };
    const young = { atMs: NOW_MS - DAY_MS / 2, path: '/young' };
    await note([aRequest(old), aRequest(young), aRequest()]);
    expect(await log.forget(NOW_MS - 7 * DAY_MS)).toBe(false);
    expect((await read()).map(({ path }) => path)).toEqual([aRequest().path, '/young']);
    await log.forget(NOW_MS);
    expect(await read()).toHaveLength(2);
  });

  it('keeps the newest 20,000 of a partner', async () => {
    await owner.query(
      {
        text: `INSERT INTO partners.request (partner_id, credential_id, at, method, path, path_length, status, body, body_bytes, signature, duration_us, request_id)
        SELECT $1, $2, now(), 'GET', '/' || n, 100, 200, '', 0, decode(repeat('ab', 32), 'hex'), 1, 'r-' || n FROM generate_series(1, 26000) n`,
      },
      [partnerId, credentialId],
    );
    expect(await log.forget(NOW_MS - DAY_MS)).toBe(true);
    expect(await log.forget(NOW_MS - DAY_MS)).toBe(false);
    const [left] = await owner.query<{ count: string; path: string }>({
      text: 'SELECT count(*), min(id)::text AS id, (SELECT path FROM partners.request ORDER BY id LIMIT 1) AS path FROM partners.request',
    });
    expect(left).toMatchObject({ count: '20000', path: '/6001' });
  });

  it('is no way to read or to remove for the api', async () => {
    const api = await test.open({ url: test.urlAs('api') });
    for (const text of ['SELECT FROM partners.request', 'DELETE FROM partners.request']) {
      await expect(api.query({ text })).rejects.toMatchObject({ sqlState: '42501' });
    }
  });

  it.each([
    ['a signature of another length', { signature: 'ab' }],
    ['no status', { status: 99 }],
    ['a duration below nothing', { durationUs: -1 }],
  ])('refuses a batch with %s, all of it', async (_, change) => {
    const noting = note([aRequest(), aRequest(change)]);
    await expect(noting).rejects.toMatchObject({ code: 'DATABASE_REFUSED' });
    expect(await read()).toEqual([]);
  });
});
