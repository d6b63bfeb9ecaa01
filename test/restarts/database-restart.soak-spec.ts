/** Tests that the API answers with a signed 503 while PostgreSQL is down under load, and recovers without a restart. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';
import { type MintedCredential } from '#libs/signing';
import { ApiProgram } from './api-program.js';
import { SECRETS_KEY, serveIndex } from './served-index.js';
import { SnapshotLoad } from './snapshot-load.js';

/** Number of kills of PostgreSQL. */
const KILLS = 5;

describe('PostgreSQL killed under load', () => {
  let folder: string;
  let postgres: EmbeddedPostgres;
  let databaseUrl: string;
  let password: string | undefined;
  let credential: MintedCredential;
  let api: ApiProgram;

  async function start(settings: Record<string, string>): Promise<EmbeddedPostgres> {
    return EmbeddedPostgres.start({
      directory: join(folder, 'data'),
      logFile: join(folder, 'postgres.log'),
      password,
      initdbFlags: ['--no-sync'],
      settings: { fsync: 'off', ...settings },
    });
  }

  /** Restarts the same database on the same port, as soon as the processes of the killed server have ended. */
  async function restart(): Promise<EmbeddedPostgres> {
    const { port } = new URL(databaseUrl);
    for (let tries = 1; ; tries++) {
      try {
        return await start({ port });
      } catch (error) {
        if (tries === 50) throw error;
        await sleep(200);
      }
    }
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lowmark-restart-'));
    await chmod(folder, 0o755);
    postgres = await start({});
    databaseUrl = postgres.url;
    ({ password } = new URL(databaseUrl));
    await migrate(databaseUrl);
    credential = await serveIndex(databaseUrl);
    api = await ApiProgram.start({ databaseUrl, secretsKey: SECRETS_KEY });
  });
  afterAll(async () => {
    await api.kill();
    await postgres.stop();
    await rm(folder, { recursive: true });
  });

  it('is a signed 503 for as long as it is away, and nothing else; then snapshots come again', async () => {
    const load = new SnapshotLoad(credential, () => api.url);
    for (let kill = 0; kill < KILLS; kill++) {
      await load.more(200);
      process.kill(postgres.process.pid ?? 0, 'SIGKILL');
      await postgres.process.ended;
      await load.more(503);
      // One reading of the database serves all requests within a second.
      while (await api.isReady()) await sleep(100);
      postgres = await restart();
      const startedAtMs = Date.now();
      await load.more(200, 1);
      console.info(`serves ${Date.now() - startedAtMs} ms after PostgreSQL is ready`);
    }
    await load.more(200);
    await load.stop();
    expect([...load.answers.keys()].sort()).toEqual([200, 503]);
    while (!(await api.isReady())) await sleep(100);
    expect(api.isRunning).toBe(true);
  }, 240_000);
});
