/** docker-compose.backup.yml on a real engine, as docs/operating/backup.md has it: schedule, retention, drill, and back to a moment. */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StakingClient } from '#libs/partner-sdk';
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

/** As which PostgreSQL and pgBackRest run. */
const POSTGRES_USER = 999;
/** Encrypted; one full backup is kept, so that the next one lets it expire. */
const REPOSITORY = `[global]
repo1-cipher-type=aes-256-cbc
repo1-cipher-pass=of-a-test-alone
repo1-retention-full-type=count
repo1-retention-full=1
`;

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

  /** The time of the database, when it has passed. */
  async function moment(): Promise<string> {
    const query = `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const psql = ['psql', '-U', 'lowmark', '-XAtc', query, '-c', 'SELECT pg_sleep(0.1)'];
    const words = ['compose', 'exec', '-T', 'postgres', ...psql];
    return (await clone.docker(...words)).split('\n')[0] ?? '';
  }

  async function fullBackups(): Promise<string[]> {
    const { out } = await clone.tryLowmark('backups');
    return [...out.matchAll(/full backup: (\S+)/g)].map(([, label = '']) => label);
  }

  /** A full backup that is none of these, which the schedule makes. */
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
    // What is in docker-compose.override.yml is not read any more, which is said.
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
});
