/**
 * Tests docker-compose.backup.yml on a real engine against docs/operating/backup.md: schedule, retention, drill, a
 * restore to a moment, and the upgrade to a newer PostgreSQL. The newer one is the image NEWER_POSTGRES; by default the
 * same version with the data folder that versions from 18 on use.
 */
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dump, load } from 'js-yaml';
import { StakingClient } from '#libs/partner-sdk';
import { shellBlocks } from '../operating/machine/shell-blocks.js';
import type { Clone } from './installation/clone.js';
import {
  configure,
  emptyInstallation,
  type Installation,
  Notes,
  removeInstallation,
  startTrial,
} from './installation/installation.js';
import type { Credential } from './installation/load.js';

/** User id of PostgreSQL and pgBackRest. */
const POSTGRES_USER = 999;
const PAGE = 'docs/operating/backup.md';
/** An encrypted repository that keeps one full backup, so that the next one expires the previous one. */
const REPOSITORY = `[global]
repo1-cipher-type=aes-256-cbc
repo1-cipher-pass=of-a-test-alone
repo1-retention-full-type=count
repo1-retention-full=1
`;

interface ComposeFile {
  readonly services: Readonly<Record<string, object>>;
  readonly networks?: object;
}

describe('continuous backups', () => {
  let installation: Installation;
  let clone: Clone;
  let notes: Notes;
  let wallet = '';
  let credential: Credential;

  const make = async (name: string): Promise<Credential> =>
    JSON.parse(await clone.lowmark(`cli partner create --name ${name} --json`)) as Credential;

  const partners = async (): Promise<string[]> => {
    const list = JSON.parse(await clone.lowmark('cli partner list --json')) as { name: string }[];
    return list.map(({ name }) => name).sort();
  };

  /** Runs statements as the owner, in the database `postgres`. */
  async function sql(...statements: readonly string[]): Promise<string> {
    const commands = statements.flatMap((statement) => ['-c', statement]);
    const psql = ['psql', '-U', 'lowmark', '-d', 'postgres', '-XAt', ...commands];
    return clone.docker('compose', 'exec', '-T', 'postgres', ...psql);
  }

  /** A time of the database's clock that has passed when the function returns. */
  async function moment(): Promise<string> {
    const query = `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    return (await sql(query, 'SELECT pg_sleep(0.1)')).split('\n')[0] ?? '';
  }

  /** The image in place of the documentation's `postgres:18`. */
  async function newerPostgres(): Promise<string> {
    const given = process.env['NEWER_POSTGRES'];
    if (given !== undefined) return given;
    const name = `${installation.project}-newer:test`;
    const [from = ''] = /^FROM \S+$/m.exec(clone.read('deploy/pgbackrest/Dockerfile')) ?? [];
    const lines = `${from}\nENV PGDATA=/var/lib/postgresql/18/docker\n`;
    await clone.dockerWith(lines, 'build', '--quiet', '--tag', name, '-');
    return name;
  }

  /** Adds the content of a block of the documentation to the operator's own override file. */
  function override(own: ComposeFile, block: string): void {
    const added = load(block) as ComposeFile;
    const services = { ...own.services, ...added.services };
    clone.write('docker-compose.override.yml', dump({ ...own, ...added, services }));
  }

  async function fullBackups(): Promise<string[]> {
    const { out } = await clone.tryLowmark('backups');
    return [...out.matchAll(/full backup: (\S+)/g)].map(([, label = '']) => label);
  }

  /** Waits for a full backup by the schedule that is not in `known`. */
  async function nextFull(known: readonly string[]): Promise<string> {
    for (;;) {
      const found = (await fullBackups()).find((label) => !known.includes(label));
      if (found !== undefined) return found;
      await sleep(1000);
    }
  }

  async function answers(): Promise<void> {
    const { apiUrl: baseUrl } = installation;
    const client = new StakingClient({ baseUrl, ...credential, retries: 60, timeoutMs: 120_000 });
    expect(await client.snapshots(wallet)).toMatchObject({ walletAddress: wallet });
  }

  beforeAll(async () => {
    notes = new Notes();
    installation = await emptyInstallation();
    ({ clone } = installation);
    wallet = await startTrial(installation);
    await configure(installation);
    await clone.lowmark('up');
    credential = await make('Arena');
    await answers();
    notes.write('it runs, without continuous backups');
  });

  afterAll(async () => {
    await removeInstallation(installation);
  });

  it('says how to begin them', async () => {
    for (const words of ['backups', 'drill', 'restore --to latest']) {
      const { code, err } = await clone.tryLowmark(words);
      expect(code).not.toBe(0);
      expect(err).toContain('docs/operating/backup.md#continuous-backups');
    }
  });

  it('begin with a setting, by themselves, in a repository that is encrypted', async () => {
    const folder = join(dirname(clone.folder), 'backups');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'repository.conf'), REPOSITORY);
    chmodSync(join(folder, 'repository.conf'), 0o400);
    for (const path of [folder, join(folder, 'repository.conf')]) {
      chownSync(path, POSTGRES_USER, POSTGRES_USER);
    }
    const files = ['docker-compose.yml', 'docker-compose.backup.yml'];
    const settings = [`BACKUP_DIR=${folder}`, `BACKUP_IMAGE=${installation.project}-postgres:test`];
    const env = clone.read('.env');
    clone.write('.env', `${env}${settings.join('\n')}\nCOMPOSE_FILE=${files.join(':')}\n`);
    // COMPOSE_FILE excludes docker-compose.override.yml, and `up` reports this.
    const refused = await clone.tryLowmark('up');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('docker-compose.override.yml');
    const all = [...files, 'docker-compose.override.yml'].join(':');
    clone.write('.env', `${env}${settings.join('\n')}\nCOMPOSE_FILE=${all}\n`);
    await clone.lowmark('up');
    notes.write('continuous backups are on');
    const first = await nextFull([]);
    expect(await clone.lowmark('backups')).toMatch(
      /cipher: aes-256-cbc[\s\S]*Restores may go to any/,
    );
    notes.write(`the first backup is there: ${first}`);
    await answers();
  });

  it('keep as many as the repository is told', async () => {
    const known = await fullBackups();
    await clone.lowmark('backups run full');
    const now = await fullBackups();
    expect(now).toHaveLength(1);
    expect(known).not.toContain(now[0]);
    await clone.lowmark('backups run diff');
    expect(await clone.lowmark('backups')).toContain('diff backup: ');
  });

  it('are restored beside the database by the drill', async () => {
    const { code, err } = await clone.tryLowmark('drill');
    notes.write(err.trim().split('\n').slice(-4).join(' | '));
    expect(err).toContain('the drill found no damage');
    expect(code).toBe(0);
    expect(await clone.lowmark('ps --all --quiet drill')).toBe('');
  });

  it('go back to a moment, and forward again to what that undid', async () => {
    await make('Before');
    const time = await moment();
    await make('After');
    const known = await fullBackups();
    expect(await partners()).toEqual(['After', 'Arena', 'Before']);
    const startedMs = performance.now();
    await clone.lowmark(`restore --to ${time}`);
    notes.write(`restore --to ${time}: ${Math.round(performance.now() - startedMs)} ms`);
    expect(await partners()).toEqual(['Arena', 'Before']);
    const second = time.replace(/\.\d+/, '');
    const lost = `--lost-since ${second} --voucher-ttl 1800`;
    await clone.lowmark(`cli ledger restored ${lost} --yes`);
    await clone.lowmark('up --no-build');
    await answers();
    await nextFull(known);
    notes.write('a full backup followed');
    await clone.lowmark('doctor');
  });

  it('are no part of a dump that is restored, and of the way back from it', async () => {
    const inDump = await partners();
    await clone.lowmark('backup backups/a.dump');
    await make('Late');
    const all = await partners();
    const { code, err } = await clone.tryLowmark('restore backups/a.dump');
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toContain('Next: ./lowmark cli ledger restored');
    const marks = 'SELECT count(*) FROM redemption.unnoted_restore';
    const psql = ['psql', '-U', 'lowmark', '-XAtc', marks];
    expect(await clone.docker('compose', 'exec', '-T', 'postgres', ...psql)).toBe('1');
    expect(await partners()).toEqual(inDump);
    const [before = ''] = /lowmark_before_\w+/.exec(err) ?? [];
    await sql(
      'ALTER DATABASE lowmark RENAME TO lowmark_restored',
      `ALTER DATABASE ${before} RENAME TO lowmark`,
    );
    await clone.lowmark('up --no-build');
    expect(await partners()).toEqual(all);
    await answers();
    await sql('DROP DATABASE lowmark_restored');
    notes.write('a dump was restored, and the database of before is back');
  });

  it('begin again with a newer PostgreSQL', async () => {
    const image = await newerPostgres();
    const all = await partners();
    const page = readFileSync(PAGE, 'utf8').split('## A newer PostgreSQL')[1] ?? '';
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) =>
      block.replaceAll('postgres:18', image),
    );
    const [first = '', second = ''] = blocks;
    const check = shellBlocks(PAGE).find(({ code }) => code.includes('vacuumdb'))?.code ?? '';
    const own = load(clone.read('docker-compose.override.yml')) as ComposeFile;
    const env = clone.read('.env');
    await clone.lowmark('stop console redemption api indexer');
    await clone.lowmark('backup backups/newer.dump');
    await clone.lowmark('stop backups');
    clone.write('.env', env.replace(/^COMPOSE_FILE=.*\n/m, ''));
    override(own, first);
    await clone.lowmark('restore --nothing-lost backups/newer.dump');
    await clone.block(check);
    const id = await clone.lowmark('ps --quiet postgres');
    const volumes = await clone.docker('inspect', '--format', '{{json .Mounts}}', id.trim());
    expect(volumes).toContain(`${installation.project}_postgres18`);
    await answers();
    notes.write(`on ${image}: ${await sql('SELECT version()')}`);

    const repository = join(dirname(clone.folder), 'backups/repository.conf');
    writeFileSync(repository, `${REPOSITORY}repo1-path=/var/lib/pgbackrest/18\n`);
    const dockerfile = 'deploy/pgbackrest/Dockerfile';
    clone.write(dockerfile, clone.read(dockerfile).replace(/^FROM \S+$/m, `FROM ${image}`));
    override(own, second);
    clone.write('.env', env);
    await clone.lowmark('up');
    await nextFull([]);
    expect(await partners()).toEqual(all);
    await clone.lowmark('drill');
    notes.write('the drill found no damage');
    await clone.lowmark('restore --nothing-lost --to latest');
    await clone.lowmark('up --no-build');
    expect(await partners()).toEqual(all);
    await answers();
  });
});
