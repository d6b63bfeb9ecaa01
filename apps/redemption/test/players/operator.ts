/** An operator who reads the partner's books and reports them truly, by the existing commands. */
import {
  PartnerIdReusedError,
  type RedemptionStore,
  StaleRedemptionError,
  type StoredRedemption,
} from '#libs/db';
import {
  type Decision,
  type PartnerPolicy,
  type RedemptionEvent,
  transition,
  type UuidV7,
} from '#libs/domain';
import { type ChaosPartner } from '../partner/chaos-partner.js';
import { type Dice } from '../world/dice.js';

export interface Case {
  readonly id: UuidV7;
  readonly partner: ChaosPartner;
  /** True where copies of deductions may still arrive: "not deducted" may then become wrong. */
  readonly copiesUnderWay: boolean;
}

type Command = Extract<RedemptionEvent, { type: `operator-${string}` }>;

export class Operator {
  readonly done = new Map<string, number>();

  constructor(
    private readonly store: RedemptionStore,
    private readonly dice: Dice,
    private readonly nowMs: () => number,
  ) {}

  /** Tries one command. @returns whether the redemption changed its state */
  async resolve(one: Case, mayRetry: boolean): Promise<boolean> {
    const stored = await this.store.get(one.id);
    if (stored?.redemption.state !== 'attention') return false;
    const commands = truthful(one, mayRetry);
    if (commands.length === 0) return false;
    return this.command(stored, one.partner, this.dice.pick(commands));
  }

  private async command(
    { redemption }: StoredRedemption,
    partner: ChaosPartner,
    event: Command,
  ): Promise<boolean> {
    const policy: PartnerPolicy = { capabilities: partner.recorded, confirms: partner.confirms };
    const context = { nowMs: this.nowMs(), jitter: this.dice.next(), policy };
    const decision: Decision = transition(redemption, event, context);
    if (decision.kind === 'refused') return false;
    // The runbook asks the partner only once the service would let the points go back.
    if (event.type === 'operator-restored') partner.books.restoreByHand(redemption.id);
    const command = event.type.slice('operator-'.length);
    try {
      await this.store.apply({
        before: redemption,
        decision,
        event: event.type,
        actor: 'operator:simulation',
        audit: { command, outcome: 'done' },
      });
    } catch (error) {
      if (error instanceof StaleRedemptionError || error instanceof PartnerIdReusedError) {
        return false;
      }
      throw error;
    }
    this.done.set(command, (this.done.get(command) ?? 0) + 1);
    return true;
  }
}

function truthful({ id, partner, copiesUnderWay }: Case, mayRetry: boolean): Command[] {
  const { books } = partner;
  const [deduction] = books.of(id);
  const commands: Command[] = mayRetry ? [{ type: 'operator-retry' }] : [];
  if (deduction === undefined) {
    if (!copiesUnderWay) commands.push({ type: 'operator-not-deducted' });
    return commands;
  }
  const { transactionId: partnerTransactionId } = deduction;
  return [
    ...commands,
    { type: 'operator-set-transaction', partnerTransactionId },
    { type: 'operator-restored' },
  ];
}
