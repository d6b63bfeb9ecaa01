/**
 * Every end of a call that proves that no byte of the request left. The partner's side of the socket confirms the
 * proof.
 */
import { type LookupAddress } from 'node:dns';
import { createServer, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallResult } from './call-result.js';
import { type PartnerClientOptions } from './partner-client.js';
import { anAuthority, type Issued } from './testing/certificates.support.js';
import { aClient, anEndpoint, DEDUCT, SHORT } from './testing/partner-bench.support.js';
import { RoguePartner } from './testing/rogue-partner.support.js';

const PUBLIC = { policy: { allowPrivate: false } };
const NAME = 'partner.example';

let partner: RoguePartner;

afterEach(async () => {
  await partner.close();
  expect(partner.requests).toHaveLength(0);
  expect(partner.bytes).toBe(0);
});

function callTo(baseUrl: string, options: Partial<PartnerClientOptions> = {}): Promise<CallResult> {
  return aClient(options).call(anEndpoint({ baseUrl }), DEDUCT);
}

function resolvingTo(...addresses: string[]): Pick<PartnerClientOptions, 'resolve'> {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return { resolve: () => Promise.resolve(all) };
}

describe('a name', () => {
  beforeEach(async () => {
    partner = await RoguePartner.start();
  });

  it('that does not exist', async () => {
    const unknown = Object.assign(new Error(`getaddrinfo ENOTFOUND ${NAME}`), {
      code: 'ENOTFOUND',
    });
    const resolve = (): Promise<LookupAddress[]> => Promise.reject(unknown);
    const result = await callTo(`https://${NAME}`, { resolve });
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'dns', phase: 'dns' });
    expect(result.record.error).toContain('ENOTFOUND');
  });

  it('that does not exist, asked of the system', async () => {
    expect(await callTo('https://no-such-host.invalid')).toMatchObject({
      kind: 'nothing-sent',
      phase: 'dns',
    });
  });

  it('that nobody answers for in time', async () => {
    const resolve = (): Promise<LookupAddress[]> => new Promise(() => undefined);
    const result = await callTo(`https://${NAME}`, { resolve, timeouts: SHORT });
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'connect-timeout', phase: 'dns' });
  });

  it('without an address', async () => {
    const result = await callTo(`https://${NAME}`, resolvingTo());
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'dns' });
  });

  it.each([
    ['loopback', ['127.0.0.1']],
    ['a private range', ['10.1.2.3']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['a unique local address', ['fd00:ec2::254']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['what is no address', ['localhost']],
    ['a public address and a private one', ['93.184.216.34', '192.168.0.1']],
  ])('that resolves to %s', async (_case, addresses) => {
    const result = await callTo(`https://${NAME}:${partner.port}`, {
      ...PUBLIC,
      ...resolvingTo(...addresses),
    });
    expect(result).toMatchObject({
      kind: 'nothing-sent',
      cause: 'blocked-address',
      phase: 'dns',
      alert: true,
    });
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

describe('a URL', () => {
  beforeEach(async () => {
    partner = await RoguePartner.start();
  });

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '017700000001', '[::ffff:7f00:1]', '127.1'])(
    'with the address written as %s',
    async (host) => {
      const result = await callTo(`https://${host}:${partner.port}`, PUBLIC);
      expect(result).toMatchObject({
        kind: 'nothing-sent',
        cause: 'blocked-address',
        phase: 'address',
        alert: true,
      });
      expect(partner.connections).toBe(0);
    },
  );

  it.each([
    'http://partner.example',
    'ftp://x',
    'nonsense',
    'https://u:p@x.example',
    'https://x?y',
  ])('such as %s', async (baseUrl) => {
    const result = await callTo(baseUrl, PUBLIC);
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'invalid-url', alert: true });
  });
});

describe('a connection', () => {
  beforeEach(async () => {
    partner = await RoguePartner.start();
  });

  it('that is refused', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as { port: number };
    await new Promise((resolve) => gone.close(resolve));
    for (const host of ['127.0.0.1', NAME]) {
      const result = await callTo(`http://${host}:${port}`, resolvingTo('127.0.0.1'));
      expect(result).toMatchObject({
        kind: 'nothing-sent',
        cause: 'connection-refused',
        phase: 'connect',
        alert: false,
      });
    }
  });

  it('that is refused at each of several addresses', async () => {
    const addresses = resolvingTo('127.0.0.1', '127.0.0.2');
    const result = await callTo(`http://${NAME}:1`, addresses);
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'connection-refused' });
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

describe('TLS', () => {
  const authority = anAuthority();
  const trusted = { ca: authority.certificate };
  const start = async (certificate: Issued): Promise<string> => {
    partner = await RoguePartner.start(certificate);
    return `https://127.0.0.1:${partner.port}`;
  };

  it('with a certificate of an authority that nobody trusts', async () => {
    const url = await start(authority.issue({ addresses: ['127.0.0.1'] }));
    const result = await callTo(url);
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'tls', phase: 'tls' });
  });

  it('with a certificate of another authority', async () => {
    const url = await start(anAuthority().issue({ addresses: ['127.0.0.1'] }));
    expect(await callTo(url, trusted)).toMatchObject({ kind: 'nothing-sent', cause: 'tls' });
  });

  it('with a certificate of another name', async () => {
    const certificate = authority.issue({ dnsNames: ['other.example'] });
    await start(certificate);
    const url = `https://${NAME}:${partner.port}`;
    const result = await callTo(url, { ...trusted, ...resolvingTo('127.0.0.1') });
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'tls' });
    expect(result.record.error).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('with a certificate that has expired', async () => {
    const past = { addresses: ['127.0.0.1'], validToMs: Date.now() - 60_000 };
    const result = await callTo(await start(authority.issue(past)), trusted);
    expect(result).toMatchObject({ kind: 'nothing-sent', cause: 'tls' });
    expect(result.record.error).toContain('CERT_HAS_EXPIRED');
  });

  it('asked of a partner that does not speak it, or never answers', async () => {
    partner = await RoguePartner.start();
    partner.onConnect = (socket) => {
      socket.removeAllListeners('data');
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    };
    const url = `https://127.0.0.1:${partner.port}`;
    expect(await callTo(url, trusted)).toMatchObject({ kind: 'nothing-sent', cause: 'tls' });
    partner.onConnect = (socket) => {
      socket.removeAllListeners('data');
      socket.resume();
    };
    expect(await callTo(url, { ...trusted, timeouts: SHORT })).toMatchObject({
      kind: 'nothing-sent',
      cause: 'connect-timeout',
      phase: 'tls',
    });
    partner.onConnect = (socket) => {
      socket.removeAllListeners('data');
      socket.resetAndDestroy();
    };
    expect(await callTo(url, trusted)).toMatchObject({ kind: 'nothing-sent' });
  });
});
