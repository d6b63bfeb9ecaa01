import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type Address } from '#libs/domain';
import {
  addPartner,
  addPrice,
  aPlayer,
  aUser,
  errorOf,
  inState,
  type Replica,
  type Service,
  startService,
  type User,
} from '../testing/redemption-harness.support-spec.js';
import { becomes, EventClient } from './event-client.support-spec.js';

const AT_MOST = 7;

let service: Service;
let other: Replica;
const clients: EventClient[] = [];

beforeAll(async () => {
  service = await startService({ EVENT_STREAMS_AT_MOST: String(AT_MOST) });
  other = await service.replica();
  await addPartner(service, 'Arena');
  await addPartner(service, 'Bonus');
  await addPrice(service);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await becomes(async () => {
    expect(await openStreams()).toBe(0);
  });
});
afterAll(async () => {
  await other.app.close();
  await service.stop();
});

async function listen(
  user: Pick<User, 'token'>,
  headers: Record<string, string> = {},
  url = service.url,
): Promise<EventClient> {
  const client = await EventClient.open(url, user.token, headers);
  clients.push(client);
  return client;
}

async function openStreams(): Promise<number> {
  const { text } = await request(service.url).get('/metrics').expect(200);
  return Number(/^lowmark_event_streams\{[^}]*\} (\d+)$/m.exec(text)?.[1]);
}

const stagesOf = (client: EventClient, id: string): unknown[] =>
  client.events.filter(({ data }) => data['id'] === id).map(({ data }) => data['stage']);

/** Waits until the newest event of the redemption equals its current body. A wallet may send five requests a second. */
async function isTold(client: EventClient, user: User, id: string): Promise<void> {
  let body: Record<string, unknown> = {};
  await becomes(async () => {
    service.clock.advance(250);
    const answer = await user.get(`/api/redemptions/${id}`);
    if (answer.status === 200) ({ body } = answer);
    const told = client.events.findLast(({ data }) => data['id'] === id)?.data ?? {};
    // Each process estimates `returnsBy` from its own samples of the chain.
    expect(told).toEqual({ ...body, returnsBy: told['returnsBy'] });
    expect(told['returnsBy'] === null).toBe(body['returnsBy'] === null);
  });
}

describe('the events', () => {
  it('begin with the newest page, and go on with each change, the body of GET', async () => {
    const user = await aPlayer(service);
    const client = await listen(user);
    expect(client.response.statusCode).toBe(200);
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    await becomes(() => {
      expect(client.events).toHaveLength(1);
    });
    expect(client.events[0]).toMatchObject({
      name: 'snapshot',
      data: { redemptions: [], next: null },
      id: expect.stringMatching(/^\d+$/),
    });
    const { body } = await user.redeem('Arena', 100).expect(201);
    await inState(service, body.id, 'authorised');
    await isTold(client, user, body.id);
    const { vault, calldata } = client.events.at(-1)?.data['voucher'] as {
      vault: Address;
      calldata: string;
    };
    await service.bench.mine({ from: user.wallet, to: vault, data: calldata });
    await service.bench.finalise();
    await inState(service, body.id, 'claimed');
    await isTold(client, user, body.id);
    expect(stagesOf(client, body.id).at(-1)).toBe('claimed');
    expect(new Set(client.events.slice(1).map(({ name }) => name))).toEqual(
      new Set(['redemption']),
    );
  });

  it('are of the wallet only', async () => {
    const [one, two] = [await aPlayer(service), await aPlayer(service)];
    const [ofOne, ofTwo] = [await listen(one), await listen(two)];
    const first = await one.redeem('Arena', 100).expect(201);
    const second = await two.redeem('Arena', 100).expect(201);
    await becomes(() => {
      expect(stagesOf(ofOne, first.body.id)).not.toEqual([]);
      expect(stagesOf(ofTwo, second.body.id)).not.toEqual([]);
    });
    expect(stagesOf(ofOne, second.body.id)).toEqual([]);
    expect(stagesOf(ofTwo, first.body.id)).toEqual([]);
  });

  it('tell all streams of a wallet of what another process has done', async () => {
    const user = await aPlayer(service);
    const here = [await listen(user), await listen(user)];
    const there = await listen(user, {}, other.url);
    const { body } = await user.redeem('Arena', 100).expect(201);
    await inState(service, body.id, 'authorised');
    await request(other.url)
      .post(`/api/redemptions/${body.id}/cancel`)
      .set('authorization', `Bearer ${user.token}`)
      .expect(202);
    for (const client of [...here, there]) {
      await becomes(() => {
        expect(
          client.events.findLast(({ data }) => data['id'] === body.id)?.data['cancelRequested'],
        ).toBe(true);
      });
    }
  });
});

