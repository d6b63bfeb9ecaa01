/** All services and their users on a PostgreSQL cluster with failover. */
import {
  createDatabase,
  type Database,
  migrate,
  prepareLogins,
  PROGRAMS,
  PriceStore,
} from '#libs/db';
import { KeyRing, type MintedCredential } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { aWallet } from '#libs/testing/database';
import { FakePartner, registerPartner } from '#libs/testing/partner';
import { VaultBench } from '#libs/testing/vault';
import { parseDecimal } from '#libs/domain';
import { IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import {
  openSession,
  SECRETS_KEY as REDEMPTION_SECRETS_KEY,
} from '../../apps/redemption/src/testing/redemption-harness.support.js';
import { ApiProgram, type ApiProgramOptions } from '../restarts/api-program.js';
import { type LoadUser } from '../restarts/redemption-load.js';
import { RedemptionProgram } from '../restarts/redemption-program.js';
import { addBusyPartner, SECRETS_KEY } from '../restarts/served-index.js';
import { PostgresCluster } from './postgres-cluster.js';
import { StakingLife } from './staking-life.js';

export const POINTS = 1000;
const START_MS = 60_000;
const FOLLOW_MS = 90_000;

export class ClusterStage {
  cluster!: PostgresCluster;
  life!: StakingLife;
  game!: FakePartner;
  /** One API connects through PgBouncer, the other through the second HAProxy. */
  readonly apis: ApiProgram[] = [];
  redemption!: RedemptionProgram;
  /** One indexer leads, the other stands by. */
  readonly indexers: IndexerProgram[] = [];
  credential!: MintedCredential;
  /** Connected as the owner of the database. */
  database!: Database;
  private bench!: VaultBench;
  private users = 0;
  private readonly started: (() => Promise<unknown>)[] = [];

  /** Starts everything. Call `stop` even after a failure. @param seed of the events on the chain */
  async start(seed: number): Promise<void> {
    this.cluster = this.owned(await PostgresCluster.start());
    const { cluster } = this;
    await migrate(cluster.urlOf('owner'));
    const logins = PROGRAMS.map((program) => [program, cluster.urlOf(program)]);
    await prepareLogins(cluster.urlOf('owner'), Object.fromEntries(logins), { isPooled: true });
    this.database = await createDatabase({
      url: cluster.urlOf('owner'),
      applicationName: 'test',
      poolSize: 2,
    });
    this.started.push(() => this.database.close());
    this.life = await StakingLife.start(seed);
    this.started.push(async () => {
      await this.life.end().catch(() => undefined);
      await this.life.chain.stop();
    });
    this.bench = this.owned(await VaultBench.start());
    await this.bench.finalise();
    this.game = this.owned(await FakePartner.start());
    await this.addPartners();
    await this.startServices();
  }

  /** Adds a price, which is valid for some minutes. */
  async addPrice(): Promise<void> {
    const price = { usd: '0.15', observedAt: new Date(), source: 'fixed' };
    await new PriceStore(this.database).add(price);
  }

  /** Adds users with points and a session each, for a load that runs already. */
  async signIn(users: LoadUser[], count: number): Promise<void> {
    for (let made = 0; made < count; made++) {
      const wallet = aWallet(++this.users);
      const session = { wallet, expiresAtMs: Date.now() + 7_200_000 };
      const token = await openSession(this.database, session);
      this.game.points.set(wallet, POINTS);
      users.unshift({ wallet, token });
    }
  }

  /** Stops everything that was started, in reverse order. */
  async stop(): Promise<void> {
    for (const end of this.started.reverse()) await end();
  }

  private async addPartners(): Promise<void> {
    this.credential = await addBusyPartner(this.database);
    await registerPartner(this.database, KeyRing.parse(REDEMPTION_SECRETS_KEY), {
      name: 'Arena',
      url: this.game.url,
      dailyTokenBudget: parseDecimal('1000000'),
    });
    await this.addPrice();
  }

  private async startServices(): Promise<void> {
    const { cluster, life, bench } = this;
    for (const way of ['haproxy2', 'haproxy'] as const) {
      const database = { urlAs: () => cluster.urlOf('indexer', way) };
      const indexer = await IndexerProgram.start(life.chain, database);
      this.indexers.push(indexer);
      this.started.push(() => indexer.kill());
    }
    await eventually(() => this.leads(), {
      what: 'an indexer that leads',
      withinMs: START_MS,
      everyMs: 100,
    });
    const [direct, secretsKey] = [cluster.urlOf('api'), SECRETS_KEY];
    this.apis.push(
      await this.ownedApi({ databaseUrl: cluster.urlOf('api', 'haproxy2'), secretsKey }),
      await this.ownedApi({
        databaseUrl: cluster.urlOf('api', 'pgbouncer'),
        databaseDirectUrl: direct,
        secretsKey,
      }),
    );
    this.redemption = await RedemptionProgram.start({
      databaseUrl: cluster.urlOf('redemption'),
      secretsKey: REDEMPTION_SECRETS_KEY,
      bench,
    });
    this.started.push(() => this.redemption.kill());
  }

  /** Whether one indexer leads and the other stands by. */
  async leads(): Promise<boolean> {
    const phases = await Promise.all(this.indexers.map((indexer) => indexer.phase()));
    return phases.sort().join() === 'following,standby';
  }

  /** Waits until the leading indexer has read the current head, except for blocks that may still be reorganised. */
  async follows(): Promise<void> {
    const newest = Number(await this.life.chain.player.head());
    await eventually(
      async () => {
        // The leader may change during the check, so the heads of both indexers are read.
        const heads = await Promise.all(this.indexers.map((indexer) => indexer.headFollowed()));
        return heads.some((head) => head !== undefined && head >= newest - 10);
      },
      { what: `index near block ${newest}`, withinMs: FOLLOW_MS, everyMs: 100 },
    );
  }

  /** The leading indexer. */
  async leader(): Promise<IndexerProgram> {
    for (const indexer of this.indexers) {
      if ((await indexer.phase()) === 'following') return indexer;
    }
    throw new Error('no indexer leads');
  }

  private async ownedApi(options: ApiProgramOptions): Promise<ApiProgram> {
    const api = await ApiProgram.start(options);
    this.started.push(() => api.kill());
    return api;
  }

  private owned<T extends { stop(): Promise<unknown> }>(part: T): T {
    this.started.push(() => part.stop());
    return part;
  }
}
