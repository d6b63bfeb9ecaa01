/** Players, who ask for redemptions, may cancel them, and claim their vouchers in several ways. */
import { createHash } from 'node:crypto';
import { vaultIdOf } from '#libs/chain';
import { DatabaseUnavailableError, LimitBreachedError, RestoreNotNotedError } from '#libs/db';
import {
  isFinal,
  LowmarkError,
  mintUuidV7,
  newRedemption,
  type RedemptionTerms,
  type UuidV7,
} from '#libs/domain';
import { type SimulatedProcess } from '../kernel/index.js';
import { type VaultTransaction } from './chain.js';
import { type SimulatedPartner } from './partner.js';
import { TOKENS_PER_POINT, type WalletPlan } from './plan.js';
import { storeThroughSeam } from './seams.js';
import { type SimulatedWorker } from './worker.js';
import { type WorldState } from './world-state.js';

const LOOK_AGAIN_MS = 20_000;

/** A worker whose api players can use. */
export interface ReadyWorker {
  readonly process: SimulatedProcess;
  readonly service: NonNullable<SimulatedWorker['service']>;
}

export class Players {
  /** Players who still want to redeem. */
  busy = 0;
  /** Vouchers that were asked for, by redemption and deadline. */
  private readonly vouched = new Set<string>();

  constructor(
    private readonly world: WorldState,
    private readonly ready: () => ReadyWorker[],
  ) {}

  start(): void {
    const partners = [...this.world.partners.values()];
    for (const plan of this.world.plan.wallets) {
      const partner = partners[plan.partner];
      if (partner === undefined) continue;
      if (plan.balance !== undefined) partner.books.points.set(plan.wallet, plan.balance);
      this.busy++;
      setTimeout(() => void this.redeemAll(plan, partner), plan.startsAfterMs);
    }
  }

  private async redeemAll(plan: WalletPlan, partner: SimulatedPartner): Promise<void> {
    for (let left = plan.redemptions; left > 0 && !this.world.isCalm; left--) {
      const id = await this.redeem(plan, partner);
      if (id === undefined) break;
      while (!this.isDone(id)) await pause(LOOK_AGAIN_MS);
      await pause(LOOK_AGAIN_MS);
    }
    this.busy--;
  }

  private isDone(id: UuidV7): boolean {
    if (this.world.isCalm) return true;
    const row = this.world.ledger.tables.redemptions.get(id);
    return row === undefined || isFinal(row.redemption.state);
  }

