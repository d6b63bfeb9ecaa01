/** The circuit breaker and the limit of concurrent calls of each partner, over real sockets. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { FakeClock } from '#libs/testing/clock';
import { aPartnerId } from '#libs/testing/partner';
import { type PartnerClient } from './partner-client.js';
import { aClient, anEndpoint, BALANCE, DEDUCT } from './testing/partner-bench.support.js';
import {
  answer,
  type Behaviour,
  replies,
  RoguePartner,
  UNSIGNED,
} from './testing/rogue-partner.support.js';
import { type PartnerEndpoint } from './partner-endpoint.js';

const [ONE, TWO] = [aPartnerId(), aPartnerId()];

describe('a client', () => {
  let partner: RoguePartner;
  let client: PartnerClient;
  let clock: FakeClock;

  beforeEach(async () => {
    partner = await RoguePartner.start();
    clock = new FakeClock(Date.UTC(2026, 0, 1));
    const gate = { threshold: 3, firstOpenMs: 1500, maxAtOnce: 2, maxWaiting: 2 };
    client = aClient({ clock, gate });
  });

  afterEach(async () => {
    await partner.close();
  });

  const at = (partnerId: PartnerId): PartnerEndpoint =>
    anEndpoint({ partnerId, baseUrl: `http://127.0.0.1:${partner.port}` });

  it.each<[string, Behaviour]>([
    ['resets', (socket) => socket.resetAndDestroy()],
    ['answers 500', replies({ status: 500 })],
    ['answers 429', replies({ status: 429 })],
    ['redirects', replies({ status: 302 })],
    ['does not sign', replies({ headers: UNSIGNED })],
    ['answers in HTML', replies({ body: '<p>' })],
  ])(
    'stops calling a partner that %s, asks once in a while, and comes back',
    async (_case, behave) => {
      partner.behave = behave;
      for (let call = 0; call < 3; call++) await client.call(at(ONE), DEDUCT);
      expect(client.circuitOf(ONE)).toBe('open');
      expect(await client.call(at(ONE), DEDUCT)).toMatchObject({
        kind: 'nothing-sent',
        cause: 'circuit-open',
        phase: 'gate',
        retryAfterSeconds: 2,
        record: { outcome: 'nothing-sent', requestBytes: 0, answerBytes: 0 },
      });
      expect(partner.requests).toHaveLength(3);
      clock.advance(1500);
      const probes = [client.call(at(ONE), DEDUCT), client.call(at(ONE), DEDUCT)];
      const results = await Promise.all(probes);
      expect(results[1]).toMatchObject({ kind: 'nothing-sent', cause: 'circuit-open' });
      expect(partner.requests).toHaveLength(4);
      partner.behave = replies({});
      clock.advance(3000);
      expect(await client.call(at(ONE), DEDUCT)).toMatchObject({ verdict: 'verified' });
      expect(client.circuitOf(ONE)).toBe('closed');
    },
  );

  it('goes on calling one that refuses in the interface’s words', async () => {
    const body = '{"errorCode":"ERR-INSUFFICIENT-POINTS","errorMessage":"","success":false}';
    partner.behave = replies({ status: 422, body });
    for (let call = 0; call < 5; call++) await client.call(at(ONE), DEDUCT);
    expect(partner.requests).toHaveLength(5);
    expect(client.circuitOf(ONE)).toBe('closed');
  });

  it('goes on calling one that is too slow for calls with less time than usual', async () => {
    partner.behave = () => undefined;
    for (let call = 0; call < 5; call++) {
      const result = await client.call(at(ONE), BALANCE, { withinMs: 20 });
      expect(result).toMatchObject({ kind: 'no-answer' });
    }
    expect(client.circuitOf(ONE)).toBe('closed');
  });

  it('stops calling one whose refusals of deductions are unsigned, and not for a balance', async () => {
    const body = '{"errorCode":"ERR-USER-NOT-FOUND","errorMessage":"","success":false}';
    partner.behave = replies({ status: 404, body, headers: UNSIGNED });
    for (let call = 0; call < 5; call++) await client.call(at(ONE), BALANCE);
    expect(client.circuitOf(ONE)).toBe('closed');
    for (let call = 0; call < 3; call++) await client.call(at(ONE), DEDUCT);
    expect(client.circuitOf(ONE)).toBe('open');
    clock.advance(1500);
    // An unsigned refusal of a balance does not close the circuit either.
    await client.call(at(ONE), BALANCE);
    expect(client.circuitOf(ONE)).toBe('open');
    partner.behave = replies({});
    await client.call(at(ONE), DEDUCT);
    expect(client.circuitOf(ONE)).toBe('closed');
  });

  it('holds nothing against a partner that it would not, or should not, call', async () => {
    const ended = AbortSignal.abort();
    for (let call = 0; call < 5; call++) {
      await client.call(at(ONE), DEDUCT, { signal: ended });
      await client.call(anEndpoint({ partnerId: ONE, baseUrl: 'https://169.254.169.254' }), DEDUCT);
    }
    expect(client.circuitOf(ONE)).toBe('closed');
    expect(partner.connections).toBe(0);
  });

  it('has a circuit and a limit for each partner', async () => {
    partner.behave = (socket) => socket.resetAndDestroy();
    for (let call = 0; call < 3; call++) await client.call(at(ONE), DEDUCT);
    partner.behave = replies({});
    expect(await client.call(at(TWO), DEDUCT)).toMatchObject({ verdict: 'verified' });
    expect([client.circuitOf(ONE), client.circuitOf(TWO)]).toEqual(['open', 'closed']);
  });

  it('makes so many calls at once, lets a few wait, and refuses the others', async () => {
    let [atOnce, most] = [0, 0];
    partner.behave = (socket, request) => {
      most = Math.max(most, ++atOnce);
      setTimeout(() => {
        atOnce--;
        socket.end(answer(request));
      }, 60);
    };
    const results = await Promise.all(
      Array.from({ length: 6 }, () => client.call(at(ONE), DEDUCT)),
    );
    expect(results.map((result) => result.record.cause ?? result.kind)).toEqual([
      ...Array.from({ length: 4 }, () => 'answer'),
      'too-many-calls',
      'too-many-calls',
    ]);
    expect(most).toBe(2);
    expect(partner.requests).toHaveLength(4);
    expect(results[2]?.record.timings.queued).toBeGreaterThan(0);
  });
});
