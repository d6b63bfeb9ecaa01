/**
 * Runs of the whole redemption service against partners that misbehave in every way of the fault table, on a chain that
 * reorganises, with workers that are killed. The simulation moves the time: as soon as the workers have no work left,
 * it advances to the next due time. In the end partner, chain and database must agree to the last point and token.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DeliveryStore, type Program, RedemptionStore } from '#libs/db';
import { deliveryTransition, type PartnerId, type UuidV7 } from '#libs/domain';
import { finalRows } from './checks/gather-facts.js';
import { type Intruder } from './players/intruder.js';
import { Operator } from './players/operator.js';
import { type PlayedPrice } from './players/played-price.js';
import { runPlan } from './players/run-plan.js';
import { User } from './players/user.js';
import { type Dice } from './world/dice.js';
import { LIMITS } from './world/terms.js';
import { queueState, type QueueState } from './world/queue-watch.js';
import { type World } from './world/world.js';

export interface SimulationOptions {
  readonly seed: number;
  /** Each run has one partner with one to three redemptions. */
  readonly runs: number;
  /** URL of an empty, migrated database, as superuser. */
  readonly databaseUrl: string;
  /** URL with which each program connects. */
  readonly urlAs: (program: Program) => string;
  readonly workers?: number;
  /** About how many calls there are between two kills of a worker. */
  readonly callsPerKill?: number;
}

const PATIENCE_MS = 60_000;
const LATE_BY_MS = { least: 5_000, most: 3_600_000, share: 1 / 50 };
const REORGANISES = 0.06;
const OPERATES = 0.05;
/** Number of tries of the operator, a quarter of an hour apart, after which a redemption stays in attention. */
const LOOKS = 40;
const LOOK_EVERY_MS = 900_000;

export class Simulation {
  readonly users: User[] = [];
  /** The rows as they were when first seen final, by redemption id. */
  readonly firstFinal = new Map<string, string>();
  readonly operator: Operator;
  readonly price: PlayedPrice;
  readonly intruder: Intruder;
  rounds = 0;
  /** Simulated time of the last request for a redemption. */
  lastAskedMs: number;
  private readonly taken = new Set<string>();
  private readonly orphans = new Set<string>();
  private arrivals = 0;
  private nextKillAt: number;
  private killing: Promise<void> = Promise.resolve();
  private readonly driverDice: Dice;

  constructor(
    readonly world: World,
    private readonly dice: Dice,
    readonly options: SimulationOptions,
    players: { readonly price: PlayedPrice; readonly intruder: Intruder },
  ) {
    ({ price: this.price, intruder: this.intruder } = players);
    this.driverDice = dice.for('driver');
    this.operator = new Operator(
      new RedemptionStore(world.database),
      dice.for('operator'),
      () => world.nowMs,
    );
    this.lastAskedMs = world.nowMs;
    this.nextKillAt = this.callsToKill();
    world.onArrival = () => {
      this.countCall();
    };
  }

  async run(): Promise<void> {
    const { world, options } = this;
    await this.prepare();
    await world.fleet.start(options.workers ?? 2);
    let looks = 0;
    for (;;) {
      const state = await this.untilIdle();
      await this.notice();
      const hasWork = state.open > 0 || world.agenda.size > 0;
      if (hasWork) {
        if (this.driverDice.chance(OPERATES)) await this.operate(true);
        await this.advance(state);
        continue;
      }
      for (const partner of world.partners.values()) partner.heal();
      world.liar?.heal();
      const replayed = await this.replay();
      const { attention } = state;
      if (attention === 0 && replayed === 0) break;
      if (looks++ > LOOKS) break;
      await this.operate(looks < LOOKS / 4);
      await this.moveTo(world.nowMs + LOOK_EVERY_MS);
    }
    await this.killing;
    // Makes all that is on the chain final.
    await world.chain.mine(Math.floor(world.nowMs / 1000), 10);
  }

  /** For each partner: the most points that each of its wallets redeems. */
  get plannedPoints(): number[][] {
    return [...this.world.partners.values()].map((partner) =>
      this.users.filter((user) => user.partner === partner).map(({ points }) => points),
    );
  }

  private async prepare(): Promise<void> {
    const { world, options, dice } = this;
    for (let ordinal = 0; ordinal < options.runs; ordinal++) {
      const plan = runPlan(ordinal, dice.for(`run ${ordinal}`));
      const { partnerId, partner } = await world.addPartner(plan);
      for (const [index, redemption] of plan.redemptions.entries()) {
        const user = new User(redemption, partnerId, partner, {
          store: world.store,
          chain: world.chain,
          agenda: world.agenda,
          nowMs: () => world.nowMs,
          dice: dice.for(`user ${ordinal}/${index}`),
          price: this.price,
          limits: LIMITS,
        });
        user.prepare(world.startMs);
        this.users.push(user);
      }
    }
  }

  /**
   * Waits until nothing is due without a lease, and the only work under way is waiting for partners that will not
   * answer.
   */
  private async untilIdle(): Promise<QueueState> {
    const { world } = this;
    const since = performance.now();
    for (;;) {
      const state = await queueState(world.database, world.nowMs, this.intruder.forged);
      const held = state.leases.filter((lease) => !this.orphans.has(lease)).length;
      if (state.due === 0 && held <= world.server.stalledCalls) return state;
      if (performance.now() - since > PATIENCE_MS) {
        throw new Error(
          `the workers do not get on: ${JSON.stringify(state)}\n${world.fleet.lines.slice(-20).join('\n')}`,
        );
      }
      if (world.fleet.deaths.length > 0) throw new Error(world.fleet.deaths.join(', '));
      await sleep(4);
    }
  }

