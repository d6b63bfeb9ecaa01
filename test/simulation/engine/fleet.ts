/** The workers: processes of the redemption service that begin, die, and begin again. */
import { type PartnerCallback } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { hashApiKey } from '#libs/signing';
import { CallWatch } from './call-watch.js';
import { type Hints } from './hints.js';
import { type SimulatedPartner } from './partner.js';
import { type ReadyWorker } from './players.js';
import { SimulatedWire } from './wire.js';
import { SimulatedWorker } from './worker.js';
import { EVIDENCE, KEY_RING, type WorldState } from './world-state.js';

export const RESTART_MS = 5_000;

export class Fleet {
  readonly calls: CallWatch;
  private readonly workers: SimulatedWorker[] = [];
  private readonly callbacks: readonly PartnerCallback[];
  private started = 0;

  constructor(
    private readonly world: WorldState,
    private readonly hints: Hints,
  ) {
    this.calls = new CallWatch(world);
    const { partnerDailyTokens: digits } = world.plan;
    this.callbacks = [...world.partners.values()].map((one) =>
      callbackOf(one, { digits, scale: 18 }),
    );
  }

  startAll(): void {
    for (let worker = 0; worker < this.world.plan.workers; worker++) this.start();
  }

  killOne(): void {
    const alive = this.alive();
    const victim = alive[this.world.choices.int('victim', alive.length)];
    if (victim === undefined) return;
    this.end(victim);
    setTimeout(() => {
      this.start();
    }, RESTART_MS);
  }

  killAll(): void {
    for (const worker of this.alive()) this.end(worker);
  }

  alive(): SimulatedWorker[] {
    return this.workers.filter(({ process }) => process.isAlive);
  }

  ready(): ReadyWorker[] {
    return this.alive().flatMap(({ process, service }) => (service ? { process, service } : []));
  }

  private start(): void {
    const { world, hints, calls } = this;
    const { plan, ledger, scheduler, nodes, partners } = world;
    const name = `w${++this.started}`;
    const wire = new SimulatedWire(scheduler, partners, {
      sent: (partner, visit) => calls.sent(name, partner, visit),
    });
    const isStormy = (perMille: number) => () => (world.isCalm ? 0 : perMille);
    const worker: SimulatedWorker = new SimulatedWorker(name, {
      ...{ scheduler, ledger, wire, evidence: EVIDENCE, keyRing: KEY_RING },
      // Each worker prefers another node.
      nodes: this.started % 2 === 0 ? [...nodes].reverse() : nodes,
      callbacks: { list: () => Promise.resolve([...this.callbacks]) },
      hints: hints.sourceOf(() => worker.process),
      walletDailyTokenBudget: { digits: plan.walletDailyTokens, scale: 18 },
      rpcFaultsPerMille: isStormy(plan.rpcFaultsPerMille),
      databaseFaultsPerMille: isStormy(plan.databaseFaultsPerMille),
      leaseMs: plan.leaseMs,
      clockAheadMs: plan.clocks.workersMs[this.started % plan.workers] ?? 0,
      onLease: (what, id) => {
        this.seeLease(name, what, id);
      },
      onError: (message, fields) => {
        this.seeError(name, message, fields);
      },
    });
    this.workers.push(worker);
  }

  private end(worker: SimulatedWorker): void {
    this.world.scheduler.kill(worker.process);
    this.workers.splice(this.workers.indexOf(worker), 1);
    this.calls.died(worker.process.name);
  }

  /** A worker that is alive keeps its lease, unless a node or the ledger lets it wait. */
  private seeLease(worker: string, what: 'lost' | 'taken by another', id: string): void {
    const { world } = this;
    const isAlive = this.alive().some(({ process }) => process.name === worker);
    if (!isAlive || (what === 'lost' && !world.isTimely)) return;
    world.deviate(`a lease is ${what}`, `${worker}, redemption ${id}`);
  }

  /** An error that is neither an alert nor one of ours is not explained by anything that goes wrong in the world. */
  private seeError(worker: string, message: string, fields: object): void {
    const { err, alert } = fields as { err?: unknown; alert?: string };
    if (alert !== undefined || err instanceof LowmarkError) return;
    const detail = err instanceof Error ? (err.stack ?? err.message) : JSON.stringify(fields);
    this.world.deviate('an unexpected error', `${worker} ${message}: ${detail}`);
  }
}

function callbackOf(
  { id, plan, key, secret, url }: SimulatedPartner,
  dailyTokenBudget: { readonly digits: bigint; readonly scale: number },
): PartnerCallback {
  return {
    ...{ partnerId: id, partnerName: plan.name, url, key, paused: false, dailyTokenBudget },
    secretCiphertext: KEY_RING.seal(secret, hashApiKey(key)),
    usdPerPoint: { digits: 1n, scale: 2 },
    confirms: plan.confirms,
    capabilities: plan.recorded,
  };
}
