/** An operator who reads the partners' books and reports them truly, by the existing commands. */
import { type StoredRedemption } from '#libs/db';
import {
  type Decision,
  deliveryTransition,
  LowmarkError,
  type Redemption,
  type RedemptionEvent,
  transition,
} from '#libs/domain';
import { MemoryDeliveryStore, MemoryRedemptionStore } from './ledger/index.js';
import { type SimulatedPartner } from './partner.js';
import { type WorldState } from './world-state.js';

type Command = Extract<RedemptionEvent, { type: `operator-${string}` }>;

const RETRY: Command = { type: 'operator-retry' };

export class Operator {
  constructor(private readonly world: WorldState) {}

  /** Tries one command for each redemption in attention, and replays confirmations that were not delivered. */
  async operate(mayRetry: boolean): Promise<void> {
    for (const id of this.world.ledger.tables.redemptions.keys()) {
      const stored = await this.world.redemptions.get(id);
      if (stored?.redemption.state !== 'attention') continue;
      const partner = this.world.partners.get(stored.redemption.partner);
      if (partner === undefined) continue;
      // The chain has made blocks meanwhile, whether or not a node was asked.
      this.world.chain.advance();
      const commands = this.commandsFor(stored.redemption, partner, mayRetry);
      if (commands.length > 0)
        this.command(stored, partner, this.world.choices.pick('command', commands));
    }
    for (const { redemptionId, delivery: before } of this.world.ledger.tables.deliveries.values()) {
      const context = { nowMs: this.world.scheduler.nowMs(), jitter: 0 };
      const decision = deliveryTransition(before, { type: 'replay' }, context);
      if (before.state !== 'undelivered' || decision.kind === 'refused') continue;
      const audit = { actor: 'operator:simulation', command: 'replay-confirm' };
      const write = { redemptionId, before, next: decision.next, audit };
      void new MemoryDeliveryStore(this.world.ledger).apply(write);
    }
  }

  /** The true statements that the service accepts, and a retry where it is wanted or the only way on. */
  private commandsFor(
    redemption: Redemption,
    partner: SimulatedPartner,
    mayRetry: boolean,
  ): Command[] {
    const accepted = [...truthful(redemption, partner), RETRY].filter(
      (event) => this.decide(redemption, partner, event).kind !== 'refused',
    );
    return mayRetry || accepted.length === 1
      ? accepted
      : accepted.filter((event) => event !== RETRY);
  }

  private decide(redemption: Redemption, { plan }: SimulatedPartner, event: Command): Decision {
    const policy = { capabilities: plan.recorded, confirms: plan.confirms };
    const context = { nowMs: this.world.scheduler.nowMs(), jitter: 0, policy };
    return transition(redemption, event, context);
  }

  private command(stored: StoredRedemption, partner: SimulatedPartner, event: Command): void {
    const before = stored.redemption;
    const decision = this.decide(before, partner, event);
    if (decision.kind === 'refused') return;
    this.world.scheduler.note(`the operator: ${event.type} ${before.id.slice(-4)}`);
    // The runbook asks the partner only once the service would let the points go back.
    if (event.type === 'operator-restored') partner.restoreByHand(before.id);
    const audit = { command: event.type, outcome: 'done' };
    const write = { before, decision, event: event.type, actor: 'operator:simulation', audit };
    // Only this command needs the key, and vouches for the id that it names.
    const vouched = event.type === 'operator-set-transaction' && {
      stored,
      vouchesForNames: true as const,
    };
    const store = vouched ? this.world.redemptions : new MemoryRedemptionStore(this.world.ledger);
    void store.apply({ ...write, ...vouched }).catch((error: unknown) => {
      if (!(error instanceof LowmarkError)) throw error;
    });
  }
}

function truthful({ id }: Redemption, { books, copies }: SimulatedPartner): Command[] {
  const [deduction] = books.of(id);
  if (deduction === undefined) {
    return (copies.get(id) ?? 0) === 0 ? [{ type: 'operator-not-deducted' }] : [];
  }
  const { transactionId: partnerTransactionId } = deduction;
  return [
    { type: 'operator-set-transaction', partnerTransactionId },
    { type: 'operator-restored' },
  ];
}
