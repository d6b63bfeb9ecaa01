/**
 * Tests that nothing is lost when the primary of a PostgreSQL cluster is killed, stopped or cut off under the load of
 * all services.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase } from '#libs/testing/database';
import { testSeeds } from '#libs/testing/seeds';
import { startIndexer } from '../../apps/indexer/test/harness.js';
import { randomOf } from '../../apps/indexer/test/history.js';
import { indexedTables } from '../../apps/indexer/test/oracle.js';
import { type LoadUser, RedemptionLoad } from '../restarts/redemption-load.js';
import { SnapshotLoad } from '../restarts/snapshot-load.js';
import { ClusterStage, POINTS } from './cluster-stage.js';
import { type Fault, faultsBy } from './faults.js';
import { PartnerWriter } from './partner-writer.js';

const ROUND_MS = 180_000;
const START_MS = 300_000;
const FAILOVER_MS = 90_000;
const USERS_A_ROUND = 30;
const API_PAUSE_MS = 100;
/** Pause between the redemptions of two users. */
const USER_PAUSE_MS = 500;
const UNAVAILABLE = 503;
/** Number of failovers. CLUSTER_ROUNDS changes it; a number below the count of fault kinds leaves some kinds out. */
const ROUNDS = Number(process.env['CLUSTER_ROUNDS'] ?? 20);
const [, { seed } = { seed: 0 }] = testSeeds();
/** The possible answers of the redemption service during all failovers. */
const ANSWERS = [
  ...['create 201', 'replay 200', 'read 200'],
  ...['create', 'replay', 'read'].map((what) => `${what} 503 SERVICE_UNAVAILABLE`),
];

