/**
 * Many open redemptions at once, an honest partner that answers at once, and two workers, of which one is killed when
 * half is done. In the end every redemption must be finished, and nothing done twice.
 *
 * A payout is polled when it is authorised, and again an hour later: once all claims are final, the clock is advanced
 * by that hour. The claims are sent before that, and no figure includes their time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, newRedemption, type UuidV7 } from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { aWallet } from '#libs/testing/database';
import { settle } from '../checks/settle.js';
import { Dice } from '../world/dice.js';
import { World } from '../world/world.js';

interface StampedeOptions {
  readonly databaseUrl: string;
  readonly redemptions: number;
  readonly poolSize: number;
  readonly atOnce: number;
  /** Called between the set-up and the first worker, and after the last redemption. */
  readonly onBegin?: () => Promise<void>;
  readonly onEnd?: () => Promise<void>;
  readonly say?: (text: string) => void;
}

export interface StampedeFigures {
  /** What is wrong in the end; empty where all redemptions are finished and nothing was done twice. */
  readonly faults: readonly string[];
  readonly redemptions: number;
  /** Seconds from the start to the authorised payout of the first half, by two workers. */
  readonly firstHalfSeconds: number;
  /** Seconds of the second half, by one worker, with the wait for the killed worker's leases. */
  readonly secondHalfSeconds: number;
  /** Seconds from the final claims to the last delivered confirmation, by two workers again. */
  readonly endSeconds: number;
  /** Number of leases that the killed worker held and others had to take over. */
  readonly leasesOfTheDead: number;
  /** Calls to the partner: three for each redemption where none was repeated. */
  readonly calls: number;
}

const LEASE_MS = 3000;
const PAYOUT_POLL_MS = 3_600_000;
const TICK_MS = 200;
const COUNT_EVERY_MS = 150;
const POINTS = 100;
const TOKEN_AMOUNT = 6_666_666_666_666_666_667n;
const LIMITS = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 7200 };
const PATIENCE_MS = 300_000;

interface Counts {
  readonly authorised: number;
  readonly finished: number;
  readonly leased: number;
}

export async function stampede(options: StampedeOptions): Promise<StampedeFigures> {
  const { databaseUrl, poolSize, atOnce } = options;
  const world = await World.create({
    databaseUrl,
    dice: new Dice('stampede'),
    capabilities: [],
    faultRate: 0,
    worker: {
      poolSize,
      timeouts: { connectMs: 2000, readMs: 5000, writeMs: 5000 },
      gate: { maxAtOnce: atOnce, maxWaiting: 4 * atOnce },
      engine: {
        atOnce,
        leaseMs: LEASE_MS,
        pollMs: 100,
        payoutPollMs: PAYOUT_POLL_MS,
        listens: true,
      },
    },
  });
  try {
    return await new Stampede(world, options).run();
  } finally {
    await world.stop();
  }
}

class Stampede {
  private readonly wallets: Address[] = [];

  constructor(
    private readonly world: World,
    private readonly options: StampedeOptions,
  ) {}

  async run(): Promise<StampedeFigures> {
    const { world } = this;
    const { redemptions, onBegin, onEnd, say = () => undefined } = this.options;
    say(`${redemptions} redemptions are asked for`);
    await this.create();
    await onBegin?.();
    await world.fleet.start(2);
    const startedAt = await this.begin();
    const half = Math.floor(redemptions / 2);
    await this.until(({ authorised }) => authorised >= half);
    const halfAt = performance.now();
    say('one of two workers is killed');
    await world.fleet.killOne(0, false);
    const { leased: leasesOfTheDead } = await this.counts();
    await this.until(({ authorised }) => authorised === redemptions);
    const authorisedAt = performance.now();
    say('all payouts are authorised; they are claimed');
    await this.claimAll();
    await world.fleet.start(2);
    const claimedAt = performance.now();
    await this.moveTo(world.nowMs + PAYOUT_POLL_MS);
    await this.until(({ finished }) => finished === redemptions);
    const endedAt = performance.now();
    await onEnd?.();
    return {
      faults: await this.faults(),
      redemptions,
      firstHalfSeconds: (halfAt - startedAt) / 1000,
      secondHalfSeconds: (authorisedAt - halfAt) / 1000,
      endSeconds: (endedAt - claimedAt) / 1000,
      leasesOfTheDead,
      calls: world.partner.callCount,
    };
  }

