/** A partner's webhooks by the console's API: its own webhooks only, never those of another partner. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConsoleBench, refusalOf } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';

const PATH = '/api/partner/webhooks';
const URL = 'https://hooks.example/lowmark';

let bench: ConsoleBench;
let ann: Visitor;
let eve: Visitor;
beforeAll(async () => {
  bench = await ConsoleBench.start({ SECRETS_KEY: randomBytes(32).toString('base64') });
  [ann, eve] = [await memberOf('Acme'), await memberOf('Evil')];
});
afterAll(() => bench.stop());
/** No request is refused by the limits of members, which have a test of their own. */
beforeEach(() => bench.database.query({ text: 'DELETE FROM console.member_limit' }));

const memberOf = async (name: string): Promise<Visitor> => bench.member(await bench.partner(name));

async function json<T>(answer: Promise<Response>): Promise<T> {
  const found = await answer;
  if (!found.ok) throw new Error(`${found.status} ${await found.text()}`);
  return (found.status === 204 ? undefined : await found.json()) as T;
}

interface Made {
  readonly id: string;
  readonly secret: string;
}

const add = (body: object = {}, visitor = ann): Promise<Response> =>
  visitor.post(PATH, { url: URL, topics: ['redemption.*'], ...body });

async function listed(visitor = ann): Promise<Record<string, unknown>[]> {
  return (await json<{ webhooks: Record<string, unknown>[] }>(visitor.get(PATH))).webhooks;
}

