/** A chain with one vault, one voucher and a delayed finality. A reorganisation may undo what is not final. */
import { type BlockRef } from '../../chain/block.js';
import { payableUntilSeconds } from '../guards.js';
import { payoutEvidence, type PayoutEvidence, type PayoutTerms } from '../payout-evidence.js';
import { type Redemption } from '../redemption.js';
import { aBlock } from './builders.js';

/** Seconds between a block and its finality. */
export const FINALITY_SECONDS = 900;
const HASH = `0x${'c'.repeat(64)}`;

interface VaultEvent {
  readonly kind: 'claimed' | 'cancelled';
  readonly block: BlockRef;
}

export class ModelChain {
  private event: VaultEvent | undefined;

  /** Any account may send the voucher, at any time. */
  claim(plan: PayoutTerms, nowSeconds: number): void {
    if (nowSeconds <= plan.deadlineSeconds) this.event ??= this.happen('claimed', nowSeconds);
  }

  /**
   * A claim after a reorganisation: in any block that is not final yet, even in a block before a deadline that has
   * passed.
   */
  claimInAFork(plan: PayoutTerms, nowSeconds: number): void {
    if (this.event && this.isFinal(this.event, nowSeconds)) return;
    const seconds = Math.min(plan.deadlineSeconds, nowSeconds);
    if (seconds > nowSeconds - FINALITY_SECONDS) this.event = this.happen('claimed', seconds);
  }

  cancel(nowSeconds: number): void {
    this.event ??= this.happen('cancelled', nowSeconds);
  }

  /** Undoes what is not final, after which the sender may try again. */
  reorganise(nowSeconds: number): void {
    if (this.event && !this.isFinal(this.event, nowSeconds)) this.event = undefined;
  }

  get paid(): boolean {
    return this.event?.kind === 'claimed';
  }

  isPaidForGood(nowSeconds: number): boolean {
    return this.event?.kind === 'claimed' && this.isFinal(this.event, nowSeconds);
  }

  /** Whether the tokens can never move any more, by the rules of the chain and not by the rules under test. */
  isDeadForGood(plan: PayoutTerms, nowSeconds: number): boolean {
    if (this.event?.kind === 'claimed') return false;
    if (this.event && this.isFinal(this.event, nowSeconds)) return true;
    return nowSeconds - FINALITY_SECONDS > plan.deadlineSeconds;
  }

  observe(plan: PayoutTerms, nowSeconds: number): PayoutEvidence {
    const seconds = nowSeconds - FINALITY_SECONDS;
    const finalised = aBlock(seconds);
    const { event } = this;
    const seen = event !== undefined && event.block.timestampSeconds <= seconds ? [event] : [];
    const at = (kind: VaultEvent['kind']) =>
      seen
        .filter((one) => one.kind === kind)
        .map(({ block }) => ({ transactionHash: HASH, block, ...paidBy(plan) }));
    const [claims, cancellations] = [at('claimed'), at('cancelled')];
    const status = seen[0]?.kind ?? 'none';
    return payoutEvidence(plan, [{ witness: 'model', finalised, status, claims, cancellations }], {
      witnesses: 1,
      nowSeconds,
      marginSeconds: 0,
    });
  }

  /**
   * Looks at the vault before points go back. Without a plan it looks as the service does: for the status first, and
   * for the event that ended the payout afterwards.
   */
  observeReverting(redemption: Redemption, nowSeconds: number): PayoutEvidence {
    const { plan, wallet: recipient, tokenAmount: amount } = redemption;
    const deadlineSeconds = payableUntilSeconds(redemption);
    const first = this.observe({ recipient, amount, ...plan, deadlineSeconds }, nowSeconds);
    const isDoubtful = first.outcome === 'live' && first.doubt !== undefined;
    return plan === null && isDoubtful
      ? this.observe({ recipient, amount, deadlineSeconds: Number.MAX_SAFE_INTEGER }, nowSeconds)
      : first;
  }

  private happen(kind: VaultEvent['kind'], seconds: number): VaultEvent {
    return { kind, block: aBlock(seconds) };
  }

  private isFinal({ block }: VaultEvent, nowSeconds: number): boolean {
    return block.timestampSeconds <= nowSeconds - FINALITY_SECONDS;
  }
}

function paidBy({ recipient, amount }: PayoutTerms) {
  return { recipient, amount };
}
