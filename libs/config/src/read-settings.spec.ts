import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { IsInt } from 'class-validator';
import {
  base64Key,
  commaList,
  DatabaseSettings,
  naturalBigInt,
  readSettings,
  REDIS_URL_SETTING,
  sessionUrl,
  Setting,
  SettingsError,
  type SettingsSource,
  url,
} from './index.js';

class Sample {
  @Setting({ description: 'where', secret: true, parse: url('postgresql') })
  readonly databaseUrl!: string;

  @Setting({ description: 'port', default: '3000', min: 0, max: 65_535 })
  @IsInt()
  readonly apiPort!: number;

  @Setting({ description: 'flag', default: 'false' })
  readonly verbose!: boolean;

  @Setting({ description: 'name', optional: true })
  readonly tokenSymbol?: string;

  @Setting({ description: 'digits', optional: true, max: 36 })
  @IsInt()
  readonly tokenDecimals?: number;

  @Setting({ description: 'first block', default: '0', parse: naturalBigInt })
  readonly startBlock!: bigint;
}

const DATABASE_URL = 'postgresql://user:hunter2@127.0.0.1/db';

function faultsOf(source: SettingsSource): Record<string, string> {
  try {
    readSettings(Sample, source);
  } catch (error) {
    if (error instanceof SettingsError) return Object.fromEntries(error.faults);
    throw error;
  }
  return {};
}

describe('readSettings', () => {
  it('reads, converts and fills in defaults', () => {
    expect(
      readSettings(Sample, { DATABASE_URL, VERBOSE: 'true', START_BLOCK: '123456789012345678' }),
    ).toEqual({
      databaseUrl: DATABASE_URL,
      apiPort: 3000,
      verbose: true,
      tokenSymbol: undefined,
      tokenDecimals: undefined,
      startBlock: 123456789012345678n,
    });
  });

  it('takes an empty variable as absent', () => {
    expect(readSettings(Sample, { DATABASE_URL, API_PORT: '', TOKEN_DECIMALS: '' }).apiPort).toBe(
      3000,
    );
    expect(faultsOf({ DATABASE_URL: '' })).toEqual({ DATABASE_URL: 'must be set' });
  });

  it('names every wrong variable at once with what is expected', () => {
    expect(
      faultsOf({ DATABASE_URL: 'mysql://x', API_PORT: '70000', VERBOSE: 'yes', START_BLOCK: '-1' }),
    ).toEqual({
      DATABASE_URL: 'must be a URL that starts with postgresql://',
      API_PORT: 'must not be greater than 65535',
      VERBOSE: 'must be true or false',
      START_BLOCK: 'must be a whole number, zero or more',
    });
    expect(faultsOf({ DATABASE_URL, TOKEN_DECIMALS: '1.5' })).toEqual({
      TOKEN_DECIMALS: 'must be an integer number',
    });
  });

  it('takes the smallest and the largest number, and none beyond them', () => {
    for (const port of ['0', '65535']) {
      expect(readSettings(Sample, { DATABASE_URL, API_PORT: port }).apiPort).toBe(Number(port));
    }
    expect(faultsOf({ DATABASE_URL, API_PORT: '-1', TOKEN_DECIMALS: '37' })).toEqual({
      API_PORT: 'must not be less than 0',
      TOKEN_DECIMALS: 'must not be greater than 36',
    });
  });

  it.each(['0x10', '1e3', ' 1', '', 'NaN', 'Infinity', '+1', '1_000'])(
    'never takes %j for a number',
    (text) => {
      const faults = faultsOf({ DATABASE_URL, TOKEN_DECIMALS: text });
      expect(faults).toEqual(text === '' ? {} : { TOKEN_DECIMALS: 'must be a number' });
    },
  );

  it('never shows a value', () => {
    const values = { DATABASE_URL: 'hunter2', API_PORT: 'hunter2', START_BLOCK: 'hunter2' };
    expect(() => readSettings(Sample, values)).toThrow(SettingsError);
    expect(() => readSettings(Sample, values)).not.toThrow(/hunter2/);
  });

  it('leaves out what Windows adds to a value and to the file of a secret', () => {
    const given = { DATABASE_URL: `${DATABASE_URL}\r`, VERBOSE: 'true\r', API_PORT: '\r' };
    expect(readSettings(Sample, given)).toMatchObject({ databaseUrl: DATABASE_URL, verbose: true });
    const path = join(mkdtempSync(join(tmpdir(), 'settings-')), 'secret');
    writeFileSync(path, `\uFEFF${DATABASE_URL}\r\n`);
    expect(readSettings(Sample, { DATABASE_URL_FILE: path }).databaseUrl).toBe(DATABASE_URL);
  });

  it('reads a secret from the file that NAME_FILE names, without its last line break', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'settings-')), 'url');
    writeFileSync(path, `${DATABASE_URL}\n`);
    expect(readSettings(Sample, { DATABASE_URL_FILE: path }).databaseUrl).toBe(DATABASE_URL);
    expect(faultsOf({ DATABASE_URL, DATABASE_URL_FILE: path })).toEqual({
      DATABASE_URL: 'is set twice: keep either DATABASE_URL or DATABASE_URL_FILE',
    });
    expect(faultsOf({ DATABASE_URL_FILE: '/nowhere' })).toEqual({
      DATABASE_URL: 'cannot be read from the file that DATABASE_URL_FILE names (ENOENT)',
    });
    expect(faultsOf({ DATABASE_URL_FILE: '/run/lowmark/secrets/database_url' })).toEqual({
      DATABASE_URL:
        'cannot be read from the file that DATABASE_URL_FILE names, which is not there: ./lowmark secret set database_url',
    });
    writeFileSync(path, '\n');
    expect(faultsOf({ DATABASE_URL_FILE: path })).toEqual({
      DATABASE_URL: 'is empty in the file that DATABASE_URL_FILE names',
    });
    expect(faultsOf({ DATABASE_URL, API_PORT_FILE: path })).toEqual({});
  });
});

describe('parsers', () => {
  it('splits lists and refuses holes in them', () => {
    expect(commaList('a, b,c ')).toEqual(['a', 'b', 'c']);
    expect(() => commaList('a,,b')).toThrow('must be a list separated by commas');
  });

  it('takes a key of the exact size only', () => {
    const key = Buffer.alloc(32, 7);
    expect(base64Key(32)(key.toString('base64'))).toEqual(key);
    expect(() => base64Key(32)(key.toString('hex'))).toThrow('must be 32 bytes in base64');
    expect(() => base64Key(32)(`${key.toString('base64')}\n`)).toThrow('must be 32 bytes');
  });
});

it('the URL for sessions is the direct one where there is one', () => {
  expect(sessionUrl(readSettings(DatabaseSettings, { DATABASE_URL }))).toBe(DATABASE_URL);
  const DATABASE_DIRECT_URL = 'postgresql://user:hunter2@one:5432/db';
  const both = readSettings(DatabaseSettings, { DATABASE_URL, DATABASE_DIRECT_URL });
  expect([both.databaseUrl, sessionUrl(both)]).toEqual([DATABASE_URL, DATABASE_DIRECT_URL]);
});

it('REDIS_URL says how a percent sign is written, and does not repeat the password', () => {
  const read = () => REDIS_URL_SETTING.parse?.('redis://:hunter%s2@127.0.0.1');
  expect(read).toThrow('% is written as %25');
  expect(read).not.toThrow('hunter');
});
