/**
 * The environment of the tests of publishing: a registry on a chain, and sealed days. Named as a test file, without
 * tests of its own.
 */
import { addressOfKey } from '#libs/chain';
import { readSettings, testConstants } from '#libs/config';
import {
  CoinStore,
  type Database,
  IndexStore,
  type Publication,
  PublicationStore,
  PublicationViews,
  PublishableDays,
} from '#libs/db';
import { type NodeHash, SECONDS_PER_DAY } from '#libs/domain';
import { createLogger, createMetrics } from '#libs/service';
import { startChain, type TestChain } from '#libs/testing/chain';
import { FakeClock } from '#libs/testing/clock';
import { anInitialIndex, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { TestRegistry } from '#libs/testing/registry';
import { ChainLink } from '../chain/chain-link.js';
import { GasBudget } from '../chain/gas-budget.js';
import { Alerts } from '../observe/alerts.js';
import { RedemptionSettings } from '../redemption.env.js';
import { PublicationSender } from './publication-sender.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { RegistryCheck, RegistryLink } from './registry-link.js';
import { RegistryPublisher } from './registry-publisher.js';
import { RegistryTerms } from './registry-terms.js';

const START = 1_760_000_000;
/** Blocks between `finalized` and the newest block. */
export const FINALITY_DEPTH = 4;
/** The first blocks of a test chain, with its contracts. */
const CONTRACT_BLOCKS = 3n;
export const TODAY = Math.floor(START / SECONDS_PER_DAY);
export const PUBLISHER_KEY = '44'.repeat(32);
export const OTHER_KEY = '55'.repeat(32);
const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

export interface PublisherUnderTest {
  readonly publisher: RegistryPublisher;
  readonly link: RegistryLink;
  readonly views: PublicationViews;
  readonly store: PublicationStore;
  /** The codes of the alerts that were raised. */
  readonly alerts: string[];
}

export class RegistryStage {
  readonly clock = new FakeClock(START * 1000);
  private connection: Promise<Database> | undefined;

  private constructor(
    readonly chain: TestChain,
    readonly database: TestDatabase,
    readonly registry: TestRegistry,
  ) {}

  static startChain(): Promise<TestChain> {
    return startChain({ deployedSeconds: START, finalityDepth: FINALITY_DEPTH });
  }

  static async start(): Promise<RegistryStage> {
    return RegistryStage.on(await RegistryStage.startChain());
  }

  /** A stage with a database of its own, on a chain that goes back to its first blocks. */
  static async on(chain: TestChain, stakedIn?: string): Promise<RegistryStage> {
    const depth = (await chain.player.head()) - CONTRACT_BLOCKS;
    await chain.rpc.call('anvil_dropAllTransactions');
    if (depth > 0n) await chain.player.rollback(Number(depth));
    const seconds = START + 12;
    const given = { seconds, ...(stakedIn !== undefined && { stakedIn }) };
    const registry = await TestRegistry.deploy(chain, addressOfKey(PUBLISHER_KEY), given);
    await registry.mine(FINALITY_DEPTH);
    const stage = new RegistryStage(chain, await createTestDatabase(), registry);
    await stage.makeIndex();
    return stage;
  }

  /** Leaves the chain to the next stage. */
  leave(): Promise<void> {
    return this.database.drop();
  }

  async stop(): Promise<void> {
    await this.chain.stop();
    await this.leave();
  }

  /** A database connection for what a test writes itself. */
  open(): Promise<Database> {
    return (this.connection ??= this.database.open());
  }

  /** The environment variables of the service. */
  environment(rpcUrls = this.chain.url): Record<string, string> {
    return {
      DATABASE_URL: this.database.urlAs('redemption'),
      SECRETS_KEY,
      EVIDENCE_KEY,
      CHAIN_ID: String(this.chain.chainId),
      RPC_URLS: rpcUrls,
      TOKEN_CONTRACT: this.chain.contracts.token,
      VAULT_CONTRACT: this.chain.contracts.token,
      VOUCHER_SIGNER_KEY: '11'.repeat(32),
      SIWE_DOMAINS: 'app.example.com',
      REGISTRY_ADDRESS: this.registry.address,
      REGISTRY_PRIVATE_KEY: PUBLISHER_KEY,
      REGISTRY_FIRST_DAY: new Date((TODAY - 60) * SECONDS_PER_DAY * 1000)
        .toISOString()
        .slice(0, 10),
      ...testConstants({ registryDelaySeconds: 3600, registryPollMs: 50 }),
    };
  }

  /** A publisher with the parts that its module gives it. */
  async publisher(overrides: Record<string, string> = {}): Promise<PublisherUnderTest> {
    const { clock } = this;
    const settings = readSettings(RedemptionSettings, { ...this.environment(), ...overrides });
    const [terms] = RegistryTerms.of(settings);
    if (terms === undefined) throw new Error('REGISTRY_ADDRESS is not set');
    const alerts: string[] = [];
    const destination = {
      write(line: string) {
        const { alert } = JSON.parse(line) as { alert?: string };
        if (alert !== undefined) alerts.push(alert);
      },
    };
    const logger = createLogger({ app: 'redemption', level: 'info', destination });
    const metrics = createMetrics('redemption');
    const raised = new Alerts(metrics, logger);
    const chain = new ChainLink(settings, clock, { logger, registry: metrics, alerts: raised });
    const database = await this.database.open({ url: this.database.urlAs('redemption') });
    const budget = new GasBudget(settings, new CoinStore(database), clock);
    const link = new RegistryLink(terms, chain, budget, clock);
    const told = new HourlyAlerts(raised, clock);
    const store = new PublicationStore(database, terms.place);
    const views = new PublicationViews(database, terms.place);
    const check = new RegistryCheck(terms, link, new IndexStore(database));
    const sender = new PublicationSender(
      ...([link, check, store, budget, told, clock, logger] as const),
    );
    const days = new PublishableDays(database);
    const publisher = new RegistryPublisher(
      ...([terms, link, sender, store, views, days, told, clock, logger] as const),
    );
    return { publisher, link, views, store, alerts };
  }

  /** Seals a day, by default a day ago. @returns its root */
  async seal(
    day: number,
    root = rootOf(day),
    sealedMs = START * 1000 - 86_400_000,
    database?: Database,
  ): Promise<NodeHash> {
    await (database ?? (await this.open())).query({
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software, previous_root, sealed_at)
        SELECT $1, coalesce(max(revision), 0) + 1, decode($2, 'hex'), 1, 1, 1, decode(repeat('11', 32), 'hex'), 'test',
          (SELECT root FROM staking.sealed_day WHERE day = $1 ORDER BY revision DESC LIMIT 1), $3
        FROM staking.sealed_day WHERE day = $1`,
      values: [day, root.slice(2), new Date(sealedMs)],
    });
    return root;
  }

  /** A poll of the publisher, and then a block with what it sent. */
  async round({ publisher }: Pick<PublisherUnderTest, 'publisher'>, rounds = 1): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      await publisher.look();
      await this.registry.mine();
    }
  }

  /** The statuses of all publications, the earliest first. */
  async statuses({ views }: Pick<PublisherUnderTest, 'views'>): Promise<string[]> {
    const page: Publication[] = await views.page(100);
    return page.reverse().map(({ status }) => status);
  }

  private async makeIndex(): Promise<void> {
    const { chainId, contracts } = this.chain;
    const { staking: stakeContract } = contracts;
    await new IndexStore(await this.open()).create(anInitialIndex({ chainId, stakeContract }));
  }
}

/** The root of a day without a tree. */
export function rootOf(day: number, branch = 0): NodeHash {
  return `0x${branch.toString(16).padStart(2, '0')}${day.toString(16).padStart(62, '5')}` as NodeHash;
}
