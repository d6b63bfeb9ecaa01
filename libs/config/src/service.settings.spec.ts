import { describe, expect, it } from '@jest/globals';
import { DatabaseSettings, readSettings, sessionUrl } from './index.js';

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
