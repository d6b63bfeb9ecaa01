/** The portal's user sees every column of a view for the partner of its transaction, and nothing of other partners. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CredentialId, type PartnerId } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aCredentialId, aNewCredential, aPartnerId } from '#libs/testing/partner';
import {
  type Database,
  type LoggedRequest,
  openPortal,
  PartnerStore,
  PortalDatabase,
  readRequests,
  RequestBatch,
  RequestLogStore,
} from '../index.js';
import { tablesOf } from '../roles/rights.js';

const VIEWS = tablesOf('portal');
const PARTNERS = [aPartnerId(), aPartnerId()] as const;
const [ACME, BETA] = PARTNERS;
const SECRET = randomBytes(40);

let test: TestDatabase;
let owner: Database;
let portal: PortalDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
  owner = await test.open();
  portal = await openPortal({
    ...{ url: test.urlAs('portal'), applicationName: 'test portal', poolSize: 2 },
  });
  for (const [place, partner] of PARTNERS.entries()) await fill(partner, place + 1);
});
afterAll(async () => {
  await portal.close();
  await test.drop();
});

/**
 * Inserts rows of the partner into every table that a view shows. The guards of the ledger are not part of this test.
 */
async function fill(partner: PartnerId, rows: number): Promise<void> {
  const client = await owner.pool.connect();
  const insert = (table: string, values: Record<string, unknown>) => {
    const names = Object.keys(values);
    const places = names.map((_, place) => `$${place + 1}`);
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`;
    return client.query(text, Object.values(values));
  };
  try {
    await client.query('SET session_replication_role = replica');
    await insert('partners.partner', { id: partner, name: `of ${partner}` });
    const of = { partner_id: partner };
    await insert('partners.callback', {
      ...{ ...of, url: `https://${partner}.example`, key: SECRET.toString('hex') },
      ...{ secret_ciphertext: SECRET, usd_per_point: 1 },
    });
    await insert('console.conformance_run', {
      ...{ partner, id: randomUUID(), base_url: `https://${partner}.example`, progress: '{}' },
      address: `0x${partner.replaceAll('-', '')}00000000`,
      ...{ started_at: new Date(), held_until: new Date(Date.now() + 60_000) },
    });
    for (let row = 0; row < rows; row += 1) {
      const credential = { key_hash: randomBytes(32), key_prefix: 'svck_test' };
      await insert('partners.credential', { ...of, ...credential, secret_ciphertext: SECRET });
      await insert('partners.request', {
        ...{ ...of, credential_id: randomUUID(), at: new Date(), method: 'GET', path: '/' },
        ...{ path_length: 1, status: 200, body: partner, body_bytes: 100 },
        ...{ signature: randomBytes(32), duration_us: 1, request_id: randomUUID() },
      });
      await fillCorrection(insert, partner);
      const subject = `link:m${row}-${partner}`;
      await insert('console.conformance_deduction', {
        ...{ partner, redemption_id: randomUUID(), run_id: randomUUID(), points: '1.5' },
        ...{ address: `0x${partner.replaceAll('-', '')}00000000`, attempts: 1, due_at: new Date() },
      });
      await insert('console.member', { partner, subject, name: partner, added_at: new Date() });
      await fillLedger(insert, partner);
      await fillWebhooks(insert, partner);
    }
  } finally {
    client.release(true);
  }
}

