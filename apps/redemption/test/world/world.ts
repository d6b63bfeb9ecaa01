/** The environment of a simulation: database, chain, partners, workers and a time that the simulation moves. */
import { randomBytes } from 'node:crypto';
import {
  CallbackStore,
  createDatabase,
  type Database,
  decimalText,
  PartnerStore,
  RedemptionStore,
} from '#libs/db';
import { accountAddress } from './account-address.js';
import { type Decimal, type PartnerId } from '#libs/domain';
import { hashApiKey, KeyRing } from '#libs/signing';
import { EVIDENCE_KEY, testEvidence, VaultBench } from '#libs/testing';
import { ChaosPartner, type LateCall } from '../partner/chaos-partner.js';
import { ChaosServer } from '../partner/chaos-server.js';
import { ChainPlayer } from '../players/chain-player.js';
import { LyingEndpoint } from '../players/lying-endpoint.js';
import { type RunPlan } from '../players/run-plan.js';
import { Agenda } from './agenda.js';
import { type Dice } from './dice.js';
import { WorkerFleet } from './worker-fleet.js';
import { USD_PER_POINT, WALLET_DAILY_TOKENS } from './terms.js';
import { type WorkerSetup } from './worker-orders.js';

const CANCELLER_KEY = '33'.repeat(32);
export const VOUCHER_TTL_SECONDS = 600;
const LEASE_MS = 3000;
const REFUSING_URL = 'http://127.0.0.1:1';

export interface WorldOptions {
  /** URL of an empty, migrated database. */
  readonly databaseUrl: string;
  readonly dice: Dice;
  /** Whether an endpoint with false answers is beside the honest one. */
  readonly hasLiar?: boolean;
  /** Whole tokens per partner and UTC day; absent: not limited. */
  readonly partnerDailyTokens?: Decimal;
  /** Differences from the workers of a simulation. */
  readonly worker?: Partial<WorkerSetup>;
}

export class World {
  readonly agenda = new Agenda();
  /** By the service's id of the partner. */
  readonly partners = new Map<PartnerId, ChaosPartner>();
  readonly store: RedemptionStore;
  readonly chain: ChainPlayer;
  readonly fleet: WorkerFleet;
  readonly startMs: number;
  nowMs: number;
  /** Called whenever a call arrives at a partner. */
  onArrival: () => void = () => undefined;
  private readonly copies = new Map<string, number>();

  readonly database: Database;
  readonly bench: VaultBench;
  readonly server: ChaosServer;
  readonly liar: LyingEndpoint | undefined;
  readonly secretsKey = randomBytes(32).toString('base64');
  private readonly dice: Dice;

  private constructor(
    parts: Pick<World, 'database' | 'bench' | 'server' | 'liar'>,
    private readonly options: WorldOptions,
  ) {
    ({ database: this.database, bench: this.bench, server: this.server } = parts);
    this.liar = parts.liar;
    this.dice = options.dice;
    this.startMs = (this.bench.seconds + 60) * 1000;
    this.nowMs = this.startMs;
    this.store = new RedemptionStore(this.database, testEvidence());
    this.chain = new ChainPlayer(this.bench, this.dice.for('chain'));
    this.fleet = new WorkerFleet((ordinal) => this.workerSetup(ordinal));
  }

  static async create(options: WorldOptions): Promise<World> {
    const { databaseUrl, dice, hasLiar = false } = options;
    const canceller = accountAddress(CANCELLER_KEY);
    const [bench, server, database] = await Promise.all([
      VaultBench.start({ canceller }),
      ChaosServer.start(),
      createDatabase({ url: databaseUrl, applicationName: 'simulation', poolSize: 4 }),
    ]);
    const { url } = bench.chain.rpc;
    const liar = hasLiar
      ? await LyingEndpoint.start(url, bench.vault, dice.for('lying endpoint'))
      : undefined;
    return new World({ bench, server, database, liar }, options);
  }

  async stop(): Promise<void> {
    await this.fleet.stop();
    await this.liar?.stop();
    await Promise.all([this.server.stop(), this.bench.stop(), this.database.close()]);
  }

  /** @returns the service's id of the partner, and the partner */
  async addPartner(plan: RunPlan): Promise<{ partnerId: PartnerId; partner: ChaosPartner }> {
    const partner = new ChaosPartner(plan.name, {
      ...plan,
      dice: this.dice.for(plan.name),
      around: {
        nowMs: () => this.nowMs,
        later: (call) => {
          this.deliverLater(call);
        },
        stalled: (socket) => {
          this.server.stall(socket);
        },
        arrived: () => {
          this.onArrival();
        },
      },
    });
    this.server.add(partner);
    const ring = KeyRing.parse(this.secretsKey);
    const keyHash = hashApiKey(partner.apiKey);
    const secretCiphertext = ring.seal(partner.secret, keyHash);
    const credential = { keyHash, keyPrefix: plan.name, secretCiphertext };
    const { partnerId } = await new PartnerStore(this.database).create({
      name: plan.name,
      rate: 1,
      burst: 1,
      credential,
    });
    const setUrl = async (url: string): Promise<void> => {
      await new CallbackStore(this.database).change(partnerId, () => ({
        url,
        key: partner.apiKey,
        secretCiphertext,
        usdPerPoint: USD_PER_POINT,
        dailyTokenBudget: this.options.partnerDailyTokens,
        confirms: plan.confirms,
        capabilities: plan.recorded,
      }));
    };
    const { unreachableForMs } = plan;
    await setUrl(unreachableForMs > 0 ? REFUSING_URL : this.server.urlOf(partner));
    if (unreachableForMs > 0) {
      this.agenda.add(this.startMs + unreachableForMs, () => setUrl(this.server.urlOf(partner)));
    }
    this.partners.set(partnerId, partner);
    return { partnerId, partner };
  }

  /** Number of copies of this redemption's deductions that have not arrived yet. */
  copiesOf(redemptionId: string): number {
    return this.copies.get(redemptionId) ?? 0;
  }

  private deliverLater(late: LateCall): void {
    const { call, atMs, partner } = late;
    const { svcRedemptionId: id } = call.body;
    const count = call.step === 'deduct' ? 1 : 0;
    this.copies.set(id, this.copiesOf(id) + count);
    this.agenda.add(atMs, () => {
      this.copies.set(id, this.copiesOf(id) - count);
      partner.receiveLate(late);
    });
  }

  /** The endpoint with false answers is first for one worker and second for the next. */
  private rpcUrls(ordinal: number): string[] {
    if (this.liar === undefined) return [this.bench.chain.rpc.url];
    const { url, honestUrl } = this.liar;
    return ordinal % 2 === 0 ? [url, honestUrl] : [honestUrl, url];
  }

  private workerSetup(ordinal: number): WorkerSetup {
    const { chain, vault, place } = this.bench;
    return {
      databaseUrl: this.options.databaseUrl,
      secretsKey: this.secretsKey,
      evidenceKey: EVIDENCE_KEY,
      rpcUrls: this.rpcUrls(ordinal),
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
        walletDailyTokens: decimalText(WALLET_DAILY_TOKENS),
      },
      ...this.options.worker,
    };
  }
}
