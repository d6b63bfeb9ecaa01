/**
 * Tests that no role gets data of another partner: each asks every route of the partners with the other partner's ids
 * and names.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hmacSha256Hex } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { ADMIN, OPERATOR, VIEWER } from '../../apps/console/src/testing/console-harness.support.js';
import { allRoutes, type Route } from '../../apps/console/src/testing/routes.support.js';
import { type RequestsBody } from '../../apps/console/src/portal/requests.controller.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { json, PartnerBench, WALLET } from './partner-bench.support.js';

const PLAYER = `0x${'a1'.repeat(20)}`;

let bench: PartnerBench;
let acme: Visitor;
let beta: Visitor;
let routes: Route[];
/** Ids of a request, a redemption and a call of Acme. */
let ids: { request: string; redemption: string; call: string };

beforeAll(async () => {
  bench = await PartnerBench.start();
  acme = await bench.member(bench.acme);
  beta = await bench.member(bench.beta);
  routes = allRoutes(bench.console.app).filter(({ audience }) => audience?.kind === 'partner');
  ids = { request: await aRequest(), ...(await aRedemption()) };
});
afterAll(() => bench.stop());

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

/**
 * Inserts a redemption with a call and a confirmation, without the checks of the ledger, which do not matter for this
 * test.
 */
async function aRedemption(): Promise<{ redemption: string; call: string }> {
  const v7 = (): string => randomUUID().replace(/^(.{14})4/, '$17');
  const [redemption, call] = [v7(), v7()];
  const client = await bench.console.database.pool.connect();
  try {
    await client.query('SET session_replication_role = replica');
    await client.query(
      `INSERT INTO redemption.redemption (id, partner, wallet, points, usd_amount, token_amount, token_decimals, price_usd,
          quote_expires_at, initial_at, state, version, exposure, unproven_attempts, candidate_transaction_ids, redemption_id_refuted,
          deduct_attempts, payout_attempts, revert_attempts, next_action_at, state_since_at)
        VALUES ($1, $2, $3, 77, 1, 1, 18, 1, now(), now(), 'created', 1, 'none', 0, '{}', false, 0, 0, 0, now(), now())`,
      [redemption, bench.acme.id, Buffer.from(PLAYER.slice(2), 'hex')],
    );
    await client.query(
      `INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step) VALUES ($1, $2, $3, 'deduct')`,
      [call, redemption, bench.acme.id],
    );
    await client.query(
      `INSERT INTO redemption.confirmation (redemption_id, partner, state, version, attempts, payload, next_action_at)
        VALUES ($1, $2, 'pending', 1, 0, '{"status":"claimed"}', now())`,
      [redemption, bench.acme.id],
    );
  } finally {
    client.release(true);
  }
  return { redemption, call };
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

describe('what is Acme’s', () => {
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

  it('is refused to operators, players and those who are not signed in', async () => {
    const player = bench.console.visitor();
    player.cookies.set('lowmark-player', 'svct_0123456789abcdef');
    const others = [
      { visitor: await bench.console.signedIn(VIEWER), expected: 403 },
      { visitor: await bench.console.signedIn(OPERATOR), expected: 403 },
      { visitor: await bench.console.signedIn(ADMIN), expected: 403 },
      { visitor: bench.console.visitor(), expected: 401 },
      { visitor: player, expected: 401 },
    ];
    const wrong: string[] = [];
    for (const { visitor, expected } of others) {
      for (const route of routes) {
        const { status, text } = await ask(visitor, route.method, targets(route)[0] ?? '');
        if (status === expected && leaksOf(text).length === 0) continue;
        wrong.push(`${route.method} ${route.path}: ${status} ${leaksOf(text).join()}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is unchanged after all that', async () => {
    const { credentials, members } = JSON.parse(
      (await ask(acme, 'GET', '/api/partner/standing')).text,
    ) as { credentials: { isActive: boolean }[]; members: object[] };
    expect([credentials.map(({ isActive }) => isActive), members.length]).toEqual([[true], 1]);
  });
});
