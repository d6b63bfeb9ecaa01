/**
 * Every end of a call that proves that no byte of the request left. The partner's side of the socket confirms the
 * proof.
 */
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callOutcome } from './call-outcome.js';
import { type CallResult } from './call-result.js';
import { type PartnerClientOptions } from './partner-client.js';
import { parsePartnerUrl, signedRequest } from './partner-endpoint.js';
import { anAuthority, type Issued } from './testing/certificates.support.js';
import {
  aClient,
  anEndpoint,
  anId,
  DEDUCT,
  SHORT,
  WALLET,
} from './testing/partner-bench.support.js';
import { answer, RoguePartner } from './testing/rogue-partner.support.js';
import { callDeadline, ExchangeFault } from './wire/call-fault.js';
import { Connection, exchange, nothingArrived } from './wire/exchange.js';

type Options = Partial<PartnerClientOptions>;

const PUBLIC = { policy: { allowPrivate: false } };
const NAME = 'partner.example';

let partner: RoguePartner;

function callTo(baseUrl: string, options: Options = {}): Promise<CallResult> {
  return aClient(options).call(anEndpoint({ baseUrl }), DEDUCT);
}

function resolvingTo(...addresses: string[]): Pick<PartnerClientOptions, 'resolve'> {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return { resolve: () => Promise.resolve(all) };
}

/** What the domain makes of the call. */
const outcomeOf = (result: CallResult): object =>
  callOutcome({ step: 'deduct', address: WALLET }, result);

