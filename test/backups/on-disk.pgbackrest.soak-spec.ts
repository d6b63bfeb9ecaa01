/** Tests the scripts of deploy/pgbackrest on a real server against docs/operating/backup.md. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, IndexStore, migrate, RedemptionStore } from '#libs/db';
import { anInitialIndex } from '#libs/testing/database';
import { aKey, aNewRedemption, someLimits } from '../../libs/db/src/redemption/testing/builders.js';
import { BackedUpServer } from './backed-up-server.js';

const MINUTES_MS = 120_000;
const ENCRYPTED = 'repo1-cipher-type=aes-256-cbc\nrepo1-cipher-pass=of-a-test-alone\n';
/** Retention set by the operator, in place of the default of 30 days. */
const RETENTION = 'repo1-retention-full-type=count\nrepo1-retention-full=9\n';

describe('continuous backups', () => {
  let server: BackedUpServer;

  const marks = (): Promise<string> =>
    server.ask(`SELECT coalesce(string_agg(name, ',' ORDER BY name), '') FROM mark`);
  const mark = async (name: string): Promise<void> => {
    await server.ask(`INSERT INTO mark VALUES ('${name}')`);
  };

  /** The current time of the server's clock. Later writes have a later time. */
  async function moment(): Promise<string> {
    const now = await server.ask(
      `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    );
    await sleep(20);
    return now;
  }

  beforeAll(async () => {
    server = await BackedUpServer.start(
      (folder) => `[global]\nrepo1-path=${folder}\n${ENCRYPTED}${RETENTION}`,
    );
    await migrate(server.url, { stakeSets: ['golf'] });
    await server.ask('CREATE TABLE public.mark (name text PRIMARY KEY)');
    const database = await createDatabase({ url: server.url, applicationName: 'test' });
    for (const set of ['default', 'golf'])
      await new IndexStore(database.inSet(set)).create(anInitialIndex());
    const store = new RedemptionStore(database);
    for (const open of [aNewRedemption(), aNewRedemption()])
      await store.create(open, aKey(), someLimits());
    await database.close();
  }, MINUTES_MS);
  afterAll(() => server.remove());

  it('say that there is none yet', async () => {
    const list = await server.script('backups.sh', 'list');
    expect([list.code, list.err]).toEqual([1, 'backups: there is no backup yet.\n']);
    const { code, err } = await server.script('restore.sh', 'check', '--to', 'latest');
    expect(err).toContain('there is no backup in the repository: see docs/operating/backup.md');
    expect(code).toBe(1);
  });

  it('begin by themselves, and tell Prometheus', async () => {
    await server.nextFull([]);
    const { code, out } = await server.script('backups.sh', 'list');
    expect(code).toBe(0);
    expect(out).toMatch(/cipher: aes-256-cbc/);
    expect(out).toMatch(/Restores may go to any moment since \d{4}-\S+Z\./);
    expect(out).toMatch(/Archived last: \d{4}-\S+Z, timeline 1/);
    expect(readFileSync(server.path('textfiles/archive.prom'), 'utf8')).toMatch(
      /^lowmark_archive_waiting_seconds \d+\n$/,
    );
  });

  it.each([
    ['yesterday', /yesterday is no time in UTC such as/],
    ['2026-13-01T00:00:00Z', /2026-13-01T00:00:00Z is no time in UTC/],
    ['2020-01-01T00:00:00Z', /the oldest backup is of \S+: 2020-01-01T00:00:00Z cannot be gone/],
    ['2199-01-01T00:00:00Z', /2199-01-01T00:00:00Z has not come yet/],
  ])('cannot be gone back to %s', async (time, why) => {
    const { code, err } = await server.script('restore.sh', 'check', '--to', time);
    expect(code).toBe(1);
    expect(err).toMatch(why);
  });

  it.each([
    [['--until', 'latest'], /unknown: --until/],
    [['--to'], /--to needs a value/],
    [['--timeline', '1; rm'], /1; rm is no number of a timeline/],
  ])('refuse the words %j', async (words, why) => {
    const { code, err } = await server.script('restore.sh', 'check', ...words);
    expect(code).toBe(1);
    expect(err).toMatch(why);
  });

  it('are not restored over a server that runs', async () => {
    const { code, err } = await server.script('restore.sh', 'files', '--to', 'latest');
    expect(code).toBe(1);
    expect(err).toContain('PostgreSQL runs: stop it first.');
  });

  it('are restored beside the server by the drill, whole', async () => {
    await mark('drilled');
    await server.ask('SELECT pg_switch_wal()');
    const { code, err } = await server.script('drill.sh');
    expect(err).toMatch(/restored in \d+ s, checked in \d+ s: no damage\./);
    expect(err).toContain('redemptions: 2, of them open: 2, in attention: 0');
    expect(code).toBe(0);
    expect(await marks()).toBe('drilled');
  });

  it('go back to a moment, and forward again to what that undid', async () => {
    const known = await server.fullBackups();
    const generations = async (): Promise<string[]> =>
      Promise.all(
        ['staking', 'stakes_golf'].map((schema) =>
          server.ask(`SELECT generation FROM ${schema}.index_state`),
        ),
      );
    const before = await generations();
    await mark('kept');
    const time = await moment();
    await mark('undone');
    const later = await moment();
    await mark('later');
    await server.stop();
    await server.restore('--to', time);
    expect(await marks()).toBe('drilled,kept');
    // The cache may hold index data from after that moment, so the generation must differ.
    const [own, golf] = await generations();
    expect(own).not.toBe(before[0]);
    expect(golf).not.toBe(before[1]);
    expect(await server.ask('SELECT noticed FROM redemption.unnoted_restore')).toBe(
      'restored from a backup',
    );
    const full = await server.nextFull(known);
    await server.stop();
    await server.restore('--to', later, '--timeline', '1', '--set', known[0] ?? '');
    expect(await marks()).toBe('drilled,kept,undone');
    await server.nextFull([...known, full]);
  });

  it('have the last transaction of a server that was killed', async () => {
    await mark('last');
    await server.kill();
    expect(await server.restore('--to', 'latest')).toMatch(
      /not all was archived \(in production\): kept/,
    );
    expect(await marks()).toContain('last');
    expect(readdirSync(server.path('repository/kept'))).toHaveLength(1);
    await server.nextFull(await server.fullBackups());
  });

  it('miss nothing where a second machine receives each commit, and the disk is lost', async () => {
    const page = readFileSync('docs/operating/backup.md', 'utf8');
    const [, sql = ''] = /```sql\n(CREATE ROLE lowmark_receiver[\s\S]*?)```/.exec(page) ?? [];
    const [, receiver = ''] = /```text\npg_receivewal ([\s\S]*?)```/.exec(page) ?? [];
    // In production `migrate` of the cli creates the programs' users.
    await server.ask('CREATE ROLE lowmark_indexer');
    for (const statement of sql.replace(/^--.*$/gm, '').split(';')) {
      if (statement.trim() !== '') await server.ask(statement.replace('…', 'receiver'));
    }
    const options = receiver
      .replace('/srv/lowmark-wal', server.path('received'))
      .replace('host=db.example', 'password=receiver')
      .replace(' sslmode=verify-full', '');
    const words = [...options.matchAll(/'([^']*)'|(\S+)/g)].map((one) => one[1] ?? one[2] ?? '');
    const received = await server.receive(words);
    await mark('received');
    await server.kill();
    await received.stop();
    await server.loseDisk();
    await server.restore('--to', 'latest');
    expect(await marks()).toContain('received');
    expect(await server.ask('SHOW synchronous_standby_names')).toBe('');
  });

  it('do not pass the drill with a ledger that contradicts itself', async () => {
    const quietly = 'SET session_replication_role = replica';
    await server.ask(`${quietly}; DELETE FROM redemption.transition`);
    await server.nextFull(await server.fullBackups());
    const { code, err } = await server.script('drill.sh');
    expect(err).toMatch(
      /redemptions that are not where their history ends: 2[\s\S]*FAILED: the rows/,
    );
    expect(code).toBe(1);
  });
});
