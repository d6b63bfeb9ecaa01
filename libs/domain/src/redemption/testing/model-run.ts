/**
 * One run of the state machine against the model partner and the model chain. A tape of numbers decides every fault,
 * crash, delay, wish and order; at the end of the tape, one kind of fault goes on for ever. The run keeps everything
 * that the invariants are judged by.
 */
import { lostCallEvent } from '../call-event.js';
import { type Command, type Decision, type Moved } from '../decision.js';
import { payoutEvent, type RedemptionEvent } from '../redemption-event.js';
import { type PayoutTerms } from '../payout-evidence.js';
import { type DeadEvidence, isFinal, type Redemption } from '../redemption.js';
import { transition } from '../transition.js';
import { type UuidV7 } from '../uuid-v7.js';
import { aRedemption, aUuid, START_MS } from './builders.js';
import { FINALITY_SECONDS, ModelChain } from './model-chain.js';
import {
  CLOCKS_SECONDS,
  DELAYS_MS,
  faultFor,
  hastyEvents,
  LEASE_MS,
  MAX_STEPS,
  planFor,
  type RunPlan,
  TTL_SECONDS,
} from './model-plan.js';
import { arrivesLate, ModelNetwork } from './model-network.js';
import { ModelPartner } from './model-partner.js';

export class ModelRun {
  readonly partner: ModelPartner;
  private readonly network: ModelNetwork;
  readonly chain = new ModelChain();
  readonly history: Redemption[] = [];
  readonly commands: Command[] = [];
  /** Rules that were broken during the run; empty in a good run. */
  readonly breaches: string[] = [];
  nowMs = START_MS;
  private at = 0;
  private serial = 10;
  private strayResults: RedemptionEvent[] = [];
  private forgotten: PayoutTerms | null = null;

  constructor(readonly plan: RunPlan) {
    this.partner = new ModelPartner(plan.nature);
    this.network = new ModelNetwork(this.partner);
    this.history.push(aRedemption('created'));
  }

  /**
   * A backup replaces the ledger, and the operator notes the restore. Everything that happened after the backup, and
   * the voucher, stay as they are.
   */
  restore(): void {
    const before = this.history.splice(0);
    this.forgotten = before.findLast(({ plan }) => plan !== null)?.plan ?? null;
    const open = before.filter(({ state }) => !isFinal(state));
    const old = open[this.choose(open.length)] ?? aRedemption('created');
    // A plan in the backup is the only plan that exists.
    const untilSeconds = old.plan ? null : this.nowSeconds + TTL_SECONDS + CLOCKS_SECONDS;
    this.history.push({ ...old, lostVoucherUntilSeconds: untilSeconds });
    this.commands.splice(0);
  }

  /** The voucher that was signed, whether the ledger knows it or not. */
  private get voucher(): PayoutTerms | null {
    return this.row.plan ?? this.forgotten;
  }

  get row(): Redemption {
    return this.history.at(-1) ?? aRedemption('created');
  }

  hasEnded(): boolean {
    return isFinal(this.row.state) || this.row.state === 'attention';
  }

  get nowSeconds(): number {
    return Math.floor(this.nowMs / 1000);
  }

  /** A number below `size`; 0 at the end of the tape. */
  choose(size: number): number {
    return (this.plan.tape[this.at++] ?? 0) % size;
  }

  /** Works until the redemption has ended. The limit of steps stops a machine that is stuck. */
  work(steps = MAX_STEPS): void {
    for (let step = 0; step < steps && !this.hasEnded(); step++) {
      this.interfere();
      if (this.hasEnded()) return;
      this.nowMs = Math.max(this.nowMs, this.row.nextActionAtMs ?? this.nowMs);
      this.network.deliver(this.nowMs);
      this.takeStep();
    }
  }

  /** Lets every call that is still under way arrive, and the user try every claim once more. */
  settle(): void {
    const { voucher } = this;
    if (voucher) this.chain.claim(voucher, this.nowSeconds);
    this.nowMs += Math.max(...DELAYS_MS);
    this.network.deliver(this.nowMs);
    if (voucher) this.chain.claim(voucher, this.nowSeconds);
    if (voucher) this.chain.claimInAFork(voucher, this.nowSeconds);
    this.nowMs += FINALITY_SECONDS * 1000;
  }

  /** An operator who has looked at the partner's records and reports the truth about them. */
  command(): void {
    const { standing, transactionId } = this.partner;
    switch (this.choose(4)) {
      case 1:
        if (!standing) this.apply({ type: 'operator-not-deducted' });
        return;
      case 2:
        if (transactionId === undefined) return;
        this.apply({ type: 'operator-set-transaction', partnerTransactionId: transactionId });
        return;
      case 3:
        // The partner gives the points back at the operator's request, once the service would allow this.
        if (this.apply({ type: 'operator-restored' }).kind === 'moved')
          this.partner.restoreByHand();
        return;
      default:
        this.apply({ type: 'operator-retry' });
    }
  }

  apply(event: RedemptionEvent): Decision {
    const { row } = this;
    const decision = transition(row, event, {
      nowMs: this.nowMs,
      jitter: this.choose(10) / 10,
      policy: this.plan.policy,
    });
    if (decision.kind === 'moved') this.commit(row, event, decision);
    return decision;
  }

