/** An operator who reads the partners' books and reports them truly, by the existing commands. */
import { type StoredRedemption } from '#libs/db';
import {
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

export class Operator {
  constructor(private readonly world: WorldState) {}

  /** Tries one command for each redemption in attention, and replays confirmations that were not delivered. */
  async operate(mayRetry: boolean): Promise<void> {
    for (const id of this.world.ledger.tables.redemptions.keys()) {
      const stored = await this.world.redemptions.get(id);
      if (stored?.redemption.state !== 'attention') continue;
      const { redemption } = stored;
      const partner = this.world.partners.get(redemption.partner);
      if (partner === undefined) continue;
      // The chain has made blocks meanwhile, whether or not a node was asked.
      this.world.chain.advance();
      const commands = truthful(redemption, partner, mayRetry);
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

  private command(stored: StoredRedemption, partner: SimulatedPartner, event: Command): void {
    const before = stored.redemption;
    const { recorded: capabilities, confirms } = partner.plan;
    const policy = { capabilities, confirms };
    const context = { nowMs: this.world.scheduler.nowMs(), jitter: 0, policy };
    const decision = transition(before, event, context);
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

function truthful(
  { id }: Redemption,
  { books, copies }: SimulatedPartner,
  mayRetry: boolean,
): Command[] {
  const [deduction] = books.of(id);
  const commands: Command[] = mayRetry ? [{ type: 'operator-retry' }] : [];
  if (deduction === undefined) {
    if ((copies.get(id) ?? 0) === 0) commands.push({ type: 'operator-not-deducted' });
    return commands;
  }
  const { transactionId: partnerTransactionId } = deduction;
  return [
    ...commands,
    { type: 'operator-set-transaction', partnerTransactionId },
    { type: 'operator-restored' },
  ];
}