describe(`${ROUNDS} failovers, with the seed ${seed},`, () => {
  const stage = new ClusterStage();
  const users: LoadUser[] = [];
  /** Seconds without a write in each round, by writer. */
  const gaps: Record<'first' | 'second', number[]> = { first: [], second: [] };
  let snapshots: SnapshotLoad;
  let redemptions: WaitingUsers;
  /** Write through the two HAProxies. */
  let first: PartnerWriter;
  let second: PartnerWriter;
  let writers: readonly PartnerWriter[];

  beforeAll(async () => {
    await stage.start(seed);
    let turn = 0;
    const nextApi = () => stage.apis[turn++ % stage.apis.length]?.url ?? '';
    snapshots = new SnapshotLoad(stage.credential, nextApi, 4, API_PAUSE_MS);
    redemptions = new WaitingUsers(users, () => stage.redemption.url, 2);
    first = await PartnerWriter.start('By the first', stage.cluster.urlOf('owner', 'haproxy'));
    second = await PartnerWriter.start('By the second', stage.cluster.urlOf('owner', 'haproxy2'));
    writers = [first, second];
  }, START_MS);
  afterAll(() => stage.stop(), START_MS);

  async function round(fault: Fault, waitMs: number): Promise<void> {
    const { cluster } = stage;
    const primary = await cluster.healthy();
    await stage.addPrice();
    await stage.signIn(users, USERS_A_ROUND);
    await redemptions.more(2);
    for (const writer of writers) writer.longestGap();
    await fault.strike(primary);
    try {
      await eventually(
        async () => {
          const other = await cluster.primary();
          return other !== undefined && other !== primary;
        },
        { what: 'another primary', withinMs: FAILOVER_MS, everyMs: 100 },
      );
      await Promise.all([
        snapshots.more(200),
        redemptions.more(2),
        ...writers.map((writer) => writer.more(5)),
      ]);
      await sleep(waitMs);
    } finally {
      await fault.heal(primary);
    }
    await cluster.healthy();
    await Promise.all(writers.map((writer) => writer.more(5)));
    const [one, other] = [first.longestGap(), second.longestGap()];
    gaps.first.push(one);
    gaps.second.push(other);
    console.info(
      `${fault.name}: ${one.toFixed(1)} s without a write by one HAProxy, ${other.toFixed(1)} s by the other`,
    );
    await eventually(() => stage.leads(), {
      what: 'one indexer that leads',
      withinMs: FAILOVER_MS,
      everyMs: 100,
    });
    await stage.follows();
  }

  const random = randomOf(seed);
  const faults = faultsBy(random, ROUNDS).map((fault) => ({ fault, waitMs: random(3000) }));
  it.each(faults)(
    'goes on where $fault.name',
    async ({ fault, waitMs }) => {
      await round(fault, waitMs);
    },
    ROUND_MS,
  );

  it(
    'has lost nothing that was acknowledged, and done nothing twice',
    async () => {
      await stage.cluster.healthy();
      await redemptions.stop();
      await snapshots.stop();
      for (const writer of writers) await writer.stop();
      console.info(figures());

      expect([...snapshots.answers.keys()].sort()).toEqual([200, 503]);
      expect(ANSWERS).toEqual(expect.arrayContaining([...redemptions.answers.keys()]));
      await expectPartners(stage.database);
      await expectRedemptions(stage.database);
    },
    ROUND_MS,
  );

  it(
    'has the index of an undisturbed run',
    async () => {
      await stage.life.end();
      await (await stage.leader()).level(stage.life.chain);
      const undisturbed = await createTestDatabase();
      const { chain } = stage.life;
      const fresh = await startIndexer({ chain, database: undisturbed, finality: 'depth:70' });
      try {
        await fresh.level();
        const expected = await indexedTables(await undisturbed.open());
        expect(expected.changes.length).toBeGreaterThan(100);
        expect(await indexedTables(stage.database)).toEqual(expected);
      } finally {
        await fresh.stop();
        await undisturbed.drop();
      }
    },
    ROUND_MS,
  );

  async function expectPartners(database: Database): Promise<void> {
    const rows = await database.query<{ id: string; name: string }>({
      text: 'SELECT id, name FROM partners.partner',
    });
    const stored = new Map(rows.map(({ id, name }) => [name, id]));
    const lost = writers.flatMap(({ acknowledged }) =>
      [...acknowledged].filter(([name, id]) => stored.get(name) !== id),
    );
    expect(lost).toEqual([]);
  }

  /** Checks that the ledgers of the service and of the game agree with each other and with the answers to users. */
  async function expectRedemptions(database: Database): Promise<void> {
    const rows = await database.query<{ id: string; wallet: string; points: string }>({
      text: `SELECT id, '0x' || encode(wallet, 'hex') AS wallet, points FROM redemption.redemption`,
    });
    const told = [...redemptions.seen].map(([wallet, { id }]) => `${wallet} ${id}`);
    expect(rows.map(({ wallet, id }) => `${wallet} ${id}`).sort()).toEqual(told.sort());
    const { deductions, points } = stage.game;
    expect(deductions.size).toBe(rows.length);
    expect([...deductions.values()].filter(({ reverted }) => reverted)).toEqual([]);
    for (const { wallet } of rows) expect(points.get(wallet)).toBe(POINTS - 100);
    const statuses = new Set([...redemptions.seen.values()].map(({ status }) => status));
    expect(statuses).toEqual(new Set(['authorised']));
  }

  function figures(): string {
    const partners = writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
    return [
      `${ROUNDS} rounds; seconds without a write by one HAProxy: ${summary(gaps.first)}; by the other: ${summary(gaps.second)}`,
      `api: ${shown(snapshots.answers)}`,
      `redemption: ${shown(redemptions.answers)}`,
      `${partners} partners and ${redemptions.seen.size} redemptions acknowledged`,
      ...writers.map((writer) => writer.failed),
    ].join('\n');
  }
});

function summary(seconds: readonly number[] = []): string {
  const sorted = [...seconds].sort((one, other) => one - other);
  const at = (part: number) => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1);
  return `median ${at(0.5)}, longest ${at(1)}`;
}

function shown(answers: ReadonlyMap<string | number, number>): string {
  return [...answers].map(([what, times]) => `${times} × ${what}`).join(', ');
}

/**
 * Users who wait when the service answers 503, and continue with the same redemption. Users may be added at any time.
 */
class WaitingUsers extends RedemptionLoad {
  protected override async nextUser(users: LoadUser[]): Promise<LoadUser | undefined> {
    await sleep(USER_PAUSE_MS);
    while (users.length === 0 && !this.stopping) await sleep(50);
    return users.pop();
  }

  protected override get asksAgainAfter(): readonly number[] {
    return [UNAVAILABLE];
  }
}
