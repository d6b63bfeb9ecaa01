/** A user, who asks for a redemption, may cancel it at some moment, and claims its voucher in one of several ways. */
import {
  LimitBreachedError,
  type RedemptionStore,
  StaleRedemptionError,
  type StoredRedemption,
} from '#libs/db';
import {
  type Address,
  limitBreach,
  mintUuidV7,
  newRedemption,
  type PartnerId,
  type Redemption,
  redemptionAmounts,
  type RedemptionLimits,
  transition,
  type UuidV7,
} from '#libs/domain';
import { VaultBench } from '#libs/testing';
import { type Agenda } from '../world/agenda.js';
import { type Dice } from '../world/dice.js';
import { type ChaosPartner } from '../partner/chaos-partner.js';
import { USD_PER_POINT, TOKEN_DECIMALS } from '../world/terms.js';
import { type PlayedPrice } from './played-price.js';
import { type ChainPlayer } from './chain-player.js';
import { type RedemptionPlan } from './run-plan.js';

export interface UserSetup {
  readonly store: RedemptionStore;
  readonly chain: ChainPlayer;
  readonly agenda: Agenda;
  readonly nowMs: () => number;
  readonly price: PlayedPrice;
  readonly limits: RedemptionLimits;
}

/** Milliseconds until a user asks again for a redemption that was refused because there was no price. */
const ASKS_AGAIN_MS = 30_000;
const ASKS = 200;

export class User {
  id: UuidV7 | undefined;
  private hasVoucher = false;
  private asks = 0;
  private isAsking = true;

  constructor(
    private readonly plan: RedemptionPlan,
    /** The service's id of the partner. */
    private readonly partnerId: PartnerId,
    readonly partner: ChaosPartner,
    private readonly parts: UserSetup & { readonly dice: Dice },
  ) {}

  get wallet(): Address {
    return this.plan.wallet;
  }

  /** The most points that the user redeems. */
  get points(): number {
    return this.plan.points;
  }

  /** True while the user still waits for a quote. */
  get wantsPrice(): boolean {
    return this.isAsking;
  }

  /** Schedules all that the user does. */
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

  /** The wallet's points in the partner's books if nothing had been deducted. */
  get pointsWithoutUs(): number | undefined {
    const { balance, topUp } = this.plan;
    return balance === undefined ? undefined : balance + (topUp?.points ?? 0);
  }

  /** Takes the voucher. From now on only the vault can keep the user from claiming it. */
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
    const { store, nowMs, dice, price, limits, agenda } = this.parts;
    const { wallet, quoteTtlMs } = this.plan;
    const points = BigInt(this.plan.points);
    const atMs = nowMs();
    const quote = await price.quote();
    const breach = limitBreach({ points, limits, price: quote, nowMs: atMs });
    if (breach !== undefined || quote === undefined) {
      this.isAsking = ++this.asks < ASKS;
      if (this.isAsking) agenda.add(atMs + ASKS_AGAIN_MS, () => this.create());
      return;
    }
    this.isAsking = false;
    const random = Uint8Array.from({ length: 10 }, () => dice.between(0, 255));
    const terms = {
      id: mintUuidV7(atMs, random),
      partner: this.partnerId,
      wallet,
      points,
      ...redemptionAmounts(points, { usdPerPoint: USD_PER_POINT }, quote.usd, TOKEN_DECIMALS),
      tokenDecimals: TOKEN_DECIMALS,
      priceUsd: quote.usd,
      quoteExpiresAtMs: atMs + quoteTtlMs,
    };
    const key = { key: `k-${wallet}`, bodyHash: Buffer.alloc(32, 1) };
    try {
      const { redemption } = await store.create(newRedemption(terms, atMs), key, limits);
      this.id = redemption.id;
    } catch (error) {
      if (!(error instanceof LimitBreachedError)) throw error;
    }
  }

  private async cancel(): Promise<void> {
    const { store, nowMs } = this.parts;
    if (this.id === undefined) return;
    // As many tries as the service makes against a worker that changes the row.
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