describe('nothing is sent', () => {
  afterEach(async () => {
    await partner.close();
    expect(partner.requests).toHaveLength(0);
    expect(partner.bytes).toBe(0);
  });

  describe('to a name', () => {
    beforeEach(async () => {
      partner = await RoguePartner.start();
    });

    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    it.each<[string, Options, string]>([
      ['that does not exist', { resolve: () => Promise.reject(unknown) }, 'dns'],
      ['without an address', resolvingTo(), 'dns'],
      [
        'that is not answered in time',
        { resolve: () => new Promise(() => undefined), timeouts: SHORT },
        'connect-timeout',
      ],
    ])('%s', async (_case, options, cause) => {
      const result = await callTo(`https://${NAME}`, options);
      expect(result).toMatchObject({ kind: 'nothing-sent', cause, phase: 'dns' });
      const reason = cause === 'dns' ? 'dns' : 'not-connected';
      expect(outcomeOf(result)).toEqual({ kind: 'nothing-sent', reason });
    });

    // The ranges are those of address-policy.spec.ts.
    it.each([
      ['a private range', ['10.1.2.3']],
      ['the metadata of a cloud', ['169.254.169.254']],
      ['a mapped address', ['::ffff:127.0.0.1']],
      ['what is no address', ['localhost']],
      ['a public address and a private one', ['93.184.216.34', '192.168.0.1']],
    ])('that resolves to %s', async (_case, addresses) => {
      const options = { ...PUBLIC, ...resolvingTo(...addresses) };
      const result = await callTo(`https://${NAME}:${partner.port}`, options);
      const blocked = { kind: 'nothing-sent', cause: 'blocked-address', phase: 'dns', alert: true };
      expect(result).toMatchObject(blocked);
      expect(outcomeOf(result)).toEqual({ kind: 'nothing-sent', reason: 'blocked-address' });
      expect(partner.connections).toBe(0);
    });

    it('that the system resolves to loopback', async () => {
      const result = await callTo(`https://localhost:${partner.port}`, PUBLIC);
      expect(result).toMatchObject({ cause: 'blocked-address', phase: 'dns' });
      expect(partner.connections).toBe(0);
    });

    it('rebound to a private address after it was public', async () => {
      const answers = ['93.184.216.34', '127.0.0.1'];
      const dialled: string[] = [];
      const client = aClient({
        ...PUBLIC,
        resolve: () => Promise.resolve([{ address: answers.shift() ?? '', family: 4 }]),
        // No test sends anything to the network: a public address acts like one on which no server listens.
        connectTcp: (options) => {
          const socket = new Socket();
          options.lookup?.(options.host ?? '', { all: true }, (error, addresses) => {
            if (error === null && Array.isArray(addresses)) {
              dialled.push(...addresses.map(({ address }) => address));
            }
            const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
            socket.destroy(error ?? refused);
          });
          return socket;
        },
      });
      const endpoint = anEndpoint({ baseUrl: `https://${NAME}` });
      const calls = [await client.call(endpoint, DEDUCT), await client.call(endpoint, DEDUCT)];
      expect(calls).toMatchObject([
        { cause: 'connection-refused', phase: 'connect' },
        { cause: 'blocked-address', phase: 'dns' },
      ]);
      expect(dialled).toEqual(['93.184.216.34']);
    });

    it('whose connection leads elsewhere than it resolved to', async () => {
      const result = await callTo(`https://${NAME}`, {
        ...PUBLIC,
        ...resolvingTo('93.184.216.34'),
        connectTcp: () => new Socket().connect(partner.port, '127.0.0.1'),
      });
      expect(result).toMatchObject({
        kind: 'nothing-sent',
        cause: 'blocked-address',
        phase: 'connect',
        alert: true,
        record: { remoteAddress: '127.0.0.1' },
      });
    });
  });

  // The notations are those of partner-endpoint.spec.ts.
  it.each([
    ['https://2130706433', 'blocked-address'],
    ['https://[::ffff:7f00:1]', 'blocked-address'],
    ['http://partner.example', 'invalid-url'],
    ['nonsense', 'invalid-url'],
    ['https://u:p@x.example', 'invalid-url'],
  ])('to the URL %s', async (url, cause) => {
    partner = await RoguePartner.start();
    const port = cause === 'blocked-address' ? `:${partner.port}` : '';
    const result = await callTo(url + port, PUBLIC);
    expect(result).toMatchObject({ kind: 'nothing-sent', phase: 'address', cause, alert: true });
    expect(outcomeOf(result)).toEqual({ kind: 'nothing-sent', reason: 'blocked-address' });
    expect(partner.connections).toBe(0);
  });

  describe('over a connection', () => {
    beforeEach(async () => {
      partner = await RoguePartner.start();
    });

    it('that is refused, at each of several addresses too', async () => {
      const gone = createServer();
      await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
      const { port } = gone.address() as { port: number };
      await new Promise((resolve) => gone.close(resolve));
      for (const host of ['127.0.0.1', NAME]) {
        const options = resolvingTo('127.0.0.1', '127.0.0.2');
        expect(await callTo(`http://${host}:${port}`, options)).toMatchObject({
          kind: 'nothing-sent',
          cause: 'connection-refused',
          phase: 'connect',
          alert: false,
        });
      }
    });

    it.each([
      ['for a connection', { connectMs: 100, writeMs: 50_000 }],
      ['for the whole call', { connectMs: 50_000, writeMs: 100 }],
    ])('that does not come about in the time %s', async (_case, timeouts) => {
      const connectTcp = (): Socket => new Socket();
      expect(await callTo('http://127.0.0.1:1', { timeouts, connectTcp })).toMatchObject({
        kind: 'nothing-sent',
        cause: 'connect-timeout',
        phase: 'connect',
      });
    });
  });

  describe('over TLS', () => {
    const authority = anAuthority();
    const trusted = { ca: authority.certificate };

    it.each<[string, Issued, string, Options]>([
      [
        'of an authority that is not trusted',
        authority.issue({ addresses: ['127.0.0.1'] }),
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        {},
      ],
      [
        'of another authority',
        anAuthority().issue({ addresses: ['127.0.0.1'] }),
        'CERT_SIGNATURE_FAILURE',
        trusted,
      ],
      [
        'of another name',
        authority.issue({ dnsNames: ['other.example'] }),
        'ERR_TLS_CERT_ALTNAME_INVALID',
        trusted,
      ],
      [
        'that has expired',
        authority.issue({ addresses: ['127.0.0.1'], validToMs: Date.now() - 60_000 }),
        'CERT_HAS_EXPIRED',
        trusted,
      ],
    ])('with a certificate %s', async (what, certificate, error, options) => {
      partner = await RoguePartner.start(certificate);
      const host = what === 'of another name' ? NAME : '127.0.0.1';
      const url = `https://${host}:${partner.port}`;
      const result = await callTo(url, { ...options, ...resolvingTo('127.0.0.1') });
      expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'tls', phase: 'tls' });
      expect(result.record.error).toContain(error);
      expect(outcomeOf(result)).toEqual({ kind: 'nothing-sent', reason: 'tls' });
    });

    it('asked of a partner that does not speak it, never answers, or hangs up', async () => {
      partner = await RoguePartner.start();
      const url = `https://127.0.0.1:${partner.port}`;
      const onConnect = (act: (socket: Socket) => void): void => {
        partner.onConnect = (socket) => {
          socket.removeAllListeners('data');
          act(socket);
        };
      };
      onConnect((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
      expect(await callTo(url, trusted)).toMatchObject({ kind: 'nothing-sent', cause: 'tls' });
      onConnect((socket) => socket.resume());
      expect(await callTo(url, { ...trusted, timeouts: SHORT })).toMatchObject({
        kind: 'nothing-sent',
        cause: 'connect-timeout',
        phase: 'tls',
      });
      onConnect((socket) => socket.resetAndDestroy());
      expect(await callTo(url, trusted)).toMatchObject({ kind: 'nothing-sent' });
    });
  });
});