async function fillLedger(
  insert: (table: string, values: Record<string, unknown>) => Promise<unknown>,
  partner: PartnerId,
): Promise<void> {
  const v7 = (): string => randomUUID().replace(/^(.{14})4/, '$17');
  const now = new Date();
  const id = v7();
  await insert('redemption.redemption', {
    ...{ id, partner, wallet: randomBytes(20), points: 1, usd_amount: 1, token_amount: 1 },
    ...{ token_decimals: 18, price_usd: 1, quote_expires_at: now, initial_at: now },
    ...{ state: 'created', version: 1, exposure: 'none', unproven_attempts: 0 },
    ...{ candidate_transaction_ids: [], redemption_id_refuted: false, deduct_attempts: 0 },
    ...{ payout_attempts: 0, revert_attempts: 0, next_action_at: now, state_since_at: now },
  });
  await insert('redemption.transition', {
    ...{ redemption_id: id, version: 1, event: 'created', to_state: 'created' },
    ...{ actor: 'operator:anna' },
  });
  await insert('redemption.partner_call', {
    ...{ request_id: v7(), redemption_id: id, partner, step: 'deduct' },
  });
  await insert('redemption.confirmation', {
    ...{ redemption_id: id, partner, state: 'pending', version: 1, attempts: 0 },
    ...{ payload: '{"status":"claimed"}', next_action_at: now },
  });
}

let sequence = 0;

async function fillCorrection(
  insert: (table: string, values: Record<string, unknown>) => Promise<unknown>,
  partner: PartnerId,
): Promise<void> {
  const correction = (sequence += 1);
  await owner.query(
    {
      text: `INSERT INTO partners.correction (id, stake_set, reason, actor, blocks) OVERRIDING SYSTEM VALUE VALUES ($1, 'default', 'a disk lost writes', 'operator:anna', '[]')`,
    },
    [correction],
  );
  await insert('partners.corrected_answer', {
    ...{ correction, partner_id: partner, request: correction, requested_at: new Date() },
    ...{ method: 'GET', path: partner, is_certain: true, figures: '[]', request_id: 'r-1' },
  });
}

async function fillWebhooks(
  insert: (table: string, values: Record<string, unknown>) => Promise<unknown>,
  partner: PartnerId,
): Promise<void> {
  const [subscription, event] = [randomUUID(), (sequence += 1)];
  const url = `https://${partner}.example/hooks`;
  const topics = ['redemption.*'];
  await insert('webhooks.subscription', {
    ...{ id: subscription, partner, url, topics, stake_set: 'default' },
  });
  await insert('webhooks.secret', { subscription, ciphertext: SECRET });
  const payload = JSON.stringify({ partner });
  await insert('webhooks.event', {
    ...{ sequence: event, subscription, type: 'redemption.initial', order_key: '', payload },
  });
  await insert('webhooks.attempt', {
    ...{ event, at: new Date(), outcome: 'failed', status: 500, duration_ms: 1 },
    ...{ request: '{}', answer: JSON.stringify({ partner }) },
  });
}

const countOf = (view: string, partner: PartnerId): Promise<number> =>
  portal.asPartner(partner, async (query) => {
    const rows = await query<{ count: string }>({ text: `SELECT count(*) FROM ${view}` });
    return Number(rows[0]?.count);
  });

/** By view: the column, or the part of a column, that identifies the partner. */
const OWNER: Record<string, string> = {
  'portal.partner': 'id::text',
  'portal.callback': `split_part(substr(url, 9), '.', 1)`,
  'portal.request': `convert_from(body, 'UTF8')`,
  'portal.member': 'name',
  'portal.corrected_answer': 'path',
  'portal.conformance_run': `split_part(substr(base_url, 9), '.', 1)`,
  'portal.conformance_deduction': 'substr(address, 3, 32)::uuid::text',
  'portal.webhook_subscription': `split_part(substr(url, 9), '.', 1)`,
  'portal.webhook_event': `payload::jsonb ->> 'partner'`,
  'portal.webhook_attempt': `answer ->> 'partner'`,
};

