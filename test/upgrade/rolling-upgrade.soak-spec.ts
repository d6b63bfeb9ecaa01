/**
 * Tests two replicas of the API under load while the next version replaces them, including the migration and the way
 * back. Needs a build.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MintedCredential } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { ApiProgram } from '../restarts/api-program.js';
import { LoadBalancer } from '../restarts/load-balancer.js';
import { SECRETS_KEY, serveIndex } from '../restarts/served-index.js';
import { SnapshotLoad } from '../restarts/snapshot-load.js';
import { NextVersion, program } from './next-version.js';

const NAME = 'Wider9000000000000';
/** Locks the tables that every request reads for a second: requests wait, and are then answered. */
const SQL = `ALTER TABLE staking.index_state ADD COLUMN wider int NOT NULL DEFAULT 0;
  ALTER TABLE staking.balance_day ADD COLUMN wider int NOT NULL DEFAULT 0;
  ALTER TABLE partners.credential ADD COLUMN wider int NOT NULL DEFAULT 0;
  SELECT pg_sleep(1)`;

describe('a rolling upgrade', () => {
  let next: NextVersion;
  let database: TestDatabase;
  let credential: MintedCredential;
  let replicas: ApiProgram[];

  function startReplica(more: { port?: number; folder?: string } = {}): Promise<ApiProgram> {
    return ApiProgram.start({
      databaseUrl: database.url,
      secretsKey: SECRETS_KEY,
      ...more,
    });
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    [next, credential] = await Promise.all([
      NextVersion.make({ name: NAME, sql: SQL, olderMayStart: true }),
      serveIndex(database.url),
    ]);
    replicas = await Promise.all([startReplica(), startReplica()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await Promise.all([database.drop(), next.remove()]);
  });

  /** The output of a replica of the old version that is started now. */
  async function refused(): Promise<string> {
    const environment = { DATABASE_URL: database.url, SECRETS_KEY, API_PORT: '0' };
    const { how, output } = await program('api', [], environment).ended;
    expect(how).toBe(1);
    return output;
  }

  it('drops no request: neither the migration, nor the new programs, nor the way back', async () => {
    const balancer = new LoadBalancer(replicas);
    const load = new SnapshotLoad(credential, () => balancer.next());
    const replace = async (folder: string): Promise<void> => {
      for (const [place, replica] of replicas.entries()) {
        await load.more(200, 50);
        expect(await replica.terminate()).toBe(0);
        replicas[place] = await startReplica({ port: replica.port, folder });
      }
      await load.more(200, 50);
    };
    await load.more(200, 50);
    const applied = { how: 0, output: `Applied 1: ${NAME}\n` };
    expect(await next.migrate(database.url).ended).toEqual(applied);
    // The old replicas continue, but one that ends cannot start again.
    await load.more(200, 200);
    expect(await refused()).toContain('SCHEMA_NEWER');
    await replace(next.folder);
    expect(await next.migrate(database.url, '--let-older-start', NAME).ended).toEqual({
      how: 0,
      output: `Programs that do not know ${NAME} may start, until \`migrate\` is run again.\n`,
    });
    const old = program('cli', ['migrate'], { DATABASE_URL: database.url });
    expect(await old.ended).toEqual({ how: 0, output: 'The schema is up to date.\n' });
    await replace('.');
    await load.stop();
    await balancer.stop();
    console.info(`${load.count(200)} requests`);
    expect([...load.answers.keys()]).toEqual([200]);
    expect(await next.migrate(database.url).ended).toMatchObject({ how: 0 });
    expect(await refused()).toContain('SCHEMA_NEWER');
  }, 240_000);
});
