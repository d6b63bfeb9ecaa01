/** The environment of a test with real workers: database, chain, one partner, and a time that the test moves. */
import { randomBytes } from 'node:crypto';
import { addressOfKey } from '#libs/chain';
import {
  CallbackStore,
  createDatabase,
  type Database,
  PartnerStore,
  RedemptionStore,
} from '#libs/db';
import { type PartnerCapability, type PartnerId } from '#libs/domain';
import { hashApiKey, KeyRing } from '#libs/signing';
import { EVIDENCE_KEY, testEvidence } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
import { FailingPartner } from '../partner/failing-partner.js';
import { ChainPlayer } from '../players/chain-player.js';
import { type Dice } from './dice.js';
import { WorkerFleet } from './worker-fleet.js';
import { type WorkerSetup } from './worker-orders.js';

const CANCELLER_KEY = '33'.repeat(32);
const VOUCHER_TTL_SECONDS = 600;
const LEASE_MS = 3000;
const WALLET_DAILY_TOKENS = '240';

export interface WorldOptions {
  /** URL of an empty, migrated database. */
  readonly databaseUrl: string;
  readonly dice: Dice;
  readonly capabilities: readonly PartnerCapability[];
  /** Probability that a call does not reach the partner's books. */
  readonly faultRate: number;
  readonly worker: Partial<WorkerSetup>;
}

export class World {
  readonly store: RedemptionStore;
  readonly chain: ChainPlayer;
  readonly fleet: WorkerFleet;
  readonly secretsKey = randomBytes(32).toString('base64');
  nowMs: number;
  private joined: { readonly partnerId: PartnerId; readonly partner: FailingPartner } | undefined;

  private constructor(
    readonly database: Database,
    readonly bench: VaultBench,
    private readonly options: WorldOptions,
  ) {
    this.nowMs = (bench.seconds + 60) * 1000;
    this.store = new RedemptionStore(database, testEvidence());
    this.chain = new ChainPlayer(bench);
    this.fleet = new WorkerFleet((ordinal) => this.workerSetup(ordinal));
  }

  static async create(options: WorldOptions): Promise<World> {
    const [bench, database] = await Promise.all([
      VaultBench.start({ canceller: addressOfKey(CANCELLER_KEY) }),
      createDatabase({ url: options.databaseUrl, applicationName: 'test', poolSize: 4 }),
    ]);
    const world = new World(database, bench, options);
    await world.join();
    return world;
  }

  get partnerId(): PartnerId {
    return this.one.partnerId;
  }

  get partner(): FailingPartner {
    return this.one.partner;
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
    await Promise.all([this.joined?.partner.stop(), this.bench.stop(), this.database.close()]);
  }

  private get one() {
    if (this.joined === undefined) throw new Error('the world has no partner');
    return this.joined;
  }

  private async join(): Promise<void> {
    const { capabilities, faultRate, dice } = this.options;
    const partner = await FailingPartner.start({
      nature: {
        does: capabilities,
        balanceFirst: false,
        namesDuplicates: true,
        signsRefusals: true,
        clockAheadMs: 0,
      },
      faultRate,
      dice: dice.for('partner'),
      nowMs: () => this.nowMs,
    });
    const keyHash = hashApiKey(partner.apiKey);
    const secretCiphertext = KeyRing.parse(this.secretsKey).seal(partner.secret, keyHash);
    const { partnerId } = await new PartnerStore(this.database).create({
      ...{ name: partner.name, rate: 1, burst: 1 },
      credential: { keyHash, keyPrefix: partner.name, secretCiphertext },
    });
    await new CallbackStore(this.database).change(partnerId, () => ({
      url: partner.url,
      key: partner.apiKey,
      secretCiphertext,
      usdPerPoint: { digits: 1n, scale: 2 },
      dailyTokenBudget: undefined,
      confirms: true,
      capabilities,
    }));
    this.joined = { partnerId, partner };
  }

  private workerSetup(ordinal: number): WorkerSetup {
    const { chain, vault, place } = this.bench;
    return {
      databaseUrl: this.options.databaseUrl,
      secretsKey: this.secretsKey,
      evidenceKey: EVIDENCE_KEY,
      rpcUrls: [chain.rpc.url],
      chainId: place.chainId,
      vault,
      token: chain.contracts.token,
      signerKey: VaultBench.SIGNER_KEY,
      cancellerKey: CANCELLER_KEY,
      voucherTtlSeconds: VOUCHER_TTL_SECONDS,
      nowMs: this.nowMs,
      seed: `worker ${ordinal}`,
      poolSize: 6,
      timeouts: { connectMs: 500, readMs: 400, writeMs: 400 },
      engine: {
        atOnce: 32,
        leaseMs: LEASE_MS,
        pollMs: 100,
        payoutPollMs: 60_000,
        listens: true,
        walletDailyTokens: WALLET_DAILY_TOKENS,
      },
      ...this.options.worker,
    };
  }
}