  private async redeem(plan: WalletPlan, partner: SimulatedPartner): Promise<UuidV7 | undefined> {
    const { scheduler, redemptions, plan: world } = this.world;
    const { databaseFaultsPerMille, partnerDailyTokens, walletDailyTokens } = world;
    const faultsPerMille = () => (this.world.isCalm ? 0 : databaseFaultsPerMille);
    const store = storeThroughSeam(redemptions, 'api redemptions', { scheduler, faultsPerMille });
    const nowMs = scheduler.nowMs();
    const terms = termsOf(this.world, plan, partner);
    const key = { key: terms.id, bodyHash: Buffer.alloc(32, 1) };
    const budgets = { partnerDailyTokens, walletDailyTokens };
    const limits = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 60, ...budgets };
    for (let tries = 0; tries < 4; tries++) {
      try {
        await store.create(newRedemption(terms, nowMs), key, limits);
        break;
      } catch (error) {
        if (error instanceof LimitBreachedError || error instanceof RestoreNotNotedError) {
          return undefined;
        }
        if (!(error instanceof DatabaseUnavailableError)) throw error;
        await pause(1000);
      }
    }
    const { cancelsAfterMs } = plan;
    if (cancelsAfterMs !== undefined) {
      setTimeout(() => void this.cancel(plan, terms.id), cancelsAfterMs);
    }
    return terms.id;
  }

  private async cancel({ wallet }: WalletPlan, id: UuidV7): Promise<void> {
    const [worker] = this.ready();
    if (worker === undefined || this.world.isCalm) return;
    await this.world.scheduler
      .within(worker.process, () => worker.service.cancels.cancel(wallet, id))
      .catch((error: unknown) => {
        const isWire = error instanceof Error && 'status' in error;
        if (!(error instanceof LowmarkError) && !isWire) throw error;
      });
  }

  /** Players ask for the vouchers of authorised redemptions, and claim them in their manner. */
  takeVouchers(): void {
    for (const [id, row] of this.world.ledger.tables.redemptions) {
      const { state, plan } = row.redemption;
      if (state !== 'authorised' || plan === null) continue;
      const key = `${id} ${plan.deadlineSeconds}`;
      if (this.vouched.has(key)) continue;
      const [worker] = this.ready();
      if (worker === undefined) continue;
      this.vouched.add(key);
      void this.takeVoucher(worker, id, key);
    }
  }

  private async takeVoucher(worker: ReadyWorker, id: UuidV7, key: string): Promise<void> {
    const stored = await this.world.redemptions.get(id);
    const { plan } = stored?.redemption ?? {};
    if (stored === undefined || plan == null || stored.place === null) return;
    if (stored.isSealed !== true) {
      if (this.world.forged.has(id)) return;
      this.world.deviate('a plan without its MAC', id);
      return;
    }
    const payout = { redemptionId: id, isSealed: true, plan, place: stored.place } as const;
    let isAnswered = false;
    // The process may die before it answers.
    setTimeout(() => {
      if (!isAnswered) this.vouched.delete(key);
    }, LOOK_AGAIN_MS);
    const authorised = this.world.scheduler.within(worker.process, () =>
      worker.service.payouts.authorise(payout),
    );
    const voucher = await authorised.catch((error: unknown) => {
      if (!(error instanceof LowmarkError)) throw error;
      return undefined;
    });
    isAnswered = true;
    if (voucher === undefined) {
      setTimeout(() => this.vouched.delete(key), LOOK_AGAIN_MS);
      return;
    }
    const { recipient, amount, deadlineSeconds } = voucher;
    const digest = createHash('sha256').update(key).digest('hex');
    const transaction: VaultTransaction = {
      ...{ kind: 'claim', hash: `0x${digest}`, vaultId: vaultIdOf(id) },
      ...{ recipient, amount, deadlineSeconds },
    };
    const isFirst = [...this.vouched].filter((one) => one.startsWith(id)).length === 1;
    this.claim(stored.redemption.wallet, transaction, isFirst);
  }

  private claim(
    wallet: string,
    transaction: VaultTransaction & { kind: 'claim' },
    isFirst: boolean,
  ): void {
    const manner = this.world.plan.wallets.find((one) => one.wallet === wallet)?.claims ?? 'never';
    const leftMs = (transaction.deadlineSeconds - this.world.chain.nowSeconds) * 1000;
    const after: Readonly<Record<string, readonly number[]>> = {
      soon: [1_000],
      never: [],
      'some time': [90_000],
      twice: [1_000, 40_000],
      'in the last second': [leftMs],
      'a second too late': [leftMs + 1_000],
      'only a later voucher': isFirst ? [] : [1_000],
    };
    for (const ms of after[manner] ?? []) {
      setTimeout(() => {
        this.world.scheduler.note(`${wallet.slice(-4)} sends a claim`);
        this.world.chain.submit(transaction);
        this.world.chain.advance();
      }, ms);
    }
  }
}

/** The terms of a redemption that begins now. */
export function termsOf(
  { scheduler }: WorldState,
  { wallet, points, quoteTtlMs }: Pick<WalletPlan, 'wallet' | 'points' | 'quoteTtlMs'>,
  partner: SimulatedPartner,
): RedemptionTerms {
  const nowMs = scheduler.nowMs();
  const random = createHash('sha256').update(`${wallet} ${nowMs}`).digest();
  return {
    ...{ id: mintUuidV7(nowMs, random.subarray(0, 10)), partner: partner.id, wallet },
    ...{ points: BigInt(points), tokenAmount: BigInt(points) * TOKENS_PER_POINT },
    ...{ tokenDecimals: 18, usdAmount: { digits: BigInt(points), scale: 2 } },
    ...{ priceUsd: { digits: 1n, scale: 3 }, quoteExpiresAtMs: nowMs + quoteTtlMs },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
