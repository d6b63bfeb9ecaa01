/**
 * Tests that no request is lost while two replicas of the redemption service behind a load balancer are replaced one
 * after the other.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { FakeClock } from '#libs/testing/clock';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { FakePartner } from '#libs/testing/partner';
import { VaultBench } from '#libs/testing/vault';
import {
  addPartner,
  addPrice,
  openSession,
  SECRETS_KEY,
} from '../../apps/redemption/src/testing/redemption-harness.support.js';
import { LoadBalancer } from './load-balancer.js';
import { RedemptionLoad, type LoadUser } from './redemption-load.js';
import { RedemptionProgram } from './redemption-program.js';

const USERS_A_ROUND = 600;
const POINTS = 1000;

/** Number of replacements of each replica. */
const ROUNDS = 1;

describe('a rolling restart', () => {
  let database: TestDatabase;
  let db: Database;
  let bench: VaultBench;
  let game: FakePartner;
  let users: LoadUser[];
  const replicas: RedemptionProgram[] = [];

  function startReplica(port?: number): Promise<RedemptionProgram> {
    return RedemptionProgram.start({
      databaseUrl: database.url,
      secretsKey: SECRETS_KEY,
      bench,
      ...(port !== undefined && { port }),
    });
  }

  /** Users with points and a session each. */
  async function signedIn(): Promise<LoadUser[]> {
    const made: LoadUser[] = [];
    for (let number = 1; number <= USERS_A_ROUND * ROUNDS; number++) {
      const wallet = aWallet(number);
      const token = await openSession(db, { wallet, expiresAtMs: Date.now() + 3_600_000 });
      game.points.set(wallet, POINTS);
      made.push({ wallet, token });
    }
    return made;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    db = await database.open();
    bench = await VaultBench.start();
    await bench.finalise();
    game = await FakePartner.start();
    // The delay ensures that calls are in flight at any moment.
    game.delayMs = 100;
    const parts = { database, game, clock: new FakeClock(Date.now()) };
    await addPartner(parts, 'Arena');
    await addPrice(parts);
    users = await signedIn();
    replicas.push(await startReplica(), await startReplica());
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await game.stop();
    await bench.stop();
    await database.drop();
  });

  it('drops no request, and does nothing twice', async () => {
    const balancer = new LoadBalancer(replicas);
    const load = new RedemptionLoad(users, () => balancer.next());
    for (let round = 0; round < ROUNDS; round++) {
      for (const [place, replica] of [...replicas.entries()]) {
        await load.more(20);
        expect(await replica.terminate()).toBe(0);
        replicas[place] = await startReplica(replica.port);
      }
    }
    await load.more(20);
    await load.stop();
    await balancer.stop();
    console.info([...load.answers].map((entry) => entry.join(': ')).join(', '));
    expect([...load.answers.keys()].sort()).toEqual(['create 201', 'read 200', 'replay 200']);

    expect(new Set([...load.seen.values()].map(({ status }) => status))).toEqual(
      new Set(['authorised']),
    );
    for (const [wallet] of load.seen) expect(game.points.get(wallet)).toBe(POINTS - 100);
    expect(game.deductions.size).toBe(load.seen.size);
    // One answered call per redemption proves that no call was interrupted, and that none waited for a lease to expire.
    const calls = await db.query({
      text: `SELECT step, outcome, count(*)::int AS calls, count(DISTINCT redemption_id)::int AS redemptions
      FROM redemption.partner_call WHERE step <> 'balance' GROUP BY step, outcome`,
    });
    const count = load.seen.size;
    expect(calls).toEqual([
      { step: 'deduct', outcome: 'answer', calls: count, redemptions: count },
    ]);
  }, 240_000);
});