describe('what looks like nothing sent, and is not', () => {
  afterEach(() => partner.close());

  it('is a call over TLS whose connection breaks after the request', async () => {
    const authority = anAuthority();
    const certificate = { addresses: ['127.0.0.1'], dnsNames: [NAME] };
    partner = await RoguePartner.start(authority.issue(certificate));
    const client = aClient({ ca: authority.certificate, ...resolvingTo('127.0.0.1') });
    for (const host of ['127.0.0.1', NAME]) {
      const endpoint = anEndpoint({ baseUrl: `https://${host}:${partner.port}/v1` });
      const good = await client.call(endpoint, DEDUCT);
      expect(good).toMatchObject({ kind: 'answer', verdict: 'verified' });
      expect(good.record.timings).toMatchObject({ tls: expect.any(Number) });
      expect(partner.requests.at(-1)?.header('host')).toBe(`${host}:${partner.port}`);
    }
    const endpoint = anEndpoint({ baseUrl: `https://127.0.0.1:${partner.port}` });
    partner.behave = (socket) => socket.destroy();
    const before = await client.call(endpoint, DEDUCT);
    partner.behave = (socket, request) => socket.end(answer(request).subarray(0, -3));
    const within = await client.call(endpoint, DEDUCT);
    expect([before, within]).toMatchObject([
      { kind: 'no-answer', cause: 'reset', phase: 'sending' },
      { kind: 'no-answer', cause: 'half-answer', phase: 'body' },
    ]);
    expect(partner.requests).toHaveLength(4);
  });

  it('is a connection that is lost between its opening and its use; no other one is made', async () => {
    partner = await RoguePartner.start();
    const parsed = parsePartnerUrl(`http://127.0.0.1:${partner.port}`, { allowPrivate: true });
    if (!parsed.ok) throw new Error(parsed.message);
    const { url } = parsed;
    const request = signedRequest(DEDUCT, anId(), { endpoint: anEndpoint(), url });
    const socket = connect(partner.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
    const deadline = callDeadline(500);
    const limits = { maxBodyBytes: 100, signal: deadline.signal };
    const arrived = nothingArrived();
    const connection = new Connection(socket, url.origin, '127.0.0.1');
    const ended = exchange(connection, request, limits, arrived);
    await expect(ended).rejects.toEqual(new ExchangeFault('reset', 'the connection was lost'));
    deadline.end();
    expect(arrived.phase).toBe('sending');
    expect(connection.hasNoBytesSent).toBe(true);
    expect([partner.connections, partner.requests.length]).toEqual([1, 0]);
  });
});