  private commit(row: Redemption, event: RedemptionEvent, { next, command }: Moved): void {
    if (next.version !== row.version + 1) this.breaches.push('a version was left out');
    const isCall = command?.kind === 'call-partner';
    const begins = next.openCall !== null && next.openCall.requestId !== row.openCall?.requestId;
    if (isCall !== begins || (isCall && next.openCall?.requestId !== command.requestId)) {
      this.breaches.push('a call without its row (rule A)');
    }
    if (isCall && next.exposure !== 'possible') {
      this.breaches.push('a call without exposure (rule A)');
    }
    this.history.push(next);
    // In a restored ledger the vault is asked before the first call.
    if (next.state === 'reverting' && this.forgotten === null && !this.tokensAreSafe()) {
      this.breaches.push('points on their way back while tokens can move (rule F)');
    }
    if (command !== null) this.commands.push(command);
    // A voucher is signed as soon as the plan is committed. A crash may lose what the service does after the commit.
    const isWish = event.type === 'cancel' && next.state === 'authorised';
    if (isWish && this.choose(2) === 1) {
      this.chain.cancel(this.nowSeconds);
    }
  }

  /** Whether no token can ever move any more, by the rules of the chain. */
  tokensAreSafe(): boolean {
    return this.voucher === null || this.chain.isDeadForGood(this.voucher, this.nowSeconds);
  }

  /** What other parties do between two steps of the service. */
  private interfere(): void {
    const plan = this.voucher;
    switch (this.choose(14)) {
      case 1:
        this.apply({ type: 'cancel', by: 'user' });
        return;
      case 2:
      case 3:
        if (plan) this.chain.claim(plan, this.nowSeconds);
        return;
      case 4:
        this.chain.reorganise(this.nowSeconds);
        return;
      case 5:
        this.nowMs += DELAYS_MS[this.choose(DELAYS_MS.length)] ?? 0;
        return;
      case 6:
        // The user claims in the last second before the deadline.
        if (plan && this.nowSeconds < plan.deadlineSeconds) {
          this.nowMs = plan.deadlineSeconds * 1000;
          this.chain.claim(plan, this.nowSeconds);
        }
        return;
      case 7:
        this.meddle();
        return;
      case 8:
        if (plan) this.chain.claimInAFork(plan, this.nowSeconds);
        return;
      case 9:
        this.partner.balance += 2500;
        return;
      default:
    }
  }

  /** Events that prove nothing: from a timer, a stray worker, or an observer that is too early. */
  private meddle(): void {
    const { row } = this;
    for (const event of hastyEvents(row)) this.apply(event);
    this.apply({ type: 'operator-retry' });
    // An operator's statement about the partner's records is true as long as no call to the partner is under way.
    if (!this.network.isBusy && this.partner.transactionId !== undefined) this.command();
    for (const stray of this.strayResults) this.apply(stray);
    // A worker that dies right after the commit.
    this.apply({ type: 'call-due', requestId: this.newId() });
    if (this.row.openCall !== null) this.nowMs += LEASE_MS;
  }

  private takeStep(): void {
    const { row } = this;
    if (row.openCall !== null) {
      this.nowMs += LEASE_MS;
      this.apply(lostCallEvent(row.openCall));
      return;
    }
    switch (row.state) {
      case 'created': {
        const event = this.network.readBalance(row, { pick: this.choose(5), nowMs: this.nowMs });
        if (event === undefined) this.begin();
        else this.apply(event);
        return;
      }
      case 'deducting':
        this.begin();
        return;
      case 'reverting':
        this.askTheVault(row);
        return;
      case 'deducted': {
        const plan = planFor(row, this.nowSeconds);
        const isPlanned =
          this.choose(6) !== 1 && this.apply({ type: 'plan-committed', plan }).kind === 'moved';
        if (!isPlanned) this.apply({ type: 'plan-failed' });
        return;
      }
      case 'authorised': {
        const unreadable = this.choose(5) === 1;
        const evidence =
          unreadable || row.plan === null
            ? ({ outcome: 'live' } as const)
            : this.chain.observe(row.plan, this.nowSeconds);
        this.apply(payoutEvent(row.id, evidence, 300_000));
        return;
      }
      case 'attention':
      case 'claimed':
      case 'reverted':
      case 'failed':
        throw new Error(`A worker has nothing to do in ${row.state}.`);
    }
  }

  private begin(neverPaid?: DeadEvidence): void {
    const due = { type: 'call-due', requestId: this.newId() } as const;
    const decision = this.apply({ ...due, ...(neverPaid && { neverPaid }) });
    if (decision.kind === 'moved' && decision.command?.kind === 'call-partner') {
      this.call(decision.command);
    }
  }

  private askTheVault(row: Redemption): void {
    const evidence = this.chain.observeReverting(row, this.nowSeconds);
    if (evidence.outcome === 'dead') this.begin(evidence);
    else this.apply(payoutEvent(row.id, evidence, 300_000));
  }

  private call({ request, requestId }: Extract<Command, { kind: 'call-partner' }>): void {
    const { openCall } = this.row;
    if (openCall === null) throw new Error('A call was made that is not open.');
    if (request.step === 'revert' && !this.tokensAreSafe()) {
      this.breaches.push('a revert while tokens can move (rule F)');
    }
    const fault =
      this.at < this.plan.tape.length
        ? faultFor(this.plan, request.step, (size) => this.choose(size))
        : this.plan.lastFault;
    const delayMs = DELAYS_MS[this.choose(DELAYS_MS.length)] ?? 0;
    const isLate = fault === 'crash-before-call' ? this.choose(2) === 1 : arrivesLate(fault);
    if (isLate) this.network.delay({ atMs: this.nowMs + delayMs, request, requestId });
    const event = this.network.call(openCall, { fault, request, nowMs: this.nowMs });
    this.nowMs += 1000 * this.choose(15);
    if (event === undefined) return;
    // The result is lost between the answer and its commit; a stray worker may still deliver it later.
    if (this.choose(8) === 1) this.strayResults.push(event);
    else this.apply(event);
  }

  private newId(): UuidV7 {
    return aUuid(this.nowMs, this.serial++);
  }
}
