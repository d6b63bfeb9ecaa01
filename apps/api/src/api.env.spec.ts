import { describe, expect, it } from '@jest/globals';
import { readSettings } from '#libs/config';
import { ApiSettings } from './api.env.js';

const NEEDED = {
  DATABASE_URL: 'postgresql://127.0.0.1/lowmark',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
};

describe('ApiSettings', () => {
  it('has defaults for all but the database and the key of the secrets', () => {
    expect(readSettings(ApiSettings, NEEDED)).toMatchObject({
      apiPort: 3000,
      indexMaxLagSeconds: 120,
      priceMaxAgeSeconds: undefined,
      trustedProxies: undefined,
    });
  });

  it('reads trusted proxies', () => {
    const source = { ...NEEDED, TRUSTED_PROXIES: 'loopback, 10.0.0.0/8,2001:db8::/32,192.0.2.1' };
    expect(readSettings(ApiSettings, source).trustedProxies).toEqual([
      'loopback',
      '10.0.0.0/8',
      '2001:db8::/32',
      '192.0.2.1',
    ]);
  });

  it.each(['true', '*', '10.0.0.0/33', '10.0.0/8', 'proxy.internal', '10.0.0.1/', 'loopback,'])(
    'refuses %p as a proxy',
    (text) => {
      expect(() => readSettings(ApiSettings, { ...NEEDED, TRUSTED_PROXIES: text })).toThrow(
        'TRUSTED_PROXIES must be a list',
      );
    },
  );
});