  /**
   * Makes the redemptions due a little later than the time, which stands still: both workers can start before the first
   * redemption is due.
   */
  private async create(): Promise<void> {
    const { world } = this;
    const { partnerId, partner } = world;
    const atMs = world.nowMs + 1;
    for (let ordinal = 1; ordinal <= this.options.redemptions; ordinal++) {
      const wallet = aWallet(0x2000_0000 + ordinal);
      partner.books.points.set(wallet, POINTS + 1);
      this.wallets.push(wallet);
      const terms = {
        id: newRequestId({ nowMs: () => atMs }),
        partner: partnerId,
        wallet,
        points: BigInt(POINTS),
        usdAmount: { digits: 1n, scale: 0 },
        tokenAmount: TOKEN_AMOUNT,
        tokenDecimals: 18,
        priceUsd: { digits: 15n, scale: 2 },
        quoteExpiresAtMs: atMs + 600_000,
      };
      const key = { key: wallet, bodyHash: Buffer.alloc(32, 1) };
      await world.store.create(newRedemption(terms, atMs), key, LIMITS);
    }
  }

  /** @returns the start on the `performance` clock, in milliseconds */
  private async begin(): Promise<number> {
    const startedAt = performance.now();
    await this.moveTo(this.world.nowMs + 1);
    return startedAt;
  }

  private async moveTo(nowMs: number): Promise<void> {
    this.world.nowMs = nowMs;
    await this.world.fleet.tell(nowMs);
    await this.world.database.query({ text: 'NOTIFY lowmark_redemption' });
  }

  private async claimAll(): Promise<void> {
    const { world } = this;
    const rows = await world.database.query<{ id: UuidV7 }>({
      text: `SELECT id FROM redemption.redemption WHERE state = 'authorised' ORDER BY id`,
    });
    const all = [];
    for (const { id } of rows) {
      const stored = await world.store.get(id);
      if (stored !== undefined) all.push(stored.redemption);
    }
    await world.chain.claimAll(all, Math.floor(world.nowMs / 1000));
  }

  private async until(holds: (counts: Counts) => boolean): Promise<void> {
    const since = performance.now();
    const sinceMs = this.world.nowMs;
    while (!holds(await this.counts())) {
      // Lets retries become due.
      const nowMs = sinceMs + Math.floor(performance.now() - since);
      if (nowMs >= this.world.nowMs + TICK_MS) await this.moveTo(nowMs);
      const { deaths, lines } = this.world.fleet;
      if (deaths.length > 0 || performance.now() - since > PATIENCE_MS) {
        const warnings = lines.slice(-5).join('\n');
        throw new Error(`${JSON.stringify(await this.counts())} ${deaths.join(', ')}\n${warnings}`);
      }
      await sleep(COUNT_EVERY_MS);
    }
  }

  private async counts(): Promise<Counts> {
    const [row] = await this.world.database.query<Counts & Record<string, number>>({
      name: 'stampede_counts',
      text: `SELECT count(*) FILTER (WHERE r.state IN ('authorised', 'claimed'))::int AS authorised,
          count(*) FILTER (WHERE r.state IN ('claimed', 'reverted', 'failed') AND c.state = 'delivered')::int AS finished,
          count(*) FILTER (WHERE r.leased_until > now())::int AS leased
        FROM redemption.redemption r LEFT JOIN redemption.confirmation c ON c.redemption_id = r.id`,
    });
    return row ?? { authorised: 0, finished: 0, leased: 0 };
  }

  private async faults(): Promise<string[]> {
    const { ends, faults } = await settle(this.world, this.wallets, POINTS + 1);
    const unclaimed = ends.filter(({ state }) => state !== 'claimed');
    return [...faults, ...unclaimed.map(({ id, state }) => `${id} is ${state}`)];
  }
}
