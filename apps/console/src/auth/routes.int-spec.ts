/**
 * All routes of the console: who they are for, the stored contract, and every field of it. JSON null is a value, and
 * not an absent field.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Post } from '@nestjs/common';
import { nullFields, wrongBodies, wrongQueries } from '#libs/testing/wire';
import { openApiOf } from '../docs/openapi.js';
import {
  ADMIN,
  ConsoleBench,
  OPERATOR,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { allRoutes, type Route, routesOf } from '../testing/routes.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { ForOperators, FreshSignIn } from './audience.js';
import { OPERATOR_ROLES } from './operator-roles.js';

const aKey = (): string => randomBytes(32).toString('base64');
const ID = '00000000-0000-7000-8000-000000000000';
const DOCUMENT: unknown = JSON.parse(readFileSync('docs/wire/console-openapi.json', 'utf8'));
const SAMPLES = {
  ...{ id: ID, partner: ID, redemption: ID, invitation: '1' },
  ...{ message: 'text', signature: `0x${'00'.repeat(65)}`, returnTo: '/operate' },
  ...{ request: ID, address: `0x${'00'.repeat(20)}`, keyPrefix: 'svck_test' },
  ...{ secretOf: 'callback', method: 'GET', path: '/', url: 'https://hooks.example/' },
  ...{ topics: ['day.sealed'], usd: '0.01' },
};

let bench: ConsoleBench;
let routes: Route[];
let visitors: { kind: string; role: string; visitor: Visitor }[];
beforeAll(async () => {
  bench = await ConsoleBench.start({ SECRETS_KEY: aKey(), EVIDENCE_KEY: aKey() });
  routes = allRoutes(bench.app);
  visitors = [
    { kind: 'operator', role: 'viewer', visitor: await bench.signedIn(VIEWER) },
    { kind: 'operator', role: 'operator', visitor: await bench.signedIn(OPERATOR) },
    { kind: 'operator', role: 'admin', visitor: await bench.signedIn(ADMIN) },
    { kind: 'partner', role: '', visitor: await bench.member(await bench.partner('Acme')) },
  ];
});
afterAll(() => bench.stop());
/** No request is refused by the limits of members. */
const liftLimits = () => bench.database.query({ text: 'DELETE FROM console.member_limit' });
beforeEach(liftLimits);

describe('who a route is for', () => {
  /** Why a route is not declared correctly; undefined where it is. */
  function faultOf({ method, path, audience, ...of }: Route): string | undefined {
    const route = `${method} ${path}`;
    if (audience === undefined) return `${route} does not say who it is for`;
    const hasSession = audience.kind !== 'anyone' && audience.kind !== 'player';
    if (hasSession !== of.isGuarded) return `${route} is not guarded as it says`;
    if (of.isFresh && !hasSession) return `${route} wants a fresh sign-in of no session`;
    const isLimited = audience.kind !== 'partner' || method === 'GET' || of.isLimited;
    return isLimited ? undefined : `${route} is an action of members without a limit`;
  }

  @Controller('api/test')
  class Careless {
    @Get('open')
    open(): void {
      // No audience is declared.
    }

    @Post('fresh')
    @FreshSignIn()
    fresh(): void {
      // A fresh sign-in is demanded, but no audience is declared.
    }

    @Get('good')
    @ForOperators('admin')
    good(): void {
      // The audience is declared.
    }
  }

  it('is said by every route, and is what guards and limits it', () => {
    expect(routes.length).toBeGreaterThan(10);
    expect(routes.map(faultOf).filter((fault) => fault !== undefined)).toEqual([]);
    expect(routesOf(Careless).map(faultOf)).toEqual([
      'GET /api/test/open does not say who it is for',
      'POST /api/test/fresh does not say who it is for',
      undefined,
    ]);
  });

  it('holds: each role is let through to its own routes, and to no others', async () => {
    const outcomes: string[] = [];
    const expected: string[] = [];
    for (const { method, path, audience } of routes) {
      if (audience === undefined || audience.kind === 'anyone' || audience.kind === 'player')
        continue;
      const at = path.replaceAll(/:\w+/g, '1');
      const ask = (visitor: Visitor) =>
        refusalOf(method === 'GET' ? visitor.get(at) : visitor.post(at));
      for (const { kind, role, visitor } of visitors) {
        const isRefused = /SIGN_IN_NEEDED|SESSION_ENDED|ROLE_TOO_LOW|WRONG_AUDIENCE/.test(
          await ask(visitor),
        );
        const isOwn = audience.kind === 'signed-in' || audience.kind === kind;
        const isHighEnough =
          audience.kind !== 'operator' ||
          OPERATOR_ROLES.findIndex((one) => one === role) >= OPERATOR_ROLES.indexOf(audience.role);
        outcomes.push(`${method} ${path} ${kind} ${role} ${isRefused}`);
        expected.push(`${method} ${path} ${kind} ${role} ${!(isOwn && isHighEnough)}`);
      }
      expect(await ask(bench.visitor())).toBe('401 SIGN_IN_NEEDED');
    }
    expect(outcomes).toEqual(expected);
  });
});

