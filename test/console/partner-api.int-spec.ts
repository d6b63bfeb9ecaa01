/**
 * Tests a partner's pages against the real api, the real database and real endpoints; and that no member gets data of
 * another partner.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { allRoutes, type Route } from '../../apps/console/src/testing/routes.support.js';
import { refusalOf } from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import {
  type AnsweredRequestBody,
  type RequestsBody,
} from '../../apps/console/src/portal/requests.controller.js';
import { type CorrectedAnswersBody } from '../../apps/console/src/portal/corrections.controller.js';
import { type OpenDeductionsBody } from '../../apps/console/src/portal/conformance.dto.js';
import { type SnapshotAnswerBody } from '../../apps/console/src/portal/snapshot.controller.js';
import {
  type IssuedBody,
  type StandingBody,
} from '../../apps/console/src/portal/standing.controller.js';
import { json, PartnerBench, WALLET } from './partner-bench.support.js';

const PATH = '/api/staking/snapshots';

let bench: PartnerBench;
let acme: Visitor;
let beta: Visitor;
beforeAll(async () => {
  bench = await PartnerBench.start();
  acme = await bench.member(bench.acme);
  beta = await bench.member(bench.beta);
});
afterAll(() => bench.stop());

const snapshots = (key: string, query: string) =>
  fetch(`${bench.api.url}${PATH}${query}`, { headers: { 'x-api-key': key } });
const askOf = (prefix: string, wallet: string) =>
  `/api/partner/snapshot?${new URLSearchParams({ keyPrefix: prefix, walletAddress: wallet, lastDays: '7' }).toString()}`;

describe('the standing', () => {
  it('has no secret and nothing of another partner', async () => {
    const answer = await (await acme.get('/api/partner/standing')).text();
    const { name, credentials, callback, members } = JSON.parse(answer) as StandingBody;
    expect(name).toBe(bench.acme.name);
    expect(credentials.map(({ keyPrefix, isActive }) => [keyPrefix, isActive])).toEqual([
      [bench.acme.prefix, true],
    ]);
    expect(callback).toMatchObject({ usdPerPoint: '0.01', dailyTokenBudget: '1000' });
    expect(members).toHaveLength(1);
    for (const hidden of [
      ...[bench.acme.credential.apiKey, bench.acme.credential.sharedSecret],
      ...[bench.beta.id, bench.beta.name, bench.beta.prefix],
    ]) {
      expect(answer).not.toContain(hidden);
    }
  });
});

describe('what conformance runs could not give back', () => {
  it('is shown to its partner alone, once it was tried', async () => {
    const open = async (visitor: Visitor) =>
      (await json<OpenDeductionsBody>(visitor.get('/api/partner/conformance/deductions')))
        .deductions;
    const add = (partner: string, attempts: number) =>
      bench.console.database.pool.query(
        `INSERT INTO console.conformance_deduction (redemption_id, run_id, partner, address, points, transaction_id, attempts, due_at)
          VALUES (gen_random_uuid(), gen_random_uuid(), $1, $2, '2.5', '<b>TX-1</b>', $3, now() + interval '1 day')`,
        [partner, WALLET, attempts],
      );
    await add(bench.acme.id, 0);
    expect(await open(acme)).toEqual([]);
    await add(bench.acme.id, 3);
    const row = { address: WALLET, points: '2.5', transactionId: '<b>TX-1</b>', attempts: 3 };
    expect(await open(acme)).toMatchObject([row]);
    expect(await open(beta)).toEqual([]);
  });
});

describe('corrected answers', () => {
  const path = '/api/partner/corrections';
  const figure = {
    ...{ walletAddress: WALLET, field: 'snapshotAmount', day: '2026-11-21' },
    ...{ signed: 1, correct: 3 },
  };

  it('are shown page by page, newest first, without the operator, and to no other partner', async () => {
    await bench.console.database.query(
      {
        text: `WITH made AS (INSERT INTO partners.correction (stake_set, reason, actor, blocks)
            VALUES ('default', 'a test', 'operator:ops', '[]') RETURNING id)
          INSERT INTO partners.corrected_answer (correction, partner_id, request, request_id, requested_at, method, path, is_certain, figures)
          SELECT id, $1, n, 'r-' || n, now(), 'GET', '/api/staking/snapshots', true, $2 FROM made, generate_series(1, 51) n`,
      },
      [bench.acme.id, JSON.stringify([figure])],
    );
    const first = await json<CorrectedAnswersBody>(acme.get(path));
    expect(first.answers).toHaveLength(50);
    expect(first.answers[0]).toEqual({
      ...{ id: '51', correction: '1', at: expect.any(String), stakeSet: 'default' },
      ...{ reason: 'a test', request: '51', requestId: 'r-51', requestedAt: expect.any(String) },
      ...{ method: 'GET', path: '/api/staking/snapshots', isCertain: true },
      figures: [{ ...figure, block: null }],
    });
    expect(JSON.stringify(first)).not.toContain('ops');
    const last = await json<CorrectedAnswersBody>(acme.get(`${path}?before=${first.next ?? ''}`));
    expect(last).toMatchObject({ answers: [{ requestId: 'r-1' }], next: null });
    expect(await json(beta.get(path))).toEqual({ answers: [], next: null });
    expect(await refusalOf(acme.get(`${path}?before=x`))).toBe('400 BAD_REQUEST');
  });
});

describe('a snapshot', () => {
  it.each([
    ['of a wallet', WALLET as string, 200],
    ['of one that never staked', `0x${'77'.repeat(20)}`, 404],
    ['of what is no wallet', `'"><script>$(x)\n`, 400],
  ])('%s is byte for byte what the key’s holder gets', async (_, wallet, status) => {
    const { prefix, credential } = bench.acme;
    const shown = await json<SnapshotAnswerBody>(acme.get(askOf(prefix, wallet)));
    const own = await fetch(bench.api.url + shown.target, {
      headers: { 'x-api-key': credential.apiKey },
    });
    const body = await own.text();
    const withoutTime = (text: string) => text.replace(/"timestamp":"[^"]*"/, '');
    expect([shown.status, own.status]).toEqual([status, status]);
    expect(withoutTime(shown.body)).toBe(withoutTime(body));
    expect(shown.verifies).toBe(true);
    expect(shown.baseString).toMatchObject({ text: `GET${PATH}${shown.body}`, isWhole: true });
    expect(shown.signature).toBe(hmacSha256Hex(credential.sharedSecret, `GET${PATH}${shown.body}`));
    expect(shown.curl).toContain(prefix);
    expect(shown.curl).toContain(`${shown.target}'  #`);
    expect(shown.curl.match(/'/g)).toHaveLength(2);
    expect(JSON.stringify(shown)).not.toContain('svcg_');
    expect(JSON.stringify(shown)).not.toContain(credential.apiKey);
  });

  it('ends with the day that is asked for, or is refused in the words of the api', async () => {
    const asked = (more: string) => acme.get(`${askOf(bench.acme.prefix, WALLET)}${more}`);
    const past = await json<SnapshotAnswerBody>(asked('&endDay=2026-11-18'));
    expect(past.target).toBe(`${PATH}?walletAddress=${WALLET}&lastDays=7&endDay=2026-11-18`);
    const { stakingSnapshots } = JSON.parse(past.body) as { stakingSnapshots: { to: string }[] };
    expect(stakingSnapshots.at(-1)?.to).toBe('2026-11-18T23:59:59.999Z');
    expect(past.verifies).toBe(true);
    const wrong = await json<SnapshotAnswerBody>(asked('&endDay=2026-02-30'));
    expect([wrong.status, wrong.body]).toEqual([
      400,
      expect.stringContaining('endDay must be a day'),
    ]);
    const long = await asked(`&endDay=${'2'.repeat(21)}`);
    expect([long.status, await long.text()]).toEqual([400, expect.stringContaining('"endDay"')]);
  });

  it('is not to be had with the key of another partner', async () => {
    const asked = acme.get(askOf(bench.beta.prefix, WALLET));
    expect(await refusalOf(asked)).toBe('404 CREDENTIAL_MISSING');
  });
});

describe('the log of requests', () => {
  it('has what was asked, and rebuilds what was signed', async () => {
    await snapshots(bench.acme.credential.apiKey, `?walletAddress=${WALLET}&lastDays=3`);
    await snapshots(bench.acme.credential.apiKey, '?walletAddress=0x&lastDays=3');
    let found: RequestsBody['requests'][number] | undefined;
    await eventually(async () => {
      const path = `/api/partner/requests?wallet=${WALLET}`;
      const { requests } = await json<RequestsBody>(acme.get(path));
      found = requests.find((one) => one.path.endsWith('lastDays=3'));
      return found !== undefined;
    });
    const one = await json<AnsweredRequestBody>(
      acme.get(`/api/partner/requests/${found?.id ?? ''}`),
    );
    expect(one).toMatchObject({ status: 200, verifies: true, keyPrefix: bench.acme.prefix });
    expect(one.baseString.text).toBe(`GET${PATH}${one.body}`);
    expect(one.keptBytes).toBe(one.bodyBytes);
    const byId = (visitor: Visitor, id: string | null) =>
      json<RequestsBody>(visitor.get(`/api/partner/requests?requestId=${id ?? ''}`));
    expect((await byId(acme, one.requestId)).requests).toMatchObject([{ id: one.id }]);
    expect((await byId(beta, one.requestId)).requests).toEqual([]);
    const failed = await json<RequestsBody>(acme.get('/api/partner/requests?which=failed'));
    expect(failed.requests.every(({ status }) => status >= 400)).toBe(true);
    expect(failed.requests.length).toBeGreaterThan(0);
    const foreign = beta.get(`/api/partner/requests/${one.id}`);
    expect(await refusalOf(foreign)).toBe('404 NOT_FOUND');
    expect((await json<RequestsBody>(beta.get('/api/partner/requests'))).requests).toEqual([]);
  });

  it.each(['before=x', 'status=9', 'since=yesterday', 'which=some', 'requestId=a%20b'])(
    'refuses %s',
    async (query) => {
      const answer = await acme.get(`/api/partner/requests?${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ field: query.split('=')[0] });
    },
  );
});

describe('the signature debugger', () => {
  const body = '{"a":1}';
  const content = `GET${PATH}${body}`;
  const explain = (signature: string, secretOf = bench.acme.prefix, sent = body) => {
    // The limit allows a few requests at once, then one per second.
    bench.console.clock.advance(1000);
    const asked = { secretOf, method: 'GET', path: `${PATH}?lastDays=7`, body: sent, signature };
    return json<{ content: string; matches: boolean; mistakes: string[] }>(
      acme.post('/api/partner/signature', asked),
    );
  };

  it('names the mistake, and never the right signature of what is asked', async () => {
    const { sharedSecret } = bench.acme.credential;
    const wrong = await explain(hmacSha256Hex(sharedSecret, `GET${PATH}?lastDays=7${body}`));
    expect(wrong).toMatchObject({ content, matches: false });
    expect(wrong.mistakes).toEqual(['The query string is signed; only the path is.']);
    const right = hmacSha256Hex(sharedSecret, content);
    expect(JSON.stringify(wrong)).not.toContain(right);
    expect(await explain(right)).toEqual({ content, matches: true, mistakes: [] });
    const base64 = Buffer.from(right, 'hex').toString('base64');
    expect((await explain(base64)).mistakes).toEqual([
      'It is in base64; lower-case hex is expected.',
    ]);
    expect((await explain('00'.repeat(32))).mistakes).toEqual([]);
  });

  it('finds that another secret of the partner was taken', async () => {
    const { sharedSecret } = bench.acme.credential;
    const { mistakes } = await explain(hmacSha256Hex(sharedSecret, content), 'callback');
    expect(mistakes).toEqual([`It is made with another secret: that of ${bench.acme.prefix}.`]);
  });

  it('takes the largest body of a callback, and no larger one', async () => {
    const largest = '"x",'.repeat(16 * 1024);
    const { sharedSecret } = bench.acme.credential;
    const right = hmacSha256Hex(sharedSecret, `GET${PATH}${largest}`);
    expect(await explain(right, undefined, largest)).toMatchObject({ matches: true });
    const larger = explain(right, undefined, `${largest}x`);
    await expect(larger).rejects.toThrow(/^400 .*"field":"body"/);
  });

  it('explains nothing by the secret of another partner', async () => {
    const theirs = hmacSha256Hex(bench.beta.credential.sharedSecret, content);
    expect((await explain(theirs)).mistakes).toEqual([]);
    const asked = acme.post('/api/partner/signature', {
      ...{ secretOf: bench.beta.prefix, method: 'GET', path: PATH, signature: theirs },
    });
    expect(await refusalOf(asked)).toBe('404 CREDENTIAL_MISSING');
  });
});

describe('a credential', () => {
  const path = '/api/partner/credentials';
  const works = async (key: string) =>
    (await snapshots(key, `?walletAddress=${WALLET}&lastDays=1`)).status === 200;

  it('is replaced: the new one is shown once, both work until the overlap is over', async () => {
    const { prefix, credential } = bench.beta;
    const asked = { keyPrefix: prefix, overlapHours: 48 };
    const issued = await json<IssuedBody>(beta.post(`${path}/rotate`, asked));
    expect(issued.replaced).toBe(prefix);
    expect([await works(credential.apiKey), await works(issued.apiKey)]).toEqual([true, true]);
    const { credentials } = await json<StandingBody>(beta.get('/api/partner/standing'));
    const old = credentials.find(({ keyPrefix }) => keyPrefix === prefix);
    expect(old).toMatchObject({ endsAt: issued.goodUntil, isActive: true, revokedAt: null });
    // A credential that ends does not count as a remaining one.
    const last = beta.post(`${path}/revoke`, { keyPrefix: issued.apiKey.slice(0, 12) });
    expect(await refusalOf(last)).toBe('409 LAST_CREDENTIAL');
    await bench.console.database.query({
      text: `UPDATE partners.credential SET ends_at = now() WHERE key_prefix = '${prefix}'`,
    });
    bench.api.clock.advance(10_000);
    expect([await works(credential.apiKey), await works(issued.apiKey)]).toEqual([false, true]);
    const again = beta.post(`${path}/rotate`, asked);
    expect(await refusalOf(again)).toBe('404 CREDENTIAL_MISSING');
  });

  it('that there is not is told without a command, which members do not have', async () => {
    const answer = await beta.post(`${path}/revoke`, { keyPrefix: 'svck_0000000' });
    const body = await answer.text();
    expect([answer.status, body]).toEqual([404, expect.stringContaining('CREDENTIAL_MISSING')]);
    expect(body).not.toContain('partner list');
  });

  it('needs a fresh sign-in', async () => {
    const late = await bench.member(bench.acme);
    bench.console.clock.advance(5 * 60_000);
    const asked = late.post(`${path}/rotate`, { keyPrefix: bench.acme.prefix, overlapHours: 1 });
    expect(await refusalOf(asked)).toBe('401 FRESH_SIGN_IN_NEEDED');
  });

  it.each([-1, 721, '1'])('has no overlap of %j hours', async (overlapHours) => {
    const fresh = await bench.member(bench.acme);
    const answer = await fresh.post(`${path}/rotate`, {
      ...{ keyPrefix: bench.acme.prefix, overlapHours },
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ field: 'overlapHours' });
  });
});

/**
 * A member of Beta asks every route of the partners with Acme's ids and names. That no other role is let in is in the spec
 * of the console's audiences.
 */
