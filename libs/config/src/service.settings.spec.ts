import { describe, expect, it } from '@jest/globals';
import {
  DatabaseSettings,
  readSettings,
  REPLICAS_AT_MOST_SETTING,
  requireReplicasAtMost,
  sessionUrl,
} from './index.js';

const DATABASE_URL = 'postgresql://user:hunter2@pooler:6432/db';
const DATABASE_DIRECT_URL = 'postgresql://user:hunter2@one:5432/db';

describe('the URLs of the database', () => {
  it('lead to where sessions last', () => {
    expect(sessionUrl(readSettings(DatabaseSettings, { DATABASE_URL }))).toBe(DATABASE_URL);
    const both = readSettings(DatabaseSettings, { DATABASE_URL, DATABASE_DIRECT_URL });
    expect(both.databaseUrl).toBe(DATABASE_URL);
    expect(sessionUrl(both)).toBe(DATABASE_DIRECT_URL);
  });

  it('are refused without what they hold', () => {
    const source = { DATABASE_URL: 'postgresql://user:hunter2@one:54x2/db' };
    const read = (): unknown => readSettings(DatabaseSettings, source);
    expect(read).toThrow('DATABASE_URL must be a URL; its host is not a name or an address');
    expect(read).not.toThrow('hunter2');
  });
});

describe('requireReplicasAtMost', () => {
  const pooled = { databaseDirectUrl: DATABASE_DIRECT_URL, redisUrl: 'redis://redis' };

  it('wants the number where replicas share limits and cannot be counted', () => {
    expect(requireReplicasAtMost({ ...pooled, replicasAtMost: 200 })).toBe(200);
    expect(() => requireReplicasAtMost(pooled)).toThrow('set REPLICAS_AT_MOST to the most');
  });

  it('leaves it unused where they are counted, or share nothing', () => {
    expect(requireReplicasAtMost({ ...pooled, redisUrl: undefined })).toBeUndefined();
    const counted = { redisUrl: 'redis://redis', replicasAtMost: 200 };
    expect(requireReplicasAtMost(counted)).toBeUndefined();
  });

  it.each(['0', '-1', '1.5', '10000', 'many', ''])('is no number of replicas: %j', (text) => {
    expect(() => REPLICAS_AT_MOST_SETTING.parse?.(text)).toThrow('from 1 to 9999');
  });
});
