import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Post } from '@nestjs/common';
import {
  ADMIN,
  anAccount,
  ConsoleBench,
  OPERATOR,
  refusalOf,
  VIEWER,
} from '../testing/console-harness.support.js';
import { allRoutes, type Route, routesOf } from '../testing/routes.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { ForOperators, FreshSignIn } from './audience.js';
import { OPERATOR_ROLES } from './operator-roles.js';

/** Why a route is not declared correctly; undefined where it is. */
function faultOf({ method, path, audience, isFresh, isGuarded }: Route): string | undefined {
  const route = `${method} ${path}`;
  if (audience === undefined) return `${route} does not say who it is for`;
  const hasSession = audience.kind !== 'anyone' && audience.kind !== 'player';
  if (hasSession !== isGuarded) return `${route} is not guarded as it says`;
  if (isFresh && !hasSession) return `${route} wants a fresh sign-in of no session`;
  return undefined;
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

describe('who a route is for', () => {
  let bench: ConsoleBench;
  let routes: Route[];
  const visitors: { kind: string; role?: string; visitor: Visitor }[] = [];

  beforeAll(async () => {
    bench = await ConsoleBench.start();
    routes = allRoutes(bench.app);
    for (const [role, account] of [
      ['viewer', VIEWER],
      ['operator', OPERATOR],
      ['admin', ADMIN],
    ] as const) {
      visitors.push({ kind: 'operator', role, visitor: await bench.signedIn(account) });
    }
    const invitation = await bench.invitation(await bench.partner('Acme'));
    const member = await bench.signedIn(anAccount(), { kind: 'partner', invitation });
    visitors.push({ kind: 'partner', visitor: member });
  });
  afterAll(() => bench.stop());

  it('is said by every route, and is what guards it', () => {
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
      for (const { kind, role = '', visitor } of visitors) {
        const answer = method === 'GET' ? visitor.get(at) : visitor.post(at);
        const refusal = await refusalOf(answer);
        const isRefused = /SIGN_IN_NEEDED|SESSION_ENDED|ROLE_TOO_LOW|WRONG_AUDIENCE/.test(refusal);
        const isOwn = audience.kind === 'signed-in' || audience.kind === kind;
        const isHighEnough =
          audience.kind !== 'operator' ||
          OPERATOR_ROLES.findIndex((one) => one === role) >= OPERATOR_ROLES.indexOf(audience.role);
        outcomes.push(`${method} ${path} ${kind} ${role} ${isRefused}`);
        expected.push(`${method} ${path} ${kind} ${role} ${!(isOwn && isHighEnough)}`);
      }
      const stranger = bench.visitor();
      const refused = method === 'GET' ? stranger.get(at) : stranger.post(at);
      expect(await refusalOf(refused)).toBe('401 SIGN_IN_NEEDED');
    }
    expect(outcomes).toEqual(expected);
  });
});
