/**
 * A partner that fails a third of the time, and workers that are killed. Every written event arrives, in the order of
 * its wallet, and no other event does. So do the confirmations of the same partner's redemptions, which the same
 * processes send by the older outbox, also those that waited there before the partner subscribed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, messageId, SubscriptionStore } from '#libs/db';
import { PARTNER_CAPABILITIES } from '#libs/domain';
import { mintWebhookSecret, webhookSealContext, KeyRing } from '#libs/signing';
import { eventually } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aWebhookId } from '#libs/testing/partner';
import { testSeeds } from '#libs/testing/seeds';
import { Dice } from '../world/dice.js';
import { World } from '../world/world.js';
import { RedeemingPlayers } from './redeeming-players.js';
import { RedemptionHistory } from './redemption-history.js';
import { WebhookSubscriber } from './webhook-subscriber.js';

const LIMIT_MS = 1_500_000;
const STEP_EVERY_MS = 250;
const STEP_MS = 20_000;
/** Milliseconds of the simulated clock: no confirmation has used up its attempts by then. */
const MOST_MS = 6 * 3_600_000;

/** Adds events as the trigger on redemptions does, for each wallet in turn, many in one transaction. */
const ADD = `INSERT INTO webhooks.event (subscription, type, order_key, payload)
  SELECT $1, 'redemption.pending', wallet, jsonb_build_object('type', 'redemption.pending', 'timestamp', webhooks.iso(now()),
      'data', jsonb_build_object('redemptionId', n::text, 'walletAddress', wallet, 'status', 'pending', 'points', n, 'usdAmount', '1',
        'tokenAmount', '1', 'tokenDecimals', 18, 'transactionHash', NULL))::text
  FROM (SELECT n, '0x' || lpad(to_hex(n % $4::int), 40, '0') AS wallet FROM generate_series($2::int, $3::int) AS n) AS made
  ORDER BY n`;
const AT_ONCE = 500;

/** Number of events; SOAK_WEBHOOK_EVENTS sets another one. */
const EVENTS = Number(process.env['SOAK_WEBHOOK_EVENTS'] ?? 100_000);
/** Number of wallets, including those that redeem. */
const WALLETS = 2003;
const KILLS = Math.ceil(EVENTS / 2500);
/** Redemptions before the partner subscribes, and more with each kill. */
const REDEMPTIONS_BEFORE = 120;
const REDEMPTIONS_A_KILL = 7;

