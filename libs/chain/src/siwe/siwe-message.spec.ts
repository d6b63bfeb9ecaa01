import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSiweMessage } from 'viem/siwe';
import { parseSiwe } from './siwe-message.js';

const FIELDS = {
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  chainId: 2741,
  domain: 'app.example.com:8443',
  nonce: 'abcdefgh12345678',
  uri: 'https://app.example.com:8443/sign-in',
  version: '1',
  issuedAt: new Date('2026-11-21T12:00:00.000Z'),
} as const;
const MESSAGE = createSiweMessage(FIELDS);
const FULL = createSiweMessage({
  ...FIELDS,
  scheme: 'https',
  statement: 'Redeem your points.',
  expirationTime: new Date('2026-11-21T12:10:00.000Z'),
  notBefore: new Date('2026-11-21T11:59:00.000Z'),
  requestId: '42',
  resources: ['https://example.com/terms'],
});

describe('parseSiwe', () => {
  it('reads a message with only what must be in it', () => {
    expect(parseSiwe(MESSAGE)).toEqual({
      domain: 'app.example.com:8443',
      wallet: '0x52908400098527886e0f7030069857d2e4169ee7',
      uri: 'https://app.example.com:8443/sign-in',
      chainId: 2741,
      nonce: 'abcdefgh12345678',
      issuedAtMs: Date.parse('2026-11-21T12:00:00Z'),
      expiresAtMs: undefined,
      notBeforeMs: undefined,
    });
  });

  it('reads one with everything that may be in it', () => {
    expect(parseSiwe(FULL)).toMatchObject({
      domain: 'app.example.com:8443',
      expiresAtMs: Date.parse('2026-11-21T12:10:00Z'),
      notBeforeMs: Date.parse('2026-11-21T11:59:00Z'),
    });
  });

  it('takes times of another zone', () => {
    const there = MESSAGE.replace('2026-11-21T12:00:00.000Z', '2026-11-21T13:00:00+01:00');
    expect(parseSiwe(there)?.issuedAtMs).toBe(FIELDS.issuedAt.getTime());
  });

  it.each([
    ['nothing', ''],
    ['a line before', `Hello\n${MESSAGE}`],
    ['a line behind', `${MESSAGE}\nand all my tokens`],
    ['a line between', MESSAGE.replace('Version', 'Scope: all\nVersion')],
    ['another version', MESSAGE.replace('Version: 1', 'Version: 2')],
    ['two messages', `${MESSAGE}\n${MESSAGE}`],
    ['two statements', FULL.replace('points.', 'points.\nAnd more.')],
    ['no nonce', MESSAGE.replace(/\nNonce: .*/, '')],
    ['a short nonce', MESSAGE.replace(FIELDS.nonce, 'abc')],
    ['a day that does not exist', MESSAGE.replace('2026-11-21', '2026-13-41')],
    ['no time', MESSAGE.replace('2026-11-21T12:00:00.000Z', 'now')],
    ['lines of Windows', MESSAGE.replaceAll('\n', '\r\n')],
    ['a user name before the domain', MESSAGE.replace('app.', 'app.example.com@evil.')],
    ['too much text', FULL.replace('Redeem', 'R'.repeat(4096))],
    ['a number that is no chain', MESSAGE.replace('2741', '9'.repeat(20))],
  ])('refuses %s', (_, text) => {
    expect(parseSiwe(text)).toBeUndefined();
  });

  it('throws for no text at all', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat({ max: FULL.length }), (noise, at) => {
        parseSiwe(noise);
        parseSiwe(FULL.slice(0, at) + noise + FULL.slice(at));
      }),
    );
  });
});
