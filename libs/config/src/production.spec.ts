import { describe, expect, it } from '@jest/globals';
import { developmentChain, NODE_ENV_SETTING, openRedis, refuseDevelopment } from './production.js';

const GIVEN = [
  developmentChain(31_337),
  { variable: 'ONE', isGiven: true, why: 'is open' },
  { variable: 'OTHER', isGiven: false, why: 'is not given' },
];

describe('refuseDevelopment', () => {
  it('names everything that production refuses', () => {
    expect(() => {
      refuseDevelopment('production', GIVEN);
    }).toThrow('CHAIN_ID: 31337 is a chain of development; ONE: is open. See');
  });

  it.each([undefined, 'development', 'test', 'staging'])('lets it be with %p', (nodeEnv) => {
    expect(() => {
      refuseDevelopment(nodeEnv, GIVEN);
    }).not.toThrow();
  });

  it('lets production start with nothing of it', () => {
    expect(() => {
      refuseDevelopment('production', [developmentChain(1)]);
    }).not.toThrow();
  });
});

describe('openRedis', () => {
  it.each(['redis://10.0.0.1:6379', 'rediss://user@redis.example', 'redis://:@10.0.0.1'])(
    'is one that asks for no password: %s',
    (url) => {
      expect(() => {
        refuseDevelopment('production', [openRedis(url)]);
      }).toThrow('REDIS_URL: has no password');
    },
  );

  it.each([undefined, 'redis://:secret@10.0.0.1:6379', 'rediss://user:secret@redis.example'])(
    'is not %p',
    (url) => {
      expect(openRedis(url).isGiven).toBe(false);
    },
  );
});

describe('NODE_ENV', () => {
  it.each(['prod', 'Production', ' production', 'live'])('refuses %p', (text) => {
    expect(() => NODE_ENV_SETTING.parse?.(text)).toThrow('must be one of production, ');
  });
});