it('the stored contract is that of the console: npm run openapi', () => {
  expect(openApiOf(bench.app)).toEqual(DOCUMENT);
});

describe('each field', () => {
  /** A member and an operator whose sessions no other test ends. */
  let [operator, member] = [] as unknown as [Visitor, Visitor];
  beforeAll(async () => {
    operator = await bench.signedIn(ADMIN);
    member = await bench.member(await bench.partner('Beta'));
  });

  /** A sign-in is tried from an address of its own, so that the limit of one address refuses none. */
  function visitorOf(path: string): Visitor {
    if (path.startsWith('/api/operate')) return operator;
    const isMembers = path.startsWith('/api/partner') || path === '/api/auth/partner';
    return isMembers ? member : bench.visitor();
  }

  const CASES = nullFields(DOCUMENT, SAMPLES);
  it.each(CASES)('$route refuses null as $field', async ({ path, field, body }) => {
    const answer = await visitorOf(path).post(path, body);
    const problem = (await answer.json().catch(() => ({}))) as object;
    expect({ status: answer.status, ...problem }).toMatchObject({
      ...{ status: 400, field: field.split('.').at(-1) },
    });
  });

  it('is of all routes', () => {
    expect(CASES.map(({ route, field }) => `${route} ${field}`)).toEqual(
      expect.arrayContaining([
        'POST /api/operate/partners/{partner}/settings callback',
        'POST /api/operate/partners/{partner}/settings callback.bonusFrom',
        'POST /api/partner/webhooks/{id}/set url',
        'POST /api/partner/webhooks topics',
        'POST /api/operate/unsealed-redemptions/adopt redemptions.version',
      ]),
    );
  });

  /** A request that a limit refuses shows nothing. */
  const isFault = ({ status }: Response): boolean =>
    status === 429 || (status >= 500 && status !== 503);

  /** The visitor at an address of its own, which no other request uses up. */
  function apart(path: string): Visitor {
    const other = bench.visitor();
    for (const [name, value] of visitorOf(path).cookies) other.cookies.set(name, value);
    return other;
  }

  /** Asks all, a few at a time, since the lowest limit of members allows five at once. @returns those that show a fault */
  async function faultsOf<T>(all: readonly T[], ask: (one: T) => Promise<Response>): Promise<T[]> {
    const faults: T[] = [];
    for (let place = 0; place < all.length; place += 5) {
      await liftLimits();
      const some = all.slice(place, place + 5);
      const areFaults = await Promise.all(some.map(async (one) => isFault(await ask(one))));
      faults.push(...some.filter((_, at) => areFaults[at]));
    }
    return faults;
  }

  it.each(wrongBodies(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $field',
    async ({ path, bodies }) => {
      expect(await faultsOf(bodies, (body) => apart(path).post(path, body))).toEqual([]);
    },
  );

  it.each(wrongQueries(DOCUMENT, SAMPLES))(
    '$route answers whatever has the place of $parameter',
    async ({ targets }) => {
      expect(await faultsOf(targets, (target) => apart(target).get(target))).toEqual([]);
    },
  );
});