describe('a connection that was lost', () => {
  it('is continued with Last-Event-ID, by any process, without loss and without a snapshot', async () => {
    const user = await aPlayer(service);
    const client = await listen(user);
    await becomes(() => {
      expect(client.lastId).not.toBe('');
    });
    const arena = await user.redeem('Arena', 100).expect(201);
    await becomes(() => {
      expect(stagesOf(client, arena.body.id)).not.toEqual([]);
    });
    const lastId = client.lastId;
    client.close();
    await inState(service, arena.body.id, 'authorised');
    const bonus = await user.redeem('Bonus', 100).expect(201);
    await inState(service, bonus.body.id, 'authorised');
    // A redemption that ended while no stream was open.
    await user.post(`/api/redemptions/${bonus.body.id}/cancel`).expect(202);
    const missed = await listen(user, { 'last-event-id': lastId }, other.url);
    for (const id of [arena.body.id, bonus.body.id]) await isTold(missed, user, id);
    expect(missed.events.map(({ name }) => name)).not.toContain('snapshot');
    expect(Number(missed.lastId)).toBeGreaterThan(Number(lastId));
  });

  it('tells of one that has ended meanwhile, too', async () => {
    const user = await aPlayer(service, 100);
    const client = await listen(user);
    await becomes(() => {
      expect(client.lastId).not.toBe('');
    });
    const lastId = client.lastId;
    client.close();
    service.game.points.set(user.wallet, 100);
    const { body } = await user.redeem('Arena', 100).expect(201);
    service.game.points.set(user.wallet, 0);
    await becomes(async () => {
      service.clock.advance(1_000);
      const { body: now } = await user.get(`/api/redemptions/${body.id}`).expect(200);
      expect(['failed', 'authorised']).toContain(now.stage);
    });
    const missed = await listen(user, { 'last-event-id': lastId });
    await isTold(missed, user, body.id);
  });

  it.each(['x', '', '-1', '0', '1', '1e3', '99999999999999', '9'.repeat(400), '%0a', '1 2'])(
    'begins anew where Last-Event-ID is %p',
    async (id) => {
      const user = await aUser(service);
      const client = await listen(user, { 'last-event-id': id });
      await becomes(() => {
        expect(client.events.map(({ name }) => name)).toEqual(['snapshot']);
      });
    },
  );
});

describe('a stream', () => {
  it('is for who is signed in', async () => {
    const answer = await request(service.url).get('/api/redemptions/events');
    expect(errorOf(answer)).toEqual({ status: 401, code: 'UNAUTHORIZED' });
    const user = await aUser(service);
    const head = await request(service.url)
      .head('/api/redemptions/events')
      .set('authorization', `Bearer ${user.token}`);
    expect([head.status, head.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(await openStreams()).toBe(0);
  });

  it('ends with its session, and not with another one of the wallet', async () => {
    const user = await aUser(service);
    const elsewhere = await aUser(service, user.wallet);
    const [ends, stays] = [await listen(user), await listen(elsewhere)];
    await request(other.url)
      .post('/api/auth/logout')
      .set('authorization', `Bearer ${user.token}`)
      .expect(204);
    await becomes(() => {
      expect(ends.isEnded).toBe(true);
    });
    expect(stays.isEnded).toBe(false);
    expect((await listen(user)).response.statusCode).toBe(401);
  });

  it('ends when the session has expired', async () => {
    const user = await aUser(service);
    const client = await listen(user);
    const at = service.clock.nowMs();
    service.clock.advance(86_400_000);
    try {
      await becomes(() => {
        expect(client.isEnded).toBe(true);
      });
    } finally {
      service.clock.set(at);
    }
  });

  it('is one of five of the wallet, and of so many of the process', async () => {
    const user = await aUser(service);
    const mine = [];
    for (let count = 0; count < 5; count++) mine.push(await listen(user));
    const sixth = await user.get('/api/redemptions/events');
    expect(errorOf(sixth)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' });
    expect(sixth.headers['retry-after']).toBe('30');
    // Other wallets of the same address have no more room. Those of other addresses do.
    const neighbour = await EventClient.open(service.url, (await aUser(service)).token, {});
    clients.push(neighbour);
    expect(neighbour.response.statusCode).toBe(429);
    for (let count = 5; count < AT_MOST; count++) {
      await listen(await aUser(service), { 'x-forwarded-for': `203.0.113.${count}` });
    }
    const another = await aUser(service);
    const full = await another.get('/api/redemptions/events');
    expect(errorOf(full)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(full.headers['retry-after']).toBe('30');
    mine[0]?.close();
    await becomes(async () => {
      expect(await openStreams()).toBe(AT_MOST - 1);
    });
    expect((await listen(user)).response.statusCode).toBe(200);
  });

  it('is no answer whose time counts', async () => {
    const user = await aUser(service);
    (await listen(user)).close();
    await becomes(async () => {
      expect(await openStreams()).toBe(0);
    });
    const { text } = await request(service.url).get('/metrics').expect(200);
    expect(text).not.toMatch(
      /lowmark_redemption_request_seconds_count\{route="\/api\/redemptions\/events",method="GET",status="200"/,
    );
    expect(text).toMatch(/^lowmark_event_streams_ended_total\{by="client",[^}]*\} [1-9]/m);
  });

  it('ends when the process does, which it does not hold up', async () => {
    const third = await service.replica();
    const user = await aUser(service);
    const client = await listen(user, {}, third.url);
    await becomes(() => {
      expect(client.events).toHaveLength(1);
    });
    await third.app.close();
    await becomes(() => {
      expect(client.isEnded).toBe(true);
    });
  });
});
