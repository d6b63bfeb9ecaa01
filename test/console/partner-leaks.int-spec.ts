/**
 * Tests that no member gets data of another partner: one asks every route of the partners with the other partner's ids
 * and names. That no other role is let in is in the spec of the console's audiences.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Address } from '#libs/domain';
import { hmacSha256Hex } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { allRoutes, type Route } from '../../apps/console/src/testing/routes.support.js';
import { type RequestsBody } from '../../apps/console/src/portal/requests.controller.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { json, PartnerBench, WALLET } from './partner-bench.support.js';

const PLAYER = `0x${'a1'.repeat(20)}` as Address;

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

  it('is unchanged after all that', async () => {
    const { credentials, members } = JSON.parse(
      (await ask(acme, 'GET', '/api/partner/standing')).text,
    ) as { credentials: { isActive: boolean }[]; members: object[] };
    expect([credentials.map(({ isActive }) => isActive), members.length]).toEqual([[true], 1]);
  });
});
