/**
 * Tests how a partner sees Lowmark's calls to its endpoints, and the conformance tester that partners get, alone and on
 * their pages, against the reference partner.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import { eventually } from '#libs/testing/clock';
import { type ConformanceBody } from '../../apps/console/src/portal/conformance.dto.js';
import { type CallBody, type CallsBody } from '../../apps/console/src/portal/calls.dto.js';
import { type RedemptionsBody } from '../../apps/console/src/portal/redemptions.controller.js';
import { type UsageBody } from '../../apps/console/src/portal/requests.controller.js';
import { type SignatureExplanationBody } from '../../apps/console/src/portal/signature.controller.js';
import { type PingBody } from '../../apps/console/src/operate/partners/partner.bodies.js';
import { OPERATOR, refusalOf } from '../../apps/console/src/testing/console-harness.support.js';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import {
  aPlayer,
  API_KEY,
  SECRET,
} from '../../apps/partner/src/testing/partner-harness.support.js';
import { runConformance } from '../../libs/partner-sdk/src/conformance/index.js';
import { send } from '../../libs/partner-sdk/src/testing/caller.support.js';
import {
  callsToNoEndpoint,
  faultsIn,
  refusedCalls,
} from '../../libs/partner-sdk/src/testing/refused-calls.support.js';
import { json, PartnerBench, WALLET } from './partner-bench.support.js';
import { ANSWER, storeSigned, storeWronglySigned } from './partner-calls.support.js';

let bench: PartnerBench;
let acme: Visitor;
let beta: Visitor;
let requestId: string;
beforeAll(async () => {
  bench = await PartnerBench.start();
  acme = await bench.member(bench.acme);
  beta = await bench.member(bench.beta);
  requestId = await storeWronglySigned(bench.console.database, bench.acme.id, WALLET);
});
afterAll(() => bench.stop());

async function stored(id: string): Promise<CallBody> {
  const { calls } = await json<CallsBody>(acme.get('/api/partner/calls'));
  const found = calls.find((one) => one.requestId === id);
  if (found === undefined) throw new Error(`There is no call ${id}.`);
  return found;
}

describe('a call whose answer is signed wrongly', () => {
  it('has what was asked, what came, and what the signature should have been over', async () => {
    const call = await stored(requestId);
    const path = '/game/v1/get-points-by-address';
    const content = `GET${path}${requestId}${ANSWER}`;
    expect(call).toMatchObject({
      ...{ step: 'balance', outcome: 'answer', verdict: 'bad-signature', cause: null },
      request: { method: 'GET', target: `${path}?address=${WALLET}`, body: null },
      answer: { status: 200, body: ANSWER, bodyBytes: ANSWER.length },
      baseString: {
        ...{ text: content, isWhole: true, bytes: content.length },
        sha256: createHash('sha256').update(content).digest('hex'),
      },
    });
    expect(call.answer?.headers['x-api-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has nothing that is our own business', async () => {
    const text = await (await acme.get('/api/partner/calls')).text();
    for (const inner of ['"alert"', '"phase"', 'partnerId', 'startedAtMs', 'timings', 'origin']) {
      expect(text).not.toContain(inner);
    }
  });

  it('is explained by the debugger with what the call has', async () => {
    const { request, answer } = await stored(requestId);
    const question = {
      ...{ secretOf: 'callback', method: 'GET', path: request?.target ?? '', requestId },
      ...{ body: answer?.body, signature: answer?.headers['x-api-signature'] },
    };
    const { mistakes } = await json<SignatureExplanationBody>(
      acme.post('/api/partner/signature', question),
    );
    expect(mistakes).toEqual(['The query string is signed; only the path is.']);
  });

  it('is not whole where the answer was in several lines', async () => {
    const id = requestId.replace(/.{12}$/, 'abcdefabcdef');
    await bench.console.database.pool.query(
      `INSERT INTO redemption.partner_call (request_id, partner, step, begun_at, ended_at, outcome, record)
        SELECT $2, partner, step, begun_at, ended_at, outcome,
          record || '{"excerpt": "{ }", "answerBytes": 3}'::jsonb
        FROM redemption.partner_call WHERE request_id = $1`,
      [requestId, id],
    );
    expect((await stored(id)).baseString).toMatchObject({ isWhole: false });
  });
});

describe('a call that the service cannot act on', () => {
  const balance = { success: true, partnerUserId: 'u-1', address: WALLET, chain: 'local' };
  const told = async (answer: { readonly status?: number; readonly body: string }) =>
    (await stored(await storeSigned(bench.console.database, bench.acme.id, WALLET, answer)))
      .explanation;

  it('is not good where its points are a text, although it is signed', async () => {
    expect(await told({ body: JSON.stringify({ ...balance, points: '50000' }) })).toEqual({
      code: 'balance-fields',
      isUsable: false,
      rule: 'balance-fields',
      says: 'Wrong or missing: points (expected: a whole number, 0 or more, as a JSON number).',
      remedy: 'Send the four fields with these types: points as 15, not "15" or 15.5.',
    });
  });

  it('is explained as ping explains it', async () => {
    const redirect = await told({ status: 307, body: '' });
    expect(redirect).toMatchObject({ code: 'redirect', isUsable: false, rule: 'http-redirect' });
    const marked = await told({ body: `\ufeff${JSON.stringify({ ...balance, points: 5 })}` });
    expect(marked).toMatchObject({ code: 'byte-order-mark', rule: 'http-json' });
  });

  it('counts as an error, and is found by the filter for failures', async () => {
    const good = await storeSigned(bench.console.database, bench.acme.id, WALLET, {
      body: JSON.stringify({ ...balance, points: 5 }),
    });
    expect((await stored(good)).explanation).toMatchObject({ isUsable: true, remedy: null });
    const { calls } = await json<CallsBody>(acme.get('/api/partner/calls'));
    const { calls: failed } = await json<CallsBody>(acme.get('/api/partner/calls?which=failed'));
    const others = calls.filter((one) => one.requestId !== good);
    expect(failed.map((one) => one.requestId)).toEqual(others.map((one) => one.requestId));
    const usage = await json<UsageBody>(acme.get('/api/partner/usage'));
    const errors = usage.calls.reduce((sum, hour) => sum + hour.errors, 0);
    expect(errors).toBe(others.length);
  });
});

it('the page of operators calls a private address where the service calls it', async () => {
  const operator = await bench.console.signedIn(OPERATOR);
  const ping = operator.post(`/api/operate/partners/${bench.acme.id}/ping`, { address: WALLET });
  expect(await json<PingBody>(ping)).toMatchObject({
    good: true,
    outcome: expect.stringContaining('ERR-USER-NOT-FOUND'),
  });
});

it('a redemption has its tokens as a number of whole ones', async () => {
  await aStored(bench.console.database, bench.acme.id, 'claimed');
  const { redemptions } = await json<RedemptionsBody>(acme.get('/api/partner/redemptions'));
  expect(redemptions[0]).toMatchObject({ tokens: '340', usdAmount: '50.00', points: '5000' });
});

describe('the reference partner', () => {
  it('keeps every rule, has every capability, and loses one point to the claim', async () => {
    const address = await aPlayer(bench.game, 7);
    const report = await runConformance({
      baseUrl: `http://127.0.0.1:${bench.game.port}/game/v1`,
      apiKey: API_KEY,
      sharedSecret: SECRET,
      address,
      emptyAddress: await aPlayer(bench.game, 0),
      clock: bench.game.clock,
    });
    expect(report.checks.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(report).toMatchObject({ outcome: 'conforms', exitStatus: 0, stopped: null });
    expect(report.capabilities).toEqual({
      'revert-by-redemption-id': true,
      tombstones: true,
      'enforces-freshness': true,
      'signs-all-responses': true,
      'refuses-mismatched-pair': true,
    });
    expect(report.left).toMatchObject({ before: 7, after: 6, unresolved: [{ state: 'claimed' }] });
    expect(canonicalJson(report)).not.toContain(SECRET);
  });

  it('signs every answer, also to calls that are forged, malformed or to no endpoint', async () => {
    const wallet = await aPlayer(bench.game, 5);
    const place = { prefix: '/game/v1', wallet, nowMs: bench.game.clock.nowMs() };
    const calls = [...refusedCalls(place), ...callsToNoEndpoint(place)];
    expect(await faultsIn(calls, (made) => send(bench.game.port, made))).toEqual([]);
  });
});

describe('the conformance tester on the pages', () => {
  it('passes the reference partner, one run at a time, and gives the points back', async () => {
    const address = await aPlayer(bench.game, 5);
    const wish = { address, mayClaim: false };
    const { consequence, run } = await json<ConformanceBody>(
      acme.post('/api/partner/conformance', wish),
    );
    expect(consequence).toContain('deducts points');
    expect(run).toMatchObject({ address, endedAt: null, report: null });
    expect(await refusalOf(acme.post('/api/partner/conformance', wish))).toBe('409 RUN_UNDER_WAY');
    const theirs = await json<ConformanceBody>(beta.get('/api/partner/conformance'));
    expect(theirs.run).toBeNull();
    let ended: ConformanceBody['run'] = null;
    await eventually(async () => {
      ended = (await json<ConformanceBody>(acme.get('/api/partner/conformance'))).run;
      return ended?.endedAt != null;
    });
    expect(ended).toMatchObject({
      failure: null,
      report: { outcome: 'conforms', errors: 0, unresolved: [], spent: [] },
    });
    const { report } = ended as unknown as NonNullable<ConformanceBody['run']>;
    expect(report?.capabilities).toContainEqual({ name: 'revert-by-redemption-id', isFound: true });
    const audit = await bench.console.database.query({
      text: `SELECT actor, command FROM redemption.audit WHERE command = 'partner conformance'`,
    });
    const actor = `partner:${bench.acme.account.address.toLowerCase()}`;
    expect(audit).toEqual([{ actor, command: 'partner conformance' }]);
  });

  it('takes no more than 1000 points at once, whatever the player has', async () => {
    const address = await aPlayer(bench.game, 990_000);
    await json(acme.post('/api/partner/conformance', { address, mayClaim: false }));
    let ended: ConformanceBody['run'] = null;
    let fewest = 990_000;
    await eventually(async () => {
      fewest = Math.min(fewest, await bench.pointsOf(address));
      ended = (await json<ConformanceBody>(acme.get('/api/partner/conformance'))).run;
      return ended?.endedAt != null;
    });
    expect(fewest).toBeGreaterThan(989_000);
    const run = ended as ConformanceBody['run'];
    expect(run?.report?.outcome).toBe('incomplete');
    const left = run?.report?.checks.filter(({ status }) => status === 'skipped') ?? [];
    expect(left.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['deduct-insufficient', 'deduct-overdraft-at-once']),
    );
    expect(JSON.stringify(left)).toContain('Give a test player with at most 1000.');
    expect(await bench.pointsOf(address)).toBe(990_000);
    const open = await bench.console.database.query({
      text: 'SELECT redemption_id FROM console.conformance_deduction',
    });
    expect(open).toEqual([]);
  });

  it('needs a fresh sign-in', async () => {
    const late = await bench.member(bench.acme);
    bench.console.clock.advance(5 * 60_000);
    const asked = late.post('/api/partner/conformance', { address: WALLET, mayClaim: false });
    expect(await refusalOf(asked)).toBe('401 FRESH_SIGN_IN_NEEDED');
  });

  it('is not there without a callback', async () => {
    const wish = { address: WALLET, mayClaim: false };
    beta = await bench.member(bench.beta);
    expect(await refusalOf(beta.post('/api/partner/conformance', wish))).toBe(
      '404 CALLBACK_MISSING',
    );
  });
});
