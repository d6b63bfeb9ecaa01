/** A user: asks for a redemption, cancels it at some moment, claims its voucher in one manner or another. */
import {
  LimitBreachedError,
  type RedemptionStore,
  StaleRedemptionError,
  type StoredRedemption,
} from '#libs/db';
import {
  type Address,
  mintUuidV7,
  newRedemption,
  type Redemption,
  transition,
  type UuidV7,
} from '#libs/domain';
import { VaultBench } from '#libs/testing';
import { type Agenda } from '../world/agenda.js';
import { type Dice } from '../world/dice.js';
import { type ChaosPartner } from '../partner/chaos-partner.js';
import { type ChainPlayer } from './chain-player.js';
import { type RedemptionPlan } from './run-plan.js';

export interface UserParts {
  readonly store: RedemptionStore;
  readonly chain: ChainPlayer;
  readonly agenda: Agenda;
  readonly nowMs: () => number;
}

const LIMITS = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 7200 };
/** 0.0667 tokens a point: a price of 0.15 for a token, a cent a point. */
const TOKENS_PER_POINT = 66_666_666_666_666_667n;

export class User {
  id: UuidV7 | undefined;
  private hasVoucher = false;

  constructor(
    private readonly plan: RedemptionPlan,
    /** As the service knows it. */
    private readonly partnerId: string,
    readonly partner: ChaosPartner,
    private readonly parts: UserParts & { readonly dice: Dice },
  ) {}

  get wallet(): Address {
    return this.plan.wallet;
  }

  /** Notes when everything is to happen. */
  prepare(startMs: number): void {
    const { wallet, balance, startsAfterMs, cancelsAfterMs, topUp } = this.plan;
    const { agenda } = this.parts;
    const { points } = this.partner.books;
    if (balance !== undefined) points.set(wallet, balance);
    const beginsMs = startMs + startsAfterMs;
    agenda.add(beginsMs, () => this.create());
    for (const afterMs of cancelsAfterMs) agenda.add(beginsMs + afterMs, () => this.cancel());
    if (topUp === undefined || balance === undefined) return;
    agenda.add(beginsMs + topUp.afterMs, () => {
      points.set(wallet, (points.get(wallet) ?? 0) + topUp.points);
    });
  }

  /** What the partner's books must say of the wallet where nothing was deducted. */
  get pointsWithoutUs(): number | undefined {
    const { balance, topUp } = this.plan;
    return balance === undefined ? undefined : balance + (topUp?.points ?? 0);
  }

  /** The voucher is there: from now on nobody can keep the user from claiming it but the vault. */
  take({ redemption, isSealed }: StoredRedemption): void {
    const { plan } = redemption;
    if (this.hasVoucher || plan === null || isSealed !== true) return;
    this.hasVoucher = true;
    const { agenda, dice, nowMs } = this.parts;
    const deadlineMs = plan.deadlineSeconds * 1000;
    const soonMs = nowMs() + dice.between(0, 20_000);
    const claim = (from: Address) => () => this.claim(redemption, from);
    switch (this.plan.claims) {
      case 'soon':
        agenda.add(soonMs, claim(this.wallet));
        return;
      case 'some time':
        agenda.add(dice.between(nowMs(), deadlineMs - 1000), claim(this.wallet));
        return;
      case 'twice':
        agenda.add(soonMs, claim(this.wallet));
        agenda.add(soonMs + dice.between(0, 60_000), claim(this.wallet));
        return;
      case 'by a stranger':
        agenda.add(soonMs, claim(VaultBench.STRANGER));
        agenda.add(soonMs, claim(this.wallet));
        return;
      case 'in the last second':
        agenda.addExactly(deadlineMs, claim(this.wallet));
        return;
      case 'a second too late':
        agenda.addExactly(deadlineMs + 1000, claim(this.wallet));
        return;
      case 'never':
        return;
    }
  }

  private async create(): Promise<void> {
    const { store, nowMs, dice } = this.parts;
    const { points, wallet, quoteTtlMs } = this.plan;
    const atMs = nowMs();
    const random = Uint8Array.from({ length: 10 }, () => dice.between(0, 255));
    const terms = {
      id: mintUuidV7(atMs, random),
      partner: this.partnerId,
      wallet,
      points: BigInt(points),
      usdAmount: { digits: BigInt(points), scale: 2 },
      tokenAmount: BigInt(points) * TOKENS_PER_POINT,
      tokenDecimals: 18,
      priceUsd: { digits: 15n, scale: 2 },
      quoteExpiresAtMs: atMs + quoteTtlMs,
    };
    const key = { key: `k-${wallet}`, bodyHash: Buffer.alloc(32, 1) };
    try {
      const { redemption } = await store.create(newRedemption(terms, atMs), key, LIMITS);
      this.id = redemption.id;
    } catch (error) {
      if (!(error instanceof LimitBreachedError)) throw error;
    }
  }

  private async cancel(): Promise<void> {
    const { store, nowMs } = this.parts;
    if (this.id === undefined) return;
    // As often as the service itself would try it against a busy worker.
    for (let attempt = 0; attempt < 5; attempt++) {
      const stored = await store.get(this.id);
      if (stored === undefined) return;
      const { redemption } = stored;
      const policy = { capabilities: this.partner.recorded, confirms: this.partner.confirms };
      const context = { nowMs: nowMs(), jitter: 0, policy };
      const decision = transition(redemption, { type: 'cancel', by: 'user' }, context);
      if (decision.kind === 'refused') return;
      try {
        await store.apply({ before: redemption, decision, event: 'cancel', actor: 'user', stored });
        return;
      } catch (error) {
        if (!(error instanceof StaleRedemptionError)) throw error;
      }
    }
  }

  private async claim(redemption: Redemption, from: Address): Promise<void> {
    await this.parts.chain.claim(redemption, from);
  }
}
