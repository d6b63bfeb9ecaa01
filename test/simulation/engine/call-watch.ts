/** Holds each call to a partner against the rules, at the moment at which its first byte is sent. */
import { vaultIdOf } from '#libs/chain';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { type SimulatedPartner, type Visit } from './partner.js';
import { type WorldState } from './world-state.js';

/** With one endpoint, the deadline must have passed by our clock for as long. */
const ALONE_SECONDS = 300;

export class CallWatch {
  private readonly requestIds = new Set<string>();
  /** Calls that move points, by their request ids. */
  private readonly underWay = new Map<
    string,
    { readonly worker: string; readonly redemption: string }
  >();

  constructor(private readonly world: WorldState) {}

  get isCallUnderWay(): boolean {
    return this.underWay.size > 0;
  }

  /** The process does not wait for its answers any more. */
  died(worker: string): void {
    for (const [request, { worker: name }] of this.underWay) {
      if (name === worker) this.underWay.delete(request);
    }
  }

  /** @see WireWatch.sent */
  sent(worker: string, partner: SimulatedPartner, visit: Visit): () => void {
    const { requestId, call } = visit;
    const { ledger } = this.world;
    if (this.requestIds.has(requestId)) {
      this.world.deviate('rule C: a request id twice', requestId);
    }
    this.requestIds.add(requestId);
    const isLost = this.world.hasRestored;
    if (!isLost && !ledger.tables.calls.has(requestId as UuidV7)) {
      this.world.deviate('rule A: a call without its row', requestId);
    }
    if (call === undefined) return () => undefined;
    const id = call.body.svcRedemptionId;
    const row = ledger.tables.redemptions.get(id);
    if (!isLost && call.step !== 'confirm') this.checkCall(partner, visit, row?.redemption);
    if (call.step !== 'confirm') {
      const other = [...this.underWay.values()].find(({ redemption }) => redemption === id);
      if (other !== undefined && this.world.isTimely) {
        this.world.deviate('two calls of one redemption at once', `${id}: ${call.step}`);
      }
      this.underWay.set(requestId, { worker, redemption: id });
    }
    return () => {
      this.underWay.delete(requestId);
    };
  }

  private checkCall(partner: SimulatedPartner, { call }: Visit, row: Redemption | undefined): void {
    const id = call?.body.svcRedemptionId ?? '';
    if (row === undefined) {
      this.world.deviate('a call of no redemption', id);
      return;
    }
    if (row.partner !== partner.id) {
      this.world.deviate('a call to another partner', id);
    }
    if (call?.step !== 'revert') return;
    const { chain, scheduler, nodes } = this.world;
    const status = chain.statusOf(vaultIdOf(id), chain.final.number);
    const deadline = row.plan?.deadlineSeconds ?? 0;
    const marginSeconds = nodes.length === 1 ? ALONE_SECONDS : 0;
    const endsMs = (deadline + marginSeconds) * 1000;
    if (status === 'none' && deadline > 0 && scheduler.wallMs() <= endsMs) {
      this.world.deviate('rule F: points go back before the deadline by our own clock', id);
    }
    const isDead = status === 'cancelled' || (status === 'none' && chain.final.seconds > deadline);
    if (!isDead) {
      this.world.deviate(
        'rule F: points go back while the voucher can be claimed',
        `${id}: the vault says ${status}, the voucher is good until ${deadline}, the final block is of ${chain.final.seconds}`,
      );
    }
  }
}