  private async advance({ nextMs, leases }: QueueState): Promise<void> {
    const { world } = this;
    const { least, most, share } = LATE_BY_MS;
    const elapsedMs = world.nowMs - world.startMs;
    const lateByMs = Math.min(most, Math.max(least, elapsedMs * share));
    // Workers come late to due work; the lateness grows with the time since the start, since events become rarer.
    const dueMs = Math.min(nextMs + lateByMs * this.driverDice.next(), world.agenda.nextMs);
    // A call without an answer, or the lease of a killed worker, lasts real seconds: the time must not advance by days
    // meanwhile.
    const limitMs = leases.length > 0 ? world.nowMs + 2 * lateByMs : Infinity;
    const target = Math.ceil(Math.min(dueMs, limitMs));
    if (target === Infinity) await sleep(20);
    else await this.moveTo(Math.max(target, world.nowMs));
  }

  private async moveTo(nowMs: number): Promise<void> {
    const { world } = this;
    const { chain, fleet, agenda, database } = world;
    const passedMs = nowMs - world.nowMs;
    this.rounds++;
    world.liar?.step();
    await this.intruder.step(world.partners);
    if (this.users.some(({ wantsPrice }) => wantsPrice)) {
      this.lastAskedMs = nowMs;
      await this.price.step();
    }
    world.nowMs = nowMs;
    for (const { what } of agenda.take(nowMs)) await what();
    const seconds = Math.floor(nowMs / 1000);
    if (this.driverDice.chance(REORGANISES)) await chain.reorganise(seconds);
    await chain.mine(seconds, passedMs > 30_000 ? 3 : 1);
    await fleet.tell(nowMs);
    await database.query({ text: 'NOTIFY lowmark_redemption' });
  }

  /** Tells partners and users what they would learn of the redemptions by now. */
  private async notice(): Promise<void> {
    const { world } = this;
    const rows = await world.database.query<{
      id: string;
      partner: PartnerId;
      state: string;
      tx: string | null;
      revert: string | null;
    }>({
      name: 'simulation_notice',
      text: `SELECT id, partner, state, partner_transaction_id AS tx, partner_revert_id AS revert FROM redemption.redemption
        WHERE partner_transaction_id IS NOT NULL AND state NOT IN ('claimed', 'failed')`,
    });
    for (const { id, partner: partnerId, state, tx, revert } of rows) {
      const partner = world.partners.get(partnerId);
      if (tx !== null) partner?.deliveredTransactionIds.add(tx);
      if (revert !== null) partner?.deliveredRevertIds.add(revert);
      if (state !== 'authorised' || this.taken.has(id)) continue;
      this.taken.add(id);
      const stored = await world.store.get(id as UuidV7);
      if (stored?.redemption.state !== 'authorised') continue;
      if (this.intruder.forged.has(id)) await this.intruder.take(stored, world.chain);
      else this.users.find((one) => one.id === id)?.take(stored);
    }
    if (this.rounds % 10 !== 0) return;
    for (const [id, hash] of await finalRows(world.database)) {
      if (!this.firstFinal.has(id)) this.firstFinal.set(id, hash);
    }
  }

  private async operate(mayRetry: boolean): Promise<void> {
    const { world } = this;
    const rows = await world.database.query<{ id: UuidV7; partner: PartnerId }>({
      text: `SELECT id, partner FROM redemption.redemption WHERE state = 'attention' ORDER BY id`,
    });
    for (const { id, partner: partnerId } of rows) {
      const partner = world.partners.get(partnerId);
      if (partner === undefined || this.intruder.forged.has(id)) continue;
      const copiesUnderWay = world.copiesOf(id) > 0;
      await this.operator.resolve({ id, partner, copiesUnderWay }, mayRetry);
    }
  }

  /** Replays confirmations that were not delivered in time, as an operator's command does. @returns how many */
  private async replay(): Promise<number> {
    const { world } = this;
    const deliveries = new DeliveryStore(world.database);
    const all = await deliveries.listUndelivered(1000);
    for (const { redemptionId, delivery: before } of all) {
      const context = { nowMs: world.nowMs, jitter: 0 };
      const decision = deliveryTransition(before, { type: 'replay' }, context);
      if (decision.kind === 'refused') continue;
      const audit = { actor: 'operator:simulation', command: 'replay-confirm' };
      await deliveries.apply({ redemptionId, before, next: decision.next, audit });
    }
    return all.length;
  }

  private countCall(): void {
    this.arrivals++;
    if (this.arrivals < this.nextKillAt) return;
    this.nextKillAt = this.arrivals + this.callsToKill();
    this.killing = this.killing.then(() => this.kill());
  }

  private async kill(): Promise<void> {
    const { fleet, database, nowMs } = this.world;
    await fleet.killOne(this.driverDice.between(0, 99));
    // No worker takes what the killed worker had before its leases end.
    for (const lease of (await queueState(database, nowMs, this.intruder.forged)).leases)
      this.orphans.add(lease);
  }

  private callsToKill(): number {
    const { callsPerKill = 160 } = this.options;
    return this.driverDice.between(Math.ceil(callsPerKill / 2), Math.ceil(callsPerKill * 1.5));
  }
}
