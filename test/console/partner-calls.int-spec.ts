/** Tests how a partner sees Lowmark's calls to its endpoints. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CallBody, type CallsBody } from '../../apps/console/src/portal/calls.dto.js';
import { type RedemptionsBody } from '../../apps/console/src/portal/redemptions.controller.js';
import { type UsageBody } from '../../apps/console/src/portal/requests.controller.js';
import { type SignatureExplanationBody } from '../../apps/console/src/portal/signature.controller.js';
import { type PingBody } from '../../apps/console/src/operate/partners/partner.bodies.js';
import { OPERATOR } from '../../apps/console/src/testing/console-harness.support.js';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { json, PartnerBench, WALLET } from './partner-bench.support.js';
import { ANSWER, storeSigned, storeWronglySigned } from './partner-calls.support.js';

let bench: PartnerBench;
let acme: Visitor;
let requestId: string;
beforeAll(async () => {
  bench = await PartnerBench.start();
  acme = await bench.member(bench.acme);
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
