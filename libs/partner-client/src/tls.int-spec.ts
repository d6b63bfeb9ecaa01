/** Calls that succeed over TLS, by address and by name. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { anAuthority } from './testing/certificates.support.js';
import { aClient, anEndpoint, DEDUCT } from './testing/partner-bench.support.js';
import { answer, RoguePartner } from './testing/rogue-partner.support.js';

describe('a call over TLS', () => {
  const authority = anAuthority();
  const certificate = authority.issue({ addresses: ['127.0.0.1'], dnsNames: ['partner.example'] });
  let partner: RoguePartner;

  afterEach(async () => {
    await partner.close();
  });

  it.each(['127.0.0.1', 'partner.example'])('to %s is verified', async (host) => {
    partner = await RoguePartner.start(certificate);
    const client = aClient({
      ca: authority.certificate,
      resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    });
    const endpoint = anEndpoint({ baseUrl: `https://${host}:${partner.port}/v1` });
    const result = await client.call(endpoint, DEDUCT);
    expect(result).toMatchObject({ kind: 'answer', verdict: 'verified' });
    expect(result.record.timings).toMatchObject({
      connect: expect.any(Number),
      tls: expect.any(Number),
      head: expect.any(Number),
    });
    expect(partner.requests[0]?.header('host')).toBe(`${host}:${partner.port}`);
  });

  it('is unknown where the connection breaks after the request', async () => {
    partner = await RoguePartner.start(certificate);
    const client = aClient({ ca: authority.certificate });
    const endpoint = anEndpoint({ baseUrl: `https://127.0.0.1:${partner.port}` });
    partner.behave = (socket) => socket.destroy();
    const before = await client.call(endpoint, DEDUCT);
    expect(before).toMatchObject({ kind: 'no-answer', cause: 'reset', phase: 'sending' });
    partner.behave = (socket, request) => socket.end(answer(request).subarray(0, -3));
    const within = await client.call(endpoint, DEDUCT);
    expect(within).toMatchObject({ kind: 'no-answer', cause: 'half-answer', phase: 'body' });
    expect(partner.requests).toHaveLength(2);
  });
});
