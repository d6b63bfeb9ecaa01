import { describe, expect, it } from '@jest/globals';
import { redact } from './redact.js';
import { endpointUrls } from './endpoint-urls.js';
import { rpcSpan } from './rpc-observer.js';

describe('the endpoints of RPC_URLS', () => {
  it.each([
    ['https://broken-icy-mountain.quiknode.pro/14fb466c039ca54a', 'quiknode.pro#1', 'quiknode.pro'],
    ['https://nd-123-456-789.p2pify.com/0123456789', 'p2pify.com#1', 'p2pify.com'],
    ['https://eth-mainnet.g.alchemy.com/v2/KEY', 'alchemy.com#1', 'alchemy.com'],
    ['https://a.b.c.d.example:8443/', 'd.example:8443#1', 'd.example'],
    ['https://example.org', 'example.org#1', 'example.org'],
    ['http://localhost:8545', 'localhost:8545#1', 'localhost'],
    ['http://node:8545', 'node:8545#1', 'node'],
    ['http://127.0.0.1:8545', '127.0.0.1:8545#1', '127.0.0.1'],
    ['http://[::1]:8545', '[::1]:8545#1', '[::1]'],
  ])('%s is %s', (text, name, address) => {
    const [endpoint] = endpointUrls([text]);
    expect(endpoint?.endpoint).toBe(name);
    expect(rpcSpan(name, []).attributes).toMatchObject({ 'server.address': address });
  });

  it('counts every part of the URL but the end of the host as secret', () => {
    const text =
      'https://the-user:p%40ssword@MyHostKey42.shard7.example.com/v3/PathKey99?apikey=QueryKey77#rps=3';
    const [endpoint] = endpointUrls([text]);
    const secrets = endpoint?.secrets ?? [];
    const said = redact(
      'getaddrinfo ENOTFOUND myhostkey42.shard7.example.com; the-user p@ssword pathkey99 QUERYKEY77',
      secrets,
    );
    expect(said).toBe(
      'getaddrinfo ENOTFOUND <redacted>.<redacted>.example.com; <redacted> <redacted> <redacted> <redacted>',
    );
    expect(endpoint?.url.href).not.toContain('#');
  });

  it.each([
    ['#rps=25', { perSecond: 25, unit: 'calls' }],
    ['#rps=0.5', { perSecond: 0.5, unit: 'calls' }],
    ['#cups=500', { perSecond: 500, unit: 'computeUnits' }],
    ['', undefined],
    ['#', undefined],
  ])('takes the budget %p', (fragment, budget) => {
    expect(endpointUrls([`https://example.org/key${fragment}`])[0]?.budget).toEqual(budget);
  });

  it.each(['#rps', '#rps=0', '#rps=-1', '#rps=fast', '#rps=5&cups=7', '#secret-key-1', '#CUPS=5'])(
    'refuses %p without its text',
    (fragment) => {
      expect(() => endpointUrls(['http://a', `https://example.org/${fragment}`])).toThrow(
        /^RPC_URLS: what entry 2 has behind the # is no budget\. Allowed: #rps=<calls a second> or #cups=<compute units a second>\.$/,
      );
    },
  );

  it.each([[[]], [['secret-text']], [['ftp://secret-text']]])('refuses %p', (urls) => {
    const refused = (): unknown => endpointUrls(urls);
    expect(refused).toThrow(/^RPC_URLS/);
    expect(refused).not.toThrow(/secret-text/);
  });
});
