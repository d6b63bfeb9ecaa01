/** The URLs of endpoints, and what may be said of them. */
import { describe, expect, it } from '@jest/globals';
import { redact, secretsOf } from './redact.js';
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

describe('what may be said of an endpoint', () => {
  it('finds every part of a URL that may be a credential', () => {
    const url = new URL(
      'https://user:p%40ssword@rpc.example.com/v3/0123456789abcdef?apikey=qwertyuiop&x=1',
    );
    expect(new Set(secretsOf(url))).toEqual(
      new Set(['dXNlcjpwQHNzd29yZA==', '0123456789abcdef', 'qwertyuiop', 'p%40ssword', 'p@ssword']),
    );
  });

  it.each([
    ['a query value as it is in the URL', '?key=ab%2Bcd%2Fef99', 'no ab%2Bcd%2Fef99'],
    ['a query value without its escapes', '?key=ab%2Bcd%2Fef99', 'no ab+cd/ef99'],
    ['a query value with a plus', '?key=ab+cd99', 'no ab+cd99'],
    ['a query value that JSON escapes', '?key=ab%2Fcd%22ef99', String.raw`no ab\/cd\"ef99`],
    ['one escaped by its code', '?key=ab%2Bcd%3Cef99', String.raw`no ab\u002bcd\u003cef99`],
    ['one escaped for a second time', '?key=ab%2Bcd%2Fef99', 'no ab%252Bcd%252Fef99'],
    ['the name in a query', '?q1w2e3r4t5', 'no q1w2e3r4t5'],
    ['the name of a value', '?q1w2e3r4t5=1', 'no q1w2e3r4t5'],
    ['what is behind a = in the path', 'apikey=q1w2e3r4t5', 'no q1w2e3r4t5'],
    ['what is behind a : in the path', 'key:q1w2e3r4t5', 'no q1w2e3r4t5'],
  ])('hides %s', (_, end, text) => {
    expect(redact(text, secretsOf(new URL(`https://rpc.example.com/${end}`)))).toBe(
      'no <redacted>',
    );
  });

  it.each([
    ['user:p%40ssword', 'user:p@ssword'],
    ['lonely-user', 'lonely-user:'],
    ['a%zzuser:p%40ssword', 'a%zzuser:p@ssword'],
  ])('hides what %s@ is sent as', (credentials, sent) => {
    const secrets = secretsOf(new URL(`https://${credentials}@rpc.example.com`));
    const base64 = Buffer.from(sent).toString('base64');
    expect(redact(`refused by Basic ${base64}`, secrets)).toBe('refused by Basic <redacted>');
  });

  it('hides a key wherever a long text is cut', () => {
    const key = 'q1w2e3r4t5y6u7i8o9p0a1s2d';
    for (const length of [280, 299, 1180, 1199, 19_980, 19_990, 19_999, 20_000]) {
      const url = `https://x.io/${'a'.repeat(length - 13)}`;
      expect(redact(`${url} ${key}`, [key])).not.toMatch(/q1w/);
      expect(redact(`${url}${key} ${key}`, [key])).not.toMatch(/q1w/);
    }
  });

  it('leaves the names before a key readable', () => {
    const secrets = secretsOf(new URL('https://rpc.example.com/?apikey=q1w2e3r4t5'));
    expect(redact('the apikey is wrong', secrets)).toBe('the apikey is wrong');
  });

  it('takes them out of a text, with URLs and control characters, in one short line', () => {
    expect(
      redact('bad key 0123456789abcdef\nsee https://x.io/a?b=c\u0007', ['0123456789abcdef']),
    ).toBe('bad key <redacted> see <url>');
    // CSI of terminals in one character, an override of the direction, and a line separator.
    expect(redact('no\u009b2J such\u202e\u200b block\u2028', [])).toBe('no 2J such block');
    expect(redact('y'.repeat(1000), [])).toHaveLength(300);
    expect(redact('y-'.repeat(5_000_000), ['0123456789abcdef'])).toHaveLength(300);
  });
});
