/** One simulated world: workers, ledger, partners, chain, players and operator, and what goes wrong among them. */
import { isFinal } from '#libs/domain';
import { type Choices, DeviationError, type Scheduler } from '../kernel/index.js';
import { Fleet } from './fleet.js';
import { Hints } from './hints.js';
import { Invariants } from './invariants.js';
import { Operator } from './operator.js';
import { Players } from './players.js';
import { Trouble } from './trouble.js';
import { WorldState } from './world-state.js';

/** Set by each world for itself; worlds run one after the other. */
export const PACE = {
  startMs: Date.UTC(2026, 2, 1, 23, 40),
  slowPerMille: 0,
  slowestMs: 3_000,
  timerWeight: 0,
};
const SLOW_PER_MILLE = 20;
/** Enough for the seven days in which a revert is tried again. */
const MOST_CALM_STEPS = 10_000;
/** Times that the operator looks at what is left, a quarter of an hour apart. */
const LOOKS = 40;
const LOOK_EVERY_MS = 900_000;

export class EngineWorld {
  private readonly state: WorldState;
  private readonly invariants: Invariants;
  private readonly hints: Hints;
  private readonly fleet: Fleet;
  private readonly players: Players;
  private readonly operator: Operator;
  private readonly trouble: Trouble;

  constructor(choices: Choices, scheduler: Scheduler) {
    const state = (this.state = new WorldState(choices, scheduler));
    // In a punctual world no time passes while a node or the database is asked.
    const { isPunctual } = state.plan;
    PACE.timerWeight = isPunctual ? 0 : 1;
    PACE.slowPerMille = isPunctual ? 0 : SLOW_PER_MILLE;
    this.invariants = new Invariants(state);
    this.hints = new Hints(state);
    this.fleet = new Fleet(state, this.hints);
    this.players = new Players(state, () => this.fleet.ready());
    this.operator = new Operator(state);
    this.trouble = new Trouble(state, this.fleet, () => {
      this.invariants.wentBack();
    });
  }

  /** @throws DeviationError */
  async play(): Promise<void> {
    const { plan, scheduler } = this.state;
    this.fleet.startAll();
    this.players.start();
    this.trouble.start();
    const afterStep = (): void => {
      this.afterStep();
    };
    const until = (): boolean =>
      this.players.busy === 0 && !this.trouble.isRestoreAhead && this.isSettled();
    await scheduler.run({ until, mostSteps: plan.stormSteps, afterStep });
    await this.calmDown(afterStep);
    this.checkEnd();
  }

  private afterStep(): void {
    this.recordKnownIds();
    this.trouble.backUp?.();
    this.players.takeVouchers();
    this.hints.hintWhenDue();
    this.invariants.check();
    this.state.requireNoDeviation();
  }

  /** The ids that partners may give again for another redemption. */
  private recordKnownIds(): void {
    for (const one of this.state.ledger.redemptions()) {
      const { partnerTransactionId, partnerRevertId, partner, state } = one;
      const known = this.state.partners.get(partner)?.knownIds;
      if (known === undefined || state === 'claimed' || state === 'failed') continue;
      if (partnerTransactionId !== null && !known.transaction.includes(partnerTransactionId)) {
        known.transaction.push(partnerTransactionId);
      }
      if (partnerRevertId !== null && !known.revert.includes(partnerRevertId)) {
        known.revert.push(partnerRevertId);
      }
    }
  }

  private isSettled(): boolean {
    if (this.state.ledger.isUnnoted) return false;
    for (const { state } of this.state.ledger.redemptions()) {
      if (!isFinal(state) && state !== 'attention') return false;
    }
    for (const { delivery } of this.state.ledger.tables.deliveries.values()) {
      if (delivery.state === 'pending') return false;
    }
    return true;
  }

  /** Everything is in order again; the operator resolves what is left. */
  private async calmDown(afterStep: () => void): Promise<void> {
    const { scheduler } = this.state;
    this.state.isCalm = true;
    scheduler.isCalm = true;
    PACE.timerWeight = 0;
    scheduler.note('everything works again');
    for (const node of this.state.nodes) node.lie = undefined;
    for (const partner of this.state.partners.values()) partner.isHealed = true;
    this.trouble.noteRestore();
    for (let look = 0; ; look++) {
      const mostSteps = MOST_CALM_STEPS;
      const outcome = await scheduler.run({ until: () => this.isSettled(), mostSteps, afterStep });
      if (outcome !== 'reached') {
        throw new DeviationError('I7 it does not end', `${outcome}: ${this.openStates()}`);
      }
      if (this.isFinished()) return;
      if (look === LOOKS) {
        throw new DeviationError('I7 an operator cannot end it', this.openStates());
      }
      // A retry may take a week of reverts.
      await this.operator.operate(look === 0);
      let isOver = false;
      setTimeout(() => (isOver = true), LOOK_EVERY_MS);
      await scheduler.run({ until: () => isOver, mostSteps, afterStep });
    }
  }

  private isFinished(): boolean {
    const { deliveries } = this.state.ledger.tables;
    const isOpen = [...this.state.ledger.redemptions()].some(({ state }) => !isFinal(state));
    const isCallHeld = [...this.state.partners.values()].some((partner) => partner.isCallHeld);
    return (
      !isOpen &&
      !isCallHeld &&
      [...deliveries.values()].every((one) => one.delivery.state === 'delivered')
    );
  }

  private openStates(): string {
    return [...this.state.ledger.redemptions()]
      .filter(({ state }) => !isFinal(state))
      .map(({ id, state, reason }) => `${id} is ${state} (${String(reason)})`)
      .join(', ');
  }

  /** Points, tokens and confirmations, to the last unit. */
  private checkEnd(): void {
    const { chain, ledger } = this.state;
    for (const plan of this.state.plan.wallets) {
      const partner = [...this.state.partners.values()][plan.partner];
      const points = partner?.books.points.get(plan.wallet);
      const claimed = [...ledger.redemptions()].filter(
        ({ wallet, state }) => wallet === plan.wallet && state === 'claimed',
      );
      const taken = claimed.reduce((sum, one) => sum + Number(one.points), 0);
      const due = plan.balance === undefined ? undefined : plan.balance - taken;
      // What a restored ledger lacks may still be resolved by hand.
      if (!this.state.hasRestored && points !== due) {
        throw new DeviationError(
          'points',
          `${plan.wallet} has ${String(points)}, not ${String(due)}`,
        );
      }
      const paid = chain.entries().filter(({ recipient }) => recipient === plan.wallet);
      const tokens = paid.reduce((sum, { amount }) => sum + amount, 0n);
      const owed = claimed.reduce((sum, one) => sum + one.tokenAmount, 0n);
      if (!this.state.hasRestored && tokens !== owed) {
        throw new DeviationError('tokens', `${plan.wallet} has ${tokens}, not ${owed}`);
      }
    }
    for (const { redemptionId, partner: id } of ledger.tables.deliveries.values()) {
      const partner = this.state.partners.get(id);
      if (partner?.confirmations.has(redemptionId) === true) continue;
      throw new DeviationError('I8 delivered, and never received', redemptionId);
    }
  }
}