describe(`${EVENTS} events beside redemptions, a partner that fails a third of the time, ${KILLS} killed workers`, () => {
  let test: TestDatabase;
  let admin: Database;
  let world: World;
  let players: RedeemingPlayers;
  let subscriber: WebhookSubscriber;
  const id = aWebhookId();
  const secret = mintWebhookSecret();
  let isOver = false;

  beforeAll(async () => {
    test = await createTestDatabase();
    admin = await test.open();
    const [seed] = testSeeds().slice(-1);
    const dice = new Dice(String(seed?.seed));
    subscriber = await WebhookSubscriber.start(() => secret, dice.for('subscriber'));
    world = await World.create({
      ...{ databaseUrl: test.url, dice, capabilities: PARTNER_CAPABILITIES, faultRate: 1 / 3 },
      worker: {
        ...{ databaseUrl: test.urlAs('redemption'), poolSize: 10 },
        engine: { atOnce: 32, leaseMs: 1500, pollMs: 100, payoutPollMs: 5000, listens: true },
        webhooks: {
          ...{ atOnce: 48, perSubscription: 96, perPartner: 96, leaseMs: 1500 },
          // Forty failures in a row do not happen; if an event were given up, the checks below would find it missing.
          stepsMs: Array.from({ length: 40 }, () => 20),
        },
      },
    });
    players = new RedeemingPlayers(world);
  });
  afterAll(async () => {
    await world.stop();
    await subscriber.close();
    await test.drop();
  });

  /** Makes the rows that a partner without webhooks has: owed confirmations, and open redemptions. */
  async function redeemBefore(): Promise<void> {
    world.partner.deafTo = 'confirm';
    await players.redeem(REDEMPTIONS_BEFORE);
    await world.fleet.start(2);
    const claims = Math.floor((REDEMPTIONS_BEFORE * 3) / 4);
    await eventually(
      async () => {
        await players.step(1000);
        return (await players.counts()).owed >= claims / 2;
      },
      { withinMs: LIMIT_MS, everyMs: STEP_EVERY_MS, what: 'confirmations are owed' },
    );
    await world.fleet.stop();
    world.partner.deafTo = undefined;
  }

  async function subscribe(): Promise<void> {
    const ciphertext = KeyRing.parse(world.secretsKey).seal(secret, webhookSealContext(id));
    const terms = { url: subscriber.url, topics: ['redemption.*'] } as const;
    const audit = { actor: 'operator:test', note: { command: 'test', outcome: 'done' } };
    await new SubscriptionStore(admin).add(world.partnerId, { id, ciphertext, ...terms }, audit);
  }

  async function add(from: number, to: number): Promise<void> {
    for (let first = from; first <= to; first += AT_ONCE) {
      await admin.query({ text: ADD }, [id, first, Math.min(to, first + AT_ONCE - 1), WALLETS]);
    }
  }

  async function play(): Promise<void> {
    const untilMs = world.nowMs + MOST_MS;
    while (!isOver) {
      await players.step(Math.min(STEP_MS, Math.max(0, untilMs - world.nowMs)));
      await sleep(STEP_EVERY_MS);
    }
  }

  async function killWhileTheyArrive(): Promise<void> {
    const half = Math.floor(EVENTS / 2);
    await add(1, half);
    await world.fleet.start(2);
    const adding = add(half + 1, EVENTS);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const share = Math.floor((EVENTS * kill) / (KILLS + 1));
      const what = `${share} events have arrived before kill ${kill}`;
      await players.redeem(REDEMPTIONS_A_KILL);
      await eventually(() => subscriber.count >= share || subscriber.faults.length > 0, {
        withinMs: LIMIT_MS,
        what,
      });
      await world.fleet.killOne(kill);
    }
    await adding;
  }

  /** Heals the partner, and makes all retries due. */
  async function end(): Promise<void> {
    world.partner.heal();
    const waiting = `SELECT count(*)::int AS count FROM webhooks.event WHERE state = 'waiting'`;
    await eventually(
      async () => {
        await players.step(600_000);
        const { open, owed } = await players.counts();
        const [row] = await admin.query<{ count: number }>({ text: waiting });
        return open === 0 && owed === 0 && row?.count === 0;
      },
      { withinMs: LIMIT_MS, everyMs: STEP_EVERY_MS, what: 'nothing waits any more' },
    );
  }

  it(
    'all arrive, in the order of their wallet, and none is invented',
    async () => {
      await redeemBefore();
      const { owed } = await players.counts();
      expect(owed).toBeGreaterThan(0);
      await subscribe();
      const history = await RedemptionHistory.begin(admin);
      const arriving = killWhileTheyArrive().finally(() => {
        isOver = true;
      });
      await Promise.all([arriving, play()]);
      await end();
      expect(world.fleet.deaths).toEqual([]);
      expect(world.fleet.kills).toBe(KILLS);
      await world.fleet.stop();
      await judge(history);
    },
    LIMIT_MS,
  );

  async function judge(history: RedemptionHistory): Promise<void> {
    const { ends, faults } = await players.settle();
    expect(faults).toEqual([]);
    expect(ends).toHaveLength(REDEMPTIONS_BEFORE + KILLS * REDEMPTIONS_A_KILL);
    const states = new Set(ends.map(({ state }) => state));
    expect([...states]).toEqual(expect.arrayContaining(['claimed', 'reverted']));
    const changes = await history.changes();
    expect(subscriber.changes).toEqual(changes);
    const told = [...changes.values()].flat().length;
    const rows = await admin.query<{ id: string; wallet: string; state: string }>({
      text: 'SELECT id, order_key AS wallet, state FROM webhooks.event ORDER BY sequence',
    });
    expect(rows).toHaveLength(EVENTS + told);
    expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
    const expected = new Map<string, string[]>();
    for (const row of rows) {
      const own = expected.get(row.wallet);
      if (own === undefined) expected.set(row.wallet, [messageId(row.id)]);
      else own.push(messageId(row.id));
    }
    expect(subscriber.faults).toEqual([]);
    const differing = [...expected].filter(
      ([wallet, ids]) => ids.join() !== subscriber.accepted.get(wallet)?.join(),
    );
    expect(differing).toEqual([]);
    expect(subscriber.count).toBe(EVENTS + told);
    // Without failures and repetitions the test would prove nothing.
    expect(subscriber.failures).toBeGreaterThan(EVENTS / 4);
    expect(subscriber.repeated).toBeGreaterThan(0);
    const lanes = await admin.query<{ waiting: number }>({
      text: 'SELECT waiting FROM webhooks.lane WHERE waiting <> 0 OR lease_owner IS NOT NULL',
    });
    expect(lanes).toEqual([]);
  }
});
