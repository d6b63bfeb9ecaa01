/** All services and their users on a PostgreSQL with failover. */
import {
  createDatabase,
  type Database,
  migrate,
  prepareLogins,
  PROGRAMS,
  PriceStore,
} from '#libs/db';
import { KeyRing, type MintedCredential } from '#libs/signing';
import { aWallet, FakePartner, registerPartner, VaultBench } from '#libs/testing';
import { parseDecimal } from '#libs/domain';
import { IndexerProgram } from '../../apps/indexer/test/indexer-program.js';
import { mintSessionToken } from '../../apps/redemption/src/auth/auth.service.js';
import {
  openSession,
  SECRETS_KEY as REDEMPTION_SECRETS_KEY,
} from '../../apps/redemption/src/testing/redemption-harness.support-spec.js';
import { ApiProgram } from '../restarts/api-program.js';
import { type LoadUser } from '../restarts/redemption-load.js';
import { RedemptionProgram } from '../restarts/redemption-program.js';
import { addBusyPartner, SECRETS_KEY } from '../restarts/served-index.js';
import { PostgresCluster, type Way } from './postgres-cluster.js';
import { StakingLife } from './staking-life.js';

export const POINTS = 1000;

export class ClusterStage {
  cluster!: PostgresCluster;
  life!: StakingLife;
  game!: FakePartner;
  api!: ApiProgram;
  redemption!: RedemptionProgram;
  indexer!: IndexerProgram;
  credential!: MintedCredential;
  /** Of the owner. */
  database!: Database;
  private bench!: VaultBench;
  private users = 0;
  private readonly started: (() => Promise<unknown>)[] = [];

  /** @param seed of what happens on the chain. Call `stop` whether it succeeds or not. */
  async start(seed: number): Promise<void> {
    this.cluster = this.owned(await PostgresCluster.start());
    const { cluster } = this;
    await migrate(cluster.urlOf('owner'));
    const logins = PROGRAMS.map((program) => [program, cluster.urlOf(program)]);
    await prepareLogins(cluster.urlOf('owner'), Object.fromEntries(logins));
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

  /** Users with points, each with a session, for a load that goes on. */
  async signIn(users: LoadUser[], count: number): Promise<void> {
    for (let made = 0; made < count; made++) {
      const [wallet, token] = [aWallet(++this.users), mintSessionToken()];
      await openSession(this.database, { token, wallet, expiresAtMs: Date.now() + 7_200_000 });
      this.game.points.set(wallet, POINTS);
      users.unshift({ wallet, token });
    }
  }

  /** Everything that was started, the last first. */
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
    const price = { usd: '0.15', observedAt: new Date(), source: 'fixed' };
    await new PriceStore(this.database).add(price);
  }

  private async startServices(): Promise<void> {
    const { cluster, life, bench } = this;
    const urlAs = (program: 'api' | 'indexer' | 'redemption', way: Way): string =>
      cluster.urlOf(program, way);
    this.indexer = await IndexerProgram.start(life.chain, {
      urlAs: () => urlAs('indexer', 'haproxy'),
    });
    this.started.push(() => this.indexer.kill());
    await this.indexer.until('following', ({ isReady }) => isReady);
    this.api = await ApiProgram.start({
      databaseUrl: urlAs('api', 'haproxy'),
      secretsKey: SECRETS_KEY,
    });
    this.started.push(() => this.api.kill());
    this.redemption = await RedemptionProgram.start({
      databaseUrl: urlAs('redemption', 'haproxy'),
      secretsKey: REDEMPTION_SECRETS_KEY,
      bench,
      shutdownDelayMs: 0,
    });
    this.started.push(() => this.redemption.kill());
  }

  private owned<T extends { stop(): Promise<unknown> }>(part: T): T {
    this.started.push(() => part.stop());
    return part;
  }
}
