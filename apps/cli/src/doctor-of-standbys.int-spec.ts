import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '#libs/platform';
import {
  createTestDatabase,
  eventually,
  ReplicatedPostgres,
  type ReplicatedServer,
} from '#libs/testing';
import { runCli } from './cli.js';
import { type Finding } from '#libs/doctor';

let postgres: ReplicatedPostgres;
let [standby, promoted]: ReplicatedServer[] = [];
beforeAll(async () => {
  postgres = await ReplicatedPostgres.start(2);
  [standby, promoted] = postgres.standbys;
});
afterAll(() => postgres.stop());

/** The doctor's finding about a single standby; checks that the output does not contain its password. */
async function finding(url: string, primary: string = postgres.primary.urlAs('cli')) {
  let [printed, err] = ['', ''];
  const terminal = {
    out: (text: string) => void (printed += text),
    err: (text: string) => void (err += text),
  };
  const source = () => ({
    DATABASE_URL: primary,
    DATABASE_READ_URLS: url,
    READ_MAX_LAG_SECONDS: '1',
  });
  await runCli(['doctor', '--json'], terminal, source, systemClock);
  expect(printed + err).not.toContain('test_api');
  const { findings } = JSON.parse(printed) as { findings: Finding[] };
  const found = findings.filter(({ what }) => what === `standby ${new URL(url).host}`);
  expect(found).toHaveLength(1);
  return found[0] as Finding;
}

const urlOf = (server: ReplicatedServer | undefined): string => server?.urlAs('api') ?? '';

describe('doctor on a standby', () => {
  it('that is as it should be', async () => {
    expect(await finding(urlOf(standby))).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^has what the primary had \d+ ms ago$/),
    });
  });

  it('that lags', async () => {
    await standby?.query('SELECT pg_wal_replay_pause()');
    await postgres.primary.query('CREATE TABLE something AS SELECT 1');
    expect(await finding(urlOf(standby))).toMatchObject({
      state: 'warning',
      found: expect.stringMatching(/^lags \d+ bytes of the log/),
      mend: expect.stringContaining('pg_stat_replication'),
    });
    await standby?.query('SELECT pg_wal_replay_resume()');
  });

  it('that belongs to another primary', async () => {
    const other = await createTestDatabase();
    try {
      const state = { state: 'warning', found: expect.stringContaining('another primary') };
      expect(await finding(urlOf(standby), other.urlAs('cli'))).toMatchObject(state);
    } finally {
      await other.drop();
    }
  });

  it('that was promoted, and one that is away', async () => {
    await promoted?.query('SELECT pg_promote()');
    await eventually(async () => {
      const rows = await promoted?.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
      return rows?.[0]?.is === false;
    });
    const found = expect.stringContaining('is no standby');
    expect(await finding(urlOf(promoted))).toMatchObject({ state: 'warning', found });
    await promoted?.stop();
    expect(await finding(urlOf(promoted))).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('ECONNREFUSED'),
      mend: expect.stringContaining('Start the standby'),
    });
  });
});
