/**
 * Tests that no request is lost while two replicas of the API behind a load balancer are replaced one after the other.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MintedCredential } from '#libs/signing';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { ApiProgram } from './api-program.js';
import { LoadBalancer } from './load-balancer.js';
import { SECRETS_KEY, serveIndex } from './served-index.js';
import { SnapshotLoad } from './snapshot-load.js';

/** Number of replacements of each replica. */
const ROUNDS = 2;

describe('a rolling restart', () => {
  let database: TestDatabase;
  let credential: MintedCredential;
  let replicas: ApiProgram[];

  function startReplica(port?: number): Promise<ApiProgram> {
    return ApiProgram.start({
      databaseUrl: database.url,
      secretsKey: SECRETS_KEY,
      ...(port !== undefined && { port }),
    });
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    credential = await serveIndex(database.url);
    replicas = await Promise.all([startReplica(), startReplica()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await database.drop();
  });

  it('drops no request', async () => {
    const balancer = new LoadBalancer(replicas);
    const load = new SnapshotLoad(credential, () => balancer.next());
    for (let round = 0; round < ROUNDS; round++) {
      for (const [place, replica] of [...replicas.entries()]) {
        await load.more(200, 50);
        expect(await replica.terminate()).toBe(0);
        replicas[place] = await startReplica(replica.port);
      }
    }
    await load.more(200, 50);
    await load.stop();
    await balancer.stop();
    console.info(`${load.count(200)} requests`);
    expect([...load.answers.keys()]).toEqual([200]);
  }, 240_000);
});
