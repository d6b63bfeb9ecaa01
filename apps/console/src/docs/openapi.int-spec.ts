/** The contract, and every field of it: JSON null is a value, and not an absent field. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { nullFields, wrongBodies, wrongQueries } from '#libs/testing/wire';
import { ADMIN, anAccount, ConsoleBench } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { openApiOf } from './openapi.js';

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
const CASES = nullFields(DOCUMENT, SAMPLES);

let bench: ConsoleBench;
let operator: Visitor;
let member: Visitor;
beforeAll(async () => {
  bench = await ConsoleBench.start({ SECRETS_KEY: aKey(), EVIDENCE_KEY: aKey() });
  operator = await bench.signedIn(ADMIN);
  const invitation = await bench.invitation(await bench.partner('Acme'));
  member = await bench.signedIn(anAccount(), { kind: 'partner', invitation });
});
afterAll(() => bench.stop());
/** No request is refused by the limits of members. */
beforeEach(() => bench.database.query({ text: 'DELETE FROM console.member_limit' }));

/** A sign-in is tried from an address of its own, so that the limit of one address refuses none. */
function visitorOf(path: string): Visitor {
  if (path.startsWith('/api/operate')) return operator;
  return path.startsWith('/api/partner') || path === '/api/auth/partner' ? member : bench.visitor();
}

it('the stored contract is that of the console: npm run openapi', () => {
  expect(openApiOf(bench.app)).toEqual(DOCUMENT);
});

it.each(CASES)('$route refuses null as $field', async ({ path, field, body }) => {
  const name = field.split('.').at(-1);
  const visitor = visitorOf(path);
  const answer = await visitor.post(path, body);
  const problem = (await answer.json().catch(() => ({}))) as object;
  expect({ status: answer.status, ...problem }).toMatchObject({ status: 400, field: name });
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
    await bench.database.query({ text: 'DELETE FROM console.member_limit' });
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

it('looks at the fields of all routes', () => {
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
