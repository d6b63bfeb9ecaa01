/**
 * Players of one partner who redeem while webhook events are sent: three of four claim, the fourth lets its voucher
 * expire. The partner fails a third of the time at each call. The test moves the time, so that a retry after hours is
 * due within the test.
 */
import { type Address, newRedemption, type UuidV7 } from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { aWallet } from '#libs/testing/database';
import { settle, type Settled } from '../checks/settle.js';
import { type World } from '../world/world.js';

const POINTS = 100;
const LIMITS = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 7200 };
/** Wallets below this number are contracts of the chain itself. */
const FIRST_WALLET = 256;

export interface RedemptionCounts {
  readonly authorised: number;
  readonly open: number;
  /** Number of confirmations that were not delivered. */
  readonly owed: number;
}

export class RedeemingPlayers {
  readonly wallets: Address[] = [];
  private readonly claimed = new Set<string>();

  constructor(private readonly world: World) {}

  async redeem(count: number): Promise<void> {
    const { world } = this;
    const { partner, partnerId } = world;
    for (let made = 0; made < count; made += 1) {
      const { nowMs } = world;
      const ordinal = FIRST_WALLET + this.wallets.length;
      const wallet = aWallet(ordinal);
      partner.books.points.set(wallet, 2 * POINTS);
      this.wallets.push(wallet);
      const terms = {
        id: newRequestId({ nowMs: () => nowMs }),
        ...{ partner: partnerId, wallet, points: BigInt(POINTS) },
        ...{ usdAmount: { digits: 1n, scale: 0 }, priceUsd: { digits: 15n, scale: 2 } },
        ...{ tokenAmount: 6_666_666_666_666_666_667n, tokenDecimals: 18 },
        quoteExpiresAtMs: nowMs + 600_000,
      };
      const key = { key: wallet, bodyHash: Buffer.alloc(32, 1) };
      await world.store.create(newRedemption(terms, nowMs), key, LIMITS);
    }
  }

  /** Claims all authorised vouchers, and then advances the time by `ms`. */
  async step(ms: number): Promise<void> {
    const { world } = this;
    const rows = await world.database.query<{ id: UuidV7; wallet: string }>({
      text: `SELECT id, encode(wallet, 'hex') AS wallet FROM redemption.redemption WHERE state = 'authorised' ORDER BY id`,
    });
    const claims = [];
    for (const { id, wallet } of rows) {
      if (this.claimed.has(id) || Number.parseInt(wallet.slice(-4), 16) % 4 === 0) continue;
      this.claimed.add(id);
      const stored = await world.store.get(id);
      if (stored?.redemption.state === 'authorised') claims.push(stored.redemption);
    }
    await world.chain.claimAll(claims, Math.floor(world.nowMs / 1000));
    world.nowMs += ms;
    await world.chain.mine(Math.floor(world.nowMs / 1000));
    await world.fleet.tell(world.nowMs);
    await world.database.query({ text: 'NOTIFY lowmark_redemption' });
  }

  async counts(): Promise<RedemptionCounts> {
    const [row] = await this.world.database.query<RedemptionCounts & Record<string, number>>({
      text: `SELECT count(*) FILTER (WHERE r.state = 'authorised')::int AS authorised,
          count(*) FILTER (WHERE r.state NOT IN ('claimed', 'reverted', 'failed'))::int AS open,
          count(*) FILTER (WHERE c.state <> 'delivered')::int AS owed
        FROM redemption.redemption r LEFT JOIN redemption.confirmation c ON c.redemption_id = r.id`,
    });
    return row ?? { authorised: 0, open: 0, owed: 0 };
  }

  settle(): Promise<Settled> {
    return settle(this.world, this.wallets, 2 * POINTS);
  }
}