describe('each view', () => {
  it('is one that the test has rows for', () => {
    expect(VIEWS.length).toBeGreaterThan(8);
    expect(Object.keys(OWNER).filter((view) => !VIEWS.includes(view))).toEqual([]);
  });

  it.each(VIEWS)(
    '%s shows the rows of the partner of the transaction and no others',
    async (view) => {
      const isOne = ['portal.partner', 'portal.callback', 'portal.conformance_run'].includes(view);
      expect(await countOf(view, ACME)).toBe(1);
      expect(await countOf(view, BETA)).toBe(isOne ? 1 : 2);
      expect(await countOf(view, aPartnerId())).toBe(0);
      const whose = OWNER[view];
      if (whose === undefined) return;
      const text = `SELECT DISTINCT ${whose} AS partner FROM ${view}`;
      const shown = await portal.asPartner(BETA, (query) => query({ text }));
      expect(shown).toEqual([{ partner: BETA }]);
    },
  );

  it.each(VIEWS)('%s shows nothing outside of a transaction of a partner', async (view) => {
    await countOf(view, ACME);
    expect(await portal.database.query({ text: `SELECT * FROM ${view}` })).toEqual([]);
  });

  it.each(VIEWS)('%s is filtered before what a reader asks for is computed', async (view) => {
    // A condition that fails on each row it is evaluated on. Evaluated on rows of others, it would reveal them.
    const text = `SELECT * FROM ${view} v WHERE 1 / (length(v::text) * 0) = 1`;
    const nothing = portal.asPartner(aPartnerId(), (query) => query({ text }));
    expect(await nothing).toEqual([]);
    const own = portal.asPartner(ACME, (query) => query({ text }));
    await expect(own).rejects.toMatchObject({ sqlState: '22012' });
  });

  it.each(VIEWS)('%s has no secret, no hash of one and no operator', async (view) => {
    const rows = await portal.asPartner(ACME, (query) => query({ text: `SELECT * FROM ${view}` }));
    expect(rows).toHaveLength(1);
    const columns = Object.keys(rows[0] ?? {});
    expect(columns.filter((name) => /secret|hash$|^key$|lease|mac/.test(name))).toEqual(
      view === 'portal.redemption' ? ['paid_transaction_hash'] : [],
    );
    const text = Object.values(rows[0] ?? {})
      .map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value)))
      .join('\n');
    expect(text).not.toContain(SECRET.toString('hex'));
    expect(text).not.toContain('anna');
  });
});

describe('a transaction of a partner', () => {
  it('never leaks into another: 60 of two partners, interleaved over two connections', async () => {
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, turn) => {
        const partner = PARTNERS[turn % 2] ?? ACME;
        const ids = await portal
          .asPartner(partner, async (query) => {
            const [before] = await query<{ id: string }>({ text: 'SELECT id FROM portal.partner' });
            if (turn % 7 === 0) throw new Error('given up');
            const [after] = await query<{ id: string }>({ text: 'SELECT id FROM portal.partner' });
            return [before?.id, after?.id];
          })
          .catch((error: unknown) => (error as Error).message);
        const without = await portal.database.query({ text: 'SELECT id FROM portal.partner' });
        const expected = turn % 7 === 0 ? 'given up' : [partner, partner];
        return { isRight: JSON.stringify(ids) === JSON.stringify(expected), without };
      }),
    );
    expect(seen).toEqual(seen.map(() => ({ isRight: true, without: [] })));
  });

  it.each(['', 'x', `${ACME}'`, `${ACME} `, '%', `${ACME}\n`])(
    'is none of %j, which is no id',
    async (text) => {
      const reading = portal.asPartner(text as PartnerId, () => Promise.resolve());
      await expect(reading).rejects.toMatchObject({ code: 'PARTNER_ID_INVALID' });
    },
  );
});

// What else it can do is in roles/program-rights.int-spec.ts.
describe('the user of the portal', () => {
  it('can call no function of ours', async () => {
    const functions = await owner.query<{ call: string }>({
      text: `SELECT format('SELECT %s::regprocedure', quote_literal(p.oid::regprocedure)) AS call
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname IN ('lowmark', 'partners', 'staking', 'redemption', 'console', 'webhooks', 'portal')`,
    });
    expect(functions.length).toBeGreaterThan(20);
    for (const { call } of functions) {
      await expect(portal.database.query({ text: call })).rejects.toMatchObject({
        sqlState: '42501',
      });
    }
  });
});

describe('the log of requests', () => {
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
});
