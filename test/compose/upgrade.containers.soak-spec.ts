/**
 * Tests `./lowmark upgrade` under load, from an older version to this working tree and back, against
 * docs/operating/upgrade.md. The older version is the commit UPGRADE_FROM; by default the last commit. The newer one has
 * a migration more, which the test adds.
 */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StakingClient } from '#libs/partner-sdk';
import type { Clone } from './installation/clone.js';
import {
  configure,
  containersOf,
  emptyInstallation,
  imageOf,
  type Installation,
  Notes,
  removeInstallation,
  startTrial,
} from './installation/installation.js';
import { type Credential, Load } from './installation/load.js';
import { addMigration, FAILING, NEXT, setMigrations } from './installation/next-migration.js';

const REQUESTS = 10_000;
const PROGRAMS = ['api', 'indexer', 'redemption', 'console'];
const DATA = ['postgres', 'redis'];

describe('./lowmark upgrade from an older version', () => {
  let installation: Installation;
  let clone: Clone;
  let load: Load;
  let notes: Notes;
  let older = '';
  let olderImage = '';
  let data: string[];
  let applied: string[];

  beforeAll(async () => {
    notes = new Notes();
    const commit = process.env['UPGRADE_FROM'] ?? 'HEAD';
    older = execFileSync('git', ['rev-parse', '--short', commit], { encoding: 'utf8' }).trim();
    installation = await emptyInstallation(older);
    ({ clone } = installation);
  });

  afterAll(async () => {
    await (load as Load | undefined)?.stop();
    await removeInstallation(installation);
  });

  /** Acts while the load continues, and expects no bad answer until then. */
  async function underLoad(words: string, act: () => Promise<unknown>): Promise<void> {
    const startedMs = performance.now();
    load.during = words;
    await act();
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    notes.write(`${words}: ${seconds} s; ${load.figures()}`);
    expect([...load.bad]).toEqual([]);
  }

  it('starts the older one, which answers', async () => {
    const wallet = await startTrial(installation);
    await configure(installation);
    await clone.lowmark('up');
    const made = await clone.lowmark(
      'cli partner create --name Arena --rate 1000 --burst 20000 --json',
    );
    const credential = JSON.parse(made) as Credential;
    const client = { baseUrl: installation.apiUrl, ...credential, retries: 60, timeoutMs: 120_000 };
    await new StakingClient(client).snapshots(wallet);
    load = new Load({ ...installation, wallet, credential });
    await load.until(100);
    expect([...load.bad]).toEqual([]);
    olderImage = await imageOf(clone, 'api');
    data = await containersOf(clone, DATA);
    notes.write(`${older} runs`);
  });

  it('leaves everything running where the migration fails, and tries none by halves', async () => {
    const running = await containersOf(clone, [...PROGRAMS, ...DATA]);
    await clone.checkOut();
    addMigration(clone, NEXT);
    const migrations = addMigration(clone, FAILING);
    const before = await migrationsOf(clone);
    await underLoad('an upgrade whose migration fails', async () => {
      const { code, err } = await clone.tryLowmark('upgrade');
      expect(code).not.toBe(0);
      expect(err).toContain('the migration failed');
    });
    expect(await containersOf(clone, [...PROGRAMS, ...DATA])).toEqual(running);
    expect(await migrationsOf(clone)).toEqual(before);
    setMigrations(clone, migrations);
  });

  it('upgrades', async () => {
    const before = await migrationsOf(clone);
    await underLoad('./lowmark upgrade', () => clone.lowmark('upgrade'));
    applied = (await migrationsOf(clone)).filter((name) => !before.includes(name));
    notes.write(`applied ${applied.length}: ${applied.join(', ')}`);
    expect(applied).not.toEqual([]);
    for (const service of PROGRAMS) expect(await imageOf(clone, service)).not.toBe(olderImage);
    expect(await containersOf(clone, DATA)).toEqual(data);
    await clone.lowmark('doctor');
  });

  it('goes back, as the page says', async () => {
    const words = ['compose', 'run', '--rm', '--no-deps', 'migrate'];
    const program = ['node', 'dist/apps/cli/src/main.js', 'migrate', '--let-older-start'];
    await clone.docker(...words, ...program, ...applied);
    await clone.checkOut(older);
    await underLoad('./lowmark back', () => clone.lowmark('back'));
    for (const service of PROGRAMS) expect(await imageOf(clone, service)).toBe(olderImage);
    expect(await containersOf(clone, DATA)).toEqual(data);
  });

  it('upgrades again', async () => {
    await clone.checkOut();
    addMigration(clone, NEXT);
    await underLoad('./lowmark upgrade, again', () => clone.lowmark('upgrade'));
    for (const service of PROGRAMS) expect(await imageOf(clone, service)).not.toBe(olderImage);
    await load.until(REQUESTS);
    await load.stop();
    notes.write(load.figures());
    expect([...load.bad]).toEqual([]);
    expect(load.snapshots).toBeGreaterThanOrEqual(REQUESTS);
  });
});

/** The names of the applied migrations. */
async function migrationsOf(clone: Clone): Promise<string[]> {
  const query = ['-XAtc', 'SELECT name FROM lowmark.migration ORDER BY name'];
  const psql = ['psql', '-U', 'lowmark', '-d', 'lowmark', ...query];
  return (await clone.docker('compose', 'exec', '-T', 'postgres', ...psql)).split('\n');
}