describe('what is Acme’s', () => {
  const PLAYER = `0x${'a1'.repeat(20)}` as Address;
  let routes: Route[];
  /** Ids of a request, a redemption and a call of Acme. */
  let ids: { request: string; redemption: string; call: string };

  beforeAll(async () => {
    acme = await bench.member(bench.acme);
    beta = await bench.member(bench.beta);
    routes = allRoutes(bench.console.app).filter(({ audience }) => audience?.kind === 'partner');
    ids = { request: await aRequest(), ...(await aRedemption()) };
  });

  async function aRequest(): Promise<string> {
    const url = `${bench.api.url}/api/staking/snapshots?walletAddress=${WALLET}&lastDays=1`;
    await fetch(url, { headers: { 'x-api-key': bench.acme.credential.apiKey } });
    let id: string | undefined;
    await eventually(async () => {
      id = (await json<RequestsBody>(acme.get('/api/partner/requests'))).requests[0]?.id;
      return id !== undefined;
    });
    return id ?? '';
  }

  /** A redemption with an open call, beside one with a confirmation. */
  async function aRedemption(): Promise<{ redemption: string; call: string }> {
    const { database } = bench.console;
    const of = { wallet: PLAYER } as const;
    await aStored(database, bench.acme.id, 'claimed', of);
    const { id, openCall } = await aStored(database, bench.acme.id, 'deducting', of);
    return { redemption: id, call: openCall?.requestId ?? '' };
  }

  /** Every form in which a route can be asked for Acme's data. */
  function targets({ path }: Route): string[] {
    const query = new URLSearchParams({
      ...{ keyPrefix: bench.acme.prefix, walletAddress: WALLET, lastDays: '1', wallet: PLAYER },
      ...{ before: 'f'.repeat(8) + '-ffff-7fff-8fff-ffffffffffff', partner: bench.acme.id },
    }).toString();
    const all = [ids.request, ids.redemption, ids.call, bench.acme.id];
    const filled = path.includes(':') ? all.map((id) => path.replace(/:\w+/, id)) : [path];
    return filled.flatMap((one) => [one, `${one}?${query}`, `${one}?partner=${bench.acme.id}`]);
  }

  const BODY = () => ({
    ...{ keyPrefix: bench.acme.prefix, overlapHours: 1, force: true },
    ...{ subject: `wallet:${bench.acme.account.address.toLowerCase()}`, partnerId: bench.acme.id },
    ...{ secretOf: bench.acme.prefix, method: 'GET', path: '/' },
    signature: hmacSha256Hex(bench.acme.credential.sharedSecret, 'GET/'),
    ...{ address: PLAYER, mayClaim: false },
  });

  async function ask(visitor: Visitor, method: string, target: string) {
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const isRead = method === 'GET';
    const answer = await fetch(bench.console.origin + target, {
      method,
      headers: {
        ...{ cookie, origin: visitor.origin, 'x-forwarded-for': visitor.clientAddress },
        'x-csrf-token': visitor.cookies.get('lowmark-console-csrf') ?? 'none',
        ...(!isRead && { 'content-type': 'application/json' }),
      },
      ...(!isRead && { body: JSON.stringify(BODY()) }),
    });
    return { status: answer.status, text: await answer.text() };
  }

  /** The data of Acme that an answer contains. */
  function leaksOf(text: string): string[] {
    const { id, name, credential } = bench.acme;
    const { redemption, call } = ids;
    const hidden = [id, name, credential.apiKey, credential.sharedSecret, redemption, call, PLAYER];
    return [...hidden, bench.acme.prefix, 'Acme'].filter((one) => text.includes(one));
  }

  it('is there for its own member, so that the test would see it', async () => {
    expect(routes.length).toBeGreaterThan(12);
    const shown = await ask(acme, 'GET', `/api/partner/redemptions/${ids.redemption}`);
    expect(shown.status).toBe(200);
    expect(leaksOf(shown.text)).toEqual([ids.redemption, ids.call, PLAYER]);
  });

  it('is not in any answer to a member of Beta', async () => {
    const leaks: string[] = [];
    for (const route of routes) {
      for (const target of targets(route)) {
        const { status, text } = await ask(beta, route.method, target);
        const found = leaksOf(text);
        if (found.length > 0) leaks.push(`${route.method} ${target}: ${found.join(', ')}`);
        if (route.path.includes(':') && status < 400) leaks.push(`${target}: ${status}`);
      }
    }
    expect(leaks).toEqual([]);
  });

  it('is unchanged after all that', async () => {
    const { credentials, members } = JSON.parse(
      (await ask(acme, 'GET', '/api/partner/standing')).text,
    ) as { credentials: { isActive: boolean }[]; members: object[] };
    expect([credentials.map(({ isActive }) => isActive), members.length]).toEqual([[true], 1]);
  });
});