describe('the webhooks of a partner', () => {
  it('are added, with a secret that is shown this once, changed, paused and removed', async () => {
    const { id, secret } = await json<Made>(add());
    expect(secret).toMatch(/^whsec_/);
    expect(await listed()).toMatchObject([{ id, url: URL, waiting: 0, lastDeliveredAt: null }]);
    expect(JSON.stringify(await listed())).not.toContain('whsec_');
    const topics = ['answers.corrected', 'day.sealed'];
    await json(ann.post(`${PATH}/${id}/set`, { topics }));
    expect(await listed()).toMatchObject([{ url: URL, topics }]);
    await json(ann.post(`${PATH}/${id}/pause`, { paused: true }));
    expect(await listed()).toMatchObject([{ pausedBecause: 'partner' }]);
    await json(ann.post(`${PATH}/${id}/pause`, { paused: false }));
    const rotated = await json<Made>(ann.post(`${PATH}/${id}/rotate`, { overlapHours: 24 }));
    expect(rotated.secret).not.toBe(secret);
    await json(ann.post(`${PATH}/${id}/remove`));
    expect(await listed()).toEqual([]);
    const { rows } = await bench.database.pool.query<object>(
      `SELECT actor, command, outcome FROM redemption.audit WHERE command LIKE 'partner webhook %' ORDER BY id`,
    );
    expect(rows).toHaveLength(6);
    expect(rows[0]).toMatchObject({ command: 'partner webhook add', outcome: 'done' });
    expect(JSON.stringify(rows)).toMatch(/partner:/);
  });

  it('can be tried, and the log shows what becomes of it', async () => {
    const { id } = await json<Made>(add());
    const { event } = await json<{ event: string }>(ann.post(`${PATH}/${id}/test`));
    expect(await json(ann.post(`${PATH}/${id}/test`))).toEqual({ event });
    await bench.database.query({
      text: `INSERT INTO webhooks.attempt (event, at, outcome, status, duration_ms, request, answer)
        SELECT sequence, now(), 'failed', 500, 12, '{"headers":{}}', '{"body":"<img src=x onerror=alert(1)>"}' FROM webhooks.event`,
    });
    expect(await listed()).toMatchObject([{ isFailing: false }]);
    await bench.database.query({ text: 'UPDATE webhooks.event SET attempts = 1' });
    expect(await listed()).toMatchObject([{ isFailing: true }]);
    const { events } = await json<{ events: object[] }>(ann.get(`${PATH}/${id}/events`));
    expect(events).toMatchObject([{ id: event, state: 'waiting', lastStatus: 500 }]);
    const shown = await json<object>(ann.get(`${PATH}/${id}/events/${event}`));
    expect(shown).toMatchObject({ history: [{ outcome: 'failed', durationMs: 12 }] });
    const none = await json<{ events: object[] }>(ann.get(`${PATH}/${id}/events?state=delivered`));
    expect(none.events).toEqual([]);
    const replay = ann.post(`${PATH}/${id}/replay`, { since: '2026-01-01T00:00:00Z' });
    expect(await json(replay)).toEqual({ events: 0 });
    await json(ann.post(`${PATH}/${id}/remove`));
  });

  it('are not seen and not touched by another partner', async () => {
    const { id } = await json<Made>(add());
    const { event } = await json<{ event: string }>(ann.post(`${PATH}/${id}/test`));
    expect(await listed(eve)).toEqual([]);
    expect(await refusalOf(eve.get(`${PATH}/${id}/events`))).toBe('404 NOT_FOUND');
    expect(await refusalOf(eve.get(`${PATH}/${id}/events/${event}`))).toBe('404 NOT_FOUND');
    const tries: readonly (readonly [string, object])[] = [
      ['set', { url: 'https://evil.example/' }],
      ['pause', { paused: true }],
      ['rotate', { overlapHours: 0 }],
      ['test', {}],
      ['replay', { since: '2026-01-01T00:00:00Z', delivered: true }],
      ['remove', {}],
    ];
    for (const [what, body] of tries) {
      const refusal = await refusalOf(eve.post(`${PATH}/${id}/${what}`, body));
      expect([what, refusal]).toEqual([what, '404 WEBHOOK_MISSING']);
    }
    expect(await listed()).toMatchObject([{ url: URL, pausedAt: null, rotatedAt: null }]);
    await json(ann.post(`${PATH}/${id}/remove`));
  });

  it.each([
    [{ url: 'http://hooks.example/' }, 'url', /https/],
    [{ url: 'http://127.0.0.1/', allowPrivate: true }, 'url', /./],
    [{ url: 'https://[::1]/' }, 'url', /not public/],
    [{ url: 'https://hooks.example/?key=1' }, 'url', /a query/],
    [{ url: `https://hooks.example/${'x'.repeat(2100)}` }, 'url', /./],
    [{ url: 'https://hooks.example/\ud800' }, 'url', /./],
    [{ url: 7 }, 'url', /^“URL” must be a text/],
    [{ topics: [] }, 'topics', /one topic at least/],
    [{ topics: ['day.eaten'] }, 'topics', /^“Topics” has one that is not known/],
  ])('are refused for %j: the answer names the field', async (body, field, message) => {
    const answer = await add(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      ...{ code: 'BAD_REQUEST', field },
      message: expect.stringMatching(message),
    });
    expect(await listed()).toEqual([]);
  });

  it.each([
    [{}, /^Give either “Event” or “From \(your time\)”\.$/],
    [{ event: 'msg_0', since: '2026-01-01' }, /^Give either “Event” or “From \(your time\)”\.$/],
    [{ since: '2026-01-01T00:00' }, /^“From \(your time\)” must be a UTC time/],
    [{ event: 'm'.repeat(65) }, /too long/],
    [{ since: '2026-01-01T02:00:00+02:00', delivered: 'yes' }, /true or false/],
  ])('replay nothing by %j', async (body, message) => {
    const { id } = await json<Made>(add());
    const answer = await ann.post(`${PATH}/${id}/replay`, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(message),
    });
    await json(ann.post(`${PATH}/${id}/remove`));
  });

  it('are added within five minutes of a sign-in', async () => {
    bench.clock.advance(6 * 60_000);
    expect(await refusalOf(add())).toBe('401 FRESH_SIGN_IN_NEEDED');
  });
});

it('an address with look-alike letters is the same in the list and in the audit log: as it is called', async () => {
  const member = await memberOf('Letters');
  await json(add({ url: 'https://hooks.ex\u0430mple/\u202Epath' }, member));
  const called = 'https://hooks.xn--exmple-4nf/%E2%80%AEpath';
  expect(await listed(member)).toMatchObject([{ url: called }]);
  const rows = await bench.database.query<{ url: string }>({
    text: `SELECT arguments ->> 'url' AS url FROM redemption.audit WHERE command = 'partner webhook add' ORDER BY id DESC LIMIT 1`,
  });
  expect(rows).toEqual([{ url: called }]);
});
