/** An engine on a real database and a real chain, with a clock that goes with the chain's. Counts as a test file without being one. */
import { randomBytes, randomUUID } from 'node:crypto';
import { RpcPool, type VaultPlace, VoucherSigner } from '#libs/chain';
import { type VaultSetup } from '#libs/devchain';
import {
  CallbackStore,
  CoinStore,
  type Database,
  KnownVaults,
  RedemptionStore,
  RedemptionViews,
} from '#libs/db';
import {
  type Address,
  mintUuidV7,
  newRedemption,
  PARTNER_CAPABILITIES,
  type PartnerCapability,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { PartnerClient } from '#libs/partner-client';
import { createLogger, Registry } from '#libs/service';
import { hashApiKey, KeyRing, mintSecretsKey } from '#libs/signing';
import {
  aWallet,
  CALLBACK_KEY,
  CALLBACK_SECRET,
  createTestDatabase,
  FakeClock,
  FakePartner,
  registerPartner,
  type TestDatabase,
  VaultBench,
  testEvidence,
} from '#libs/testing';
import { Alerts } from '../observe/alerts.js';
import { PartnerCallMetrics } from '../observe/partner-call.metrics.js';
import { PartnerCaller } from '../steps/partner-caller.js';
import { PartnerDirectory } from '../partner/partner-directory.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { createEngine } from '../worker/create-engine.js';
import { type Engine } from '../worker/engine.js';
import { aCancelPolicy, aVoucherPayout } from './cancel-policy.support-spec.js';

const SIGNER = new VoucherSigner({ chainId: 1, vault: aWallet(1) }, VaultBench.SIGNER_KEY).address;
const TTL_SECONDS = 600;
const LEASE_MS = 3000;
export const POINTS = 5000;

export class EngineBench {
  readonly store: RedemptionStore;
  readonly views: RedemptionViews;
  readonly registry = new Registry();
  readonly logs: string[] = [];
  readonly engine: Engine;
  readonly payouts: VoucherPayout;
  partnerId = '';

  readonly test: TestDatabase;
  readonly database: Database;
  readonly chain: VaultBench;
  readonly partner: FakePartner;
  readonly clock: FakeClock;
  private readonly keyRing: KeyRing;

  private constructor(
    private readonly parts: Pick<
      EngineBench,
      'test' | 'database' | 'chain' | 'partner' | 'clock'
    > & {
      /** As the service connects. */
      readonly served: Database;
      readonly keyRing: KeyRing;
      readonly rpcUrls: string[];
      readonly ttlSeconds?: number;
    },
  ) {
    const { database, served, chain, clock } = parts;
    this.test = parts.test;
    this.database = database;
    this.chain = chain;
    this.partner = parts.partner;
    this.clock = clock;
    this.keyRing = parts.keyRing;
    this.store = new RedemptionStore(database, testEvidence());
    this.views = new RedemptionViews(database);
    const place: VaultPlace = chain.place;
    const logger = createLogger({
      app: 'redemption',
      level: 'debug',
      destination: { write: (line) => this.logs.push(line) },
    });
    this.payouts = aVoucherPayout({
      pool: new RpcPool({ urls: parts.rpcUrls, clock }),
      clock,
      place,
      token: chain.chain.contracts.token,
      finality: 'finalized',
      voucherTtlSeconds: parts.ttlSeconds ?? TTL_SECONDS,
      vaults: new KnownVaults(served),
      signerKey: VaultBench.SIGNER_KEY,
      cancelling: aCancelPolicy({ coins: new CoinStore(served) }),
    });
    const directory = new PartnerDirectory(new CallbackStore(served), this.keyRing, clock, logger);
    const client = new PartnerClient({
      clock,
      policy: { allowPrivate: true },
      timeouts: { connectMs: 500, readMs: 1000, writeMs: 1000 },
    });
    const alerts = new Alerts(this.registry, logger);
    const metrics = new PartnerCallMetrics(this.registry);
    this.engine = createEngine(
      {
        database: served,
        directory,
        caller: new PartnerCaller(client, alerts, metrics),
        payouts: this.payouts,
        evidence: testEvidence(),
        clock,
        logger,
        registry: this.registry,
        alerts,
        random: () => 0,
      },
      { atOnce: 8, leaseMs: LEASE_MS, pollMs: 1000, payoutPollMs: 15_000 },
    );
  }

  /**
   * The vault's signer may cancel as well, and has coin for it.
   * @param rpcUrlsOf what the engine knows the chain by; default: the chain itself
   */
  static async start(
    rpcUrlsOf: (chainUrl: string) => Promise<string[]> = (url) => Promise.resolve([url]),
    vault: Partial<VaultSetup> = {},
  ): Promise<EngineBench> {
    const test = await createTestDatabase();
    const chain = await VaultBench.start();
    const signed = await EngineBench.aVault(chain, vault);
    const clock = new FakeClock(signed.seconds * 1000);
    const bench = new EngineBench({
      test,
      clock,
      chain: signed,
      rpcUrls: await rpcUrlsOf(signed.chain.url),
      database: await test.open({ poolSize: 4 }),
      served: await test.open({ url: test.urlAs('redemption'), poolSize: 8 }),
      partner: await FakePartner.start(),
      keyRing: new KeyRing(mintSecretsKey()),
    });
    bench.partnerId = await registerPartner(bench.database, bench.keyRing, {
      name: 'The Game',
      url: bench.partner.url,
      capabilities: PARTNER_CAPABILITIES,
    });
    // The directory looks again.
    bench.clock.advance(2000);
    return bench;
  }

  private static async aVault(
    chain: VaultBench,
    setup: Partial<VaultSetup> = {},
  ): Promise<VaultBench> {
    const signed = await chain.another({ canceller: SIGNER, ...setup });
    await signed.finalise();
    return signed;
  }

  /** The service as it starts again with other settings: on another vault, or with another VOUCHER_TTL. */
  async restarted(change: { isNewVault?: boolean; ttlSeconds?: number }): Promise<EngineBench> {
    await this.engine.stop();
    const { isNewVault = false, ttlSeconds = TTL_SECONDS } = change;
    const chain = isNewVault ? await EngineBench.aVault(this.chain) : this.chain;
    const bench = new EngineBench({ ...this.parts, chain, ttlSeconds });
    bench.partnerId = this.partnerId;
    bench.clock.set(Math.max(bench.clock.nowMs(), chain.seconds * 1000));
    return bench;
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    await this.partner.stop();
    await this.chain.stop();
    await this.test.drop();
  }

  async setCallback(
    capabilities: readonly PartnerCapability[],
    url = this.partner.url,
  ): Promise<void> {
    await new CallbackStore(this.database).set(this.partnerId, {
      url,
      key: CALLBACK_KEY,
      secretCiphertext: this.keyRing.seal(CALLBACK_SECRET, hashApiKey(CALLBACK_KEY)),
      usdPerPoint: { digits: 1n, scale: 2 },
      confirms: true,
      capabilities,
    });
    // The directory looks again.
    this.clock.advance(2000);
  }

  /** A player with points, and a redemption of them. */
  async redeem(change: Partial<Redemption> = {}, points = POINTS): Promise<UuidV7> {
    const nowMs = this.clock.nowMs();
    const wallet = `0x${randomBytes(20).toString('hex')}` as Address;
    this.partner.points.set(wallet, points);
    const terms = {
      id: mintUuidV7(nowMs, randomBytes(10)),
      partner: this.partnerId,
      wallet,
      points: BigInt(POINTS),
      usdAmount: { digits: 5000n, scale: 2 },
      tokenAmount: 340n,
      tokenDecimals: 18,
      priceUsd: { digits: 15n, scale: 2 },
      quoteExpiresAtMs: nowMs + 120_000,
    };
    await this.store.create(
      { ...newRedemption(terms, nowMs), ...change },
      { key: randomUUID(), bodyHash: Buffer.alloc(32) },
      { paused: false, maxOpen: 1, priceMaxAgeSeconds: 60 },
    );
    return terms.id;
  }

  async read(id: UuidV7): Promise<Redemption> {
    const stored = await this.store.get(id);
    if (stored === undefined) throw new Error('no such redemption');
    return stored.redemption;
  }

  /** Sweeps at later and later moments, blocks included, until the redemption is in one of the states. */
  async until(id: UuidV7, ...states: Redemption['state'][]): Promise<Redemption> {
    for (let turn = 0; turn < 200; turn++) {
      await this.engine.sweep();
      await this.payouts.cancelsSent();
      const redemption = await this.read(id);
      if (states.includes(redemption.state)) return redemption;
      await this.pass(20);
    }
    throw new Error(`still ${(await this.read(id)).state}`);
  }

  /** Time goes by, on the clock and on the chain. */
  async pass(seconds: number): Promise<void> {
    this.clock.advance(seconds * 1000);
    await this.chain.mineAt(Math.floor(this.clock.nowMs() / 1000));
  }

  /** What its player is given while it is authorised. */
  async voucher(id: UuidV7): Promise<`0x${string}`> {
    const stored = await this.store.get(id);
    if (stored?.redemption.plan == null || stored.place === null || stored.isSealed !== true) {
      throw new Error('no plan of ours');
    }
    const { plan } = stored.redemption;
    const { isSealed } = stored;
    const { calldata } = await this.payouts.authorise({
      redemptionId: id,
      isSealed,
      plan,
      place: stored.place,
    });
    return calldata as `0x${string}`;
  }

  /** The player, or another one who has the voucher, claims it. */
  async claim(id: UuidV7): Promise<string | undefined> {
    const calldata = await this.voucher(id);
    this.clock.advance(12_000);
    const [outcome] = await this.chain.mineAt(
      Math.floor(this.clock.nowMs() / 1000),
      this.chain.to(VaultBench.STRANGER, calldata),
    );
    return outcome?.error;
  }
}
