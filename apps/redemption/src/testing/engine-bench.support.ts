/**
 * An engine on a real database and a real chain, with a clock that follows the chain's. Named as a test file, without
 * tests of its own.
 */
import { RpcPool } from '#libs/chain';
import { type VaultSetup } from '#libs/devchain';
import {
  CallbackStore,
  CoinStore,
  type Database,
  KnownVaults,
  LedgerRestoreStore,
  RedemptionStore,
  RedemptionViews,
  type StoredRedemption,
} from '#libs/db';
import {
  newRedemption,
  PARTNER_CAPABILITIES,
  type PartnerId,
  type Redemption,
  type RedemptionEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { PartnerClient } from '#libs/partner-client';
import { Registry } from '#libs/service';
import { hashApiKey, KeyRing } from '#libs/signing';
import { type FakeClock } from '#libs/testing/clock';
import { type TestDatabase } from '#libs/testing/database';
import { testEvidence } from '#libs/testing/evidence';
import { aPartnerId, CALLBACK_KEY, CALLBACK_SECRET, type FakePartner } from '#libs/testing/partner';
import { VaultBench } from '#libs/testing/vault';
import { HighWaterMark } from '../ledger/high-water-mark.js';
import { LedgerWatch } from '../ledger/ledger-watch.js';
import { Alerts } from '../observe/alerts.js';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import { PartnerCaller, PartnerDirectory } from '../partner/partners.js';
import { type VoucherPayout } from '../payout/voucher-payout.js';
import { createEngine, engineStores } from '../worker/create-engine.js';
import { type Engine } from '../worker/engine.js';
import { aCancelPolicy, vouchersOn } from './cancel-policy.support.js';
import {
  addPartner,
  SECRETS_KEY,
  someKey,
  someTerms,
  type Stage,
  startStage,
  stopStage,
} from './stage.support.js';

const KEY_RING = KeyRing.parse(SECRETS_KEY);
const TTL_SECONDS = 600;
const LEASE_MS = 3000;
export const POINTS = 5000;

interface EngineStage extends Stage {
  readonly all: Database;
  /** The database, connected as the user of the service. */
  readonly served: Database;
}

export class EngineBench {
  readonly store: RedemptionStore;
  readonly views: RedemptionViews;
  readonly registry = new Registry();
  readonly logs: string[];
  readonly engine: Engine;
  readonly payouts: VoucherPayout;
  readonly ledger: LedgerWatch;
  private readonly mark: HighWaterMark;
  partnerId: PartnerId = aPartnerId();

  readonly test: TestDatabase;
  readonly chain: VaultBench;
  readonly partner: FakePartner;
  readonly clock: FakeClock;

  readonly database: Database;

  private constructor(
    private readonly stage: EngineStage,
    voucherTtlSeconds = TTL_SECONDS,
    markPath?: string,
  ) {
    const { all: database, served, bench: chain, clock, logger } = stage;
    this.test = stage.database;
    this.database = database;
    this.chain = chain;
    this.partner = stage.game;
    this.clock = clock;
    this.logs = stage.logs;
    this.store = new RedemptionStore(database, testEvidence());
    this.views = new RedemptionViews(database);
    const alerts = new Alerts(this.registry, logger);
    this.mark = new HighWaterMark(markPath, new HourlyAlerts(alerts, clock), logger);
    this.ledger = new LedgerWatch(new LedgerRestoreStore(served), this.mark, alerts, clock, logger);
    const { payouts, conditions } = vouchersOn(chain, clock, {
      ledger: this.ledger,
      pool: new RpcPool({ urls: [chain.chain.url], clock }),
      voucherTtlSeconds,
      vaults: new KnownVaults(served),
      cancelling: aCancelPolicy({ coins: new CoinStore(served) }),
    });
    this.payouts = payouts;
    const directory = new PartnerDirectory(new CallbackStore(served), KEY_RING, clock, logger);
    const client = new PartnerClient({
      random: () => 0,
      clock,
      policy: { allowPrivate: true },
      timeouts: { connectMs: 500, readMs: 1000, writeMs: 1000 },
    });
    this.engine = createEngine(
      {
        stores: engineStores(served, testEvidence()),
        directory,
        caller: new PartnerCaller(client, alerts, this.registry),
        conditions,
        payouts,
        clock,
        logger,
        registry: this.registry,
        alerts,
        ledger: this.ledger,
        random: () => 0,
      },
      { atOnce: 8, leaseMs: LEASE_MS, pollMs: 1000, payoutPollMs: 15_000 },
    );
  }

  /** Starts a bench whose signer may also cancel, and has coin for that. */
  static async start(vault: Partial<VaultSetup> = {}): Promise<EngineBench> {
    const stage = await startStage(vault);
    const { database, bench: chain } = stage;
    await chain.finalise();
    stage.clock.set(chain.seconds * 1000);
    const bench = new EngineBench({
      ...stage,
      all: await database.open({ poolSize: 4 }),
      served: await database.open({ url: database.urlAs('redemption'), poolSize: 8 }),
    });
    const terms = { capabilities: PARTNER_CAPABILITIES, dailyTokenBudget: undefined };
    bench.partnerId = await addPartner(stage, 'The Game', terms);
    return bench;
  }

  /**
   * The service after a restart with other settings: with another VOUCHER_TTL_SECONDS, or a file of the newest
   * transition. Without the file it has forgotten that transition.
   */
  async restarted(change: { ttlSeconds?: number; markPath?: string }): Promise<EngineBench> {
    await this.engine.stop();
    return this.beside(change);
  }

  /** A second replica of the service. */
  async beside({
    ttlSeconds,
    markPath,
  }: {
    ttlSeconds?: number;
    markPath?: string;
  }): Promise<EngineBench> {
    const bench = new EngineBench(this.stage, ttlSeconds, markPath);
    await bench.ledger.onModuleInit();
    bench.partnerId = this.partnerId;
    return bench;
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    await stopStage(this.stage);
  }

  /** Sends the calls to the partner elsewhere. */
  async setCallback(url: string): Promise<void> {
    await new CallbackStore(this.database).change(this.partnerId, () => ({
      url,
      key: CALLBACK_KEY,
      secretCiphertext: KEY_RING.seal(CALLBACK_SECRET, hashApiKey(CALLBACK_KEY)),
      usdPerPoint: { digits: 1n, scale: 2 },
      confirms: true,
      capabilities: PARTNER_CAPABILITIES,
    }));
    // Lets the directory read the partner again.
    this.clock.advance(2000);
  }

  /** Makes a player with points, and a redemption of them. */
  async redeem(change: Partial<Redemption> = {}, points = POINTS): Promise<UuidV7> {
    const nowMs = this.clock.nowMs();
    const terms = someTerms(nowMs, { partner: this.partnerId });
    this.partner.points.set(terms.wallet, points);
    const limits = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 60 };
    await this.store.create({ ...newRedemption(terms, nowMs), ...change }, someKey(), limits);
    return terms.id;
  }

  /** Makes a redemption whose voucher its user may claim. */
  async authorised(): Promise<UuidV7> {
    const id = await this.redeem();
    await this.until(id, 'authorised');
    return id;
  }

  async stored(id: UuidV7, store = this.store): Promise<StoredRedemption> {
    const stored = await store.get(id);
    if (stored === undefined) throw new Error('no such redemption');
    return stored;
  }

  async read(id: UuidV7): Promise<Redemption> {
    return (await this.stored(id)).redemption;
  }

  /** Applies an event as a command with the key of the ledger does. */
  async happen(id: UuidV7, event: RedemptionEvent, actor = 'operator:test'): Promise<void> {
    const stored = await this.stored(id);
    const before = stored.redemption;
    const policy = { capabilities: PARTNER_CAPABILITIES, confirms: true };
    const context = { nowMs: this.clock.nowMs(), jitter: 0, policy };
    const decision = transition(before, event, context);
    if (decision.kind === 'refused') throw new Error(decision.message);
    const vouched = { stored, vouchesForNames: true } as const;
    await this.store.apply({ before, decision, event: event.type, actor, ...vouched });
  }

  /** Cancels as the user does. */
  cancel(id: UuidV7): Promise<void> {
    return this.happen(id, { type: 'cancel', by: 'user' }, 'user');
  }

  /** Sweeps and advances time, blocks included, until the redemption is in one of the states. */
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

  /** Advances the clock and the chain. */
  async pass(seconds: number): Promise<void> {
    this.clock.advance(seconds * 1000);
    await this.chain.mineAt(Math.floor(this.clock.nowMs() / 1000));
  }

  /** The voucher's calldata, which its player gets while the redemption is authorised. */
  async voucher(id: UuidV7): Promise<`0x${string}`> {
    const { redemption, place, isSealed } = await this.stored(id);
    const { plan } = redemption;
    if (plan === null || place === null || isSealed !== true) throw new Error('no plan of ours');
    const { calldata } = await this.payouts.authorise({ redemptionId: id, isSealed, plan, place });
    return calldata as `0x${string}`;
  }

  /** Claims the voucher; any account that has it can send the claim. */
  async claim(id: UuidV7): Promise<string | undefined> {
    return this.send(await this.voucher(id));
  }

  /** Sends a voucher that its player has got. */
  async send(calldata: `0x${string}`): Promise<string | undefined> {
    this.clock.advance(12_000);
    const [outcome] = await this.chain.mineAt(
      Math.floor(this.clock.nowMs() / 1000),
      this.chain.to(VaultBench.STRANGER, calldata),
    );
    return outcome?.error;
  }
}
