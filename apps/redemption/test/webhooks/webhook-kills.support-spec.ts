/** A subscriber that fails a third of the time, and workers that are killed: every event arrives, in the order of its wallet, none invented. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, messageId, SubscriptionStore } from '#libs/db';
import { mintWebhookSecret, webhookSealContext, KeyRing } from '#libs/signing';
import { createTestDatabase, eventually, type TestDatabase, testSeeds } from '#libs/testing';
import { Dice } from '../world/dice.js';
import { WorkerFleet } from '../world/worker-fleet.js';
import { type WebhookWorkerSetup } from './webhook-worker.program.js';
import { WebhookSubscriber } from './webhook-subscriber.js';

const LIMIT_MS = 1_500_000;
const SECRETS_KEY = randomBytes(32).toString('base64');

/** As a redemption's trigger writes them: of each wallet in turn, so many in one transaction. */
const ADD = `INSERT INTO webhooks.event (subscription, type, order_key, payload)
  SELECT $1, 'redemption.pending', wallet, jsonb_build_object('type', 'redemption.pending', 'timestamp', webhooks.iso(now()),
      'data', jsonb_build_object('redemptionId', n::text, 'walletAddress', wallet, 'status', 'pending', 'points', n, 'usdAmount', '1',
        'tokenAmount', '1', 'tokenDecimals', 18, 'transactionHash', NULL))::text
  FROM (SELECT n, '0x' || lpad(to_hex(n % $4::int), 40, '0') AS wallet FROM generate_series($2::int, $3::int) AS n) AS made
  ORDER BY n`;

export function describeWebhookKills(size: {
  readonly events: number;
  readonly wallets: number;
  readonly kills: number;
}): void {
  const { events, wallets, kills } = size;

  describe(`${events} events, a subscriber that fails a third of the time, ${kills} killed workers`, () => {
    let test: TestDatabase;
    let admin: Database;
    let id: string;
    let secret: string;

    beforeAll(async () => {
      test = await createTestDatabase();
      admin = await test.open();
    });
    afterAll(() => test.drop());

    async function subscribe(url: string): Promise<void> {
      [id, secret] = [randomUUID(), mintWebhookSecret()];
      const ciphertext = KeyRing.parse(SECRETS_KEY).seal(secret, webhookSealContext(id));
      const { rows } = await admin.pool.query<{ id: string }>(
        `INSERT INTO partners.partner (name) VALUES ('player') RETURNING id`,
      );
      const terms = { url, topics: ['redemption.*'], rule: undefined } as const;
      const audit = { actor: 'operator:test', note: { command: 'test', outcome: 'done' } };
      const partnerId = rows[0]?.id ?? '';
      await new SubscriptionStore(admin).add(partnerId, { id, ciphertext, ...terms }, audit);
    }

    async function add(from: number, to: number): Promise<void> {
      const piece = 500;
      for (let first = from; first <= to; first += piece) {
        await admin.query({ text: ADD }, [id, first, Math.min(to, first + piece - 1), wallets]);
      }
    }

    it(
      'all arrive, in the order of their wallet, and none is invented',
      async () => {
        const [seed] = testSeeds().slice(-1);
        const dice = new Dice(String(seed?.seed));
        secret = mintWebhookSecret();
        const subscriber = await WebhookSubscriber.start(() => secret, dice);
        await subscribe(subscriber.url);
        const setup: WebhookWorkerSetup = {
          ...{ databaseUrl: test.urlAs('redemption'), secretsKey: SECRETS_KEY },
          ...{ atOnce: 48, perSubscription: 96, leaseMs: 1500 },
          // Forty failures in a row do not happen; an event that was given up would be missed below.
          stepsMs: Array.from({ length: 40 }, () => 20),
        };
        const fleet = new WorkerFleet(() => setup, 'webhooks/webhook-worker.program.js');
        try {
          const half = Math.floor(events / 2);
          await add(1, half);
          await fleet.start(2);
          const adding = add(half + 1, events);
          for (let kill = 1; kill <= kills; kill += 1) {
            const share = Math.floor((events * kill) / (kills + 1));
            const what = `${share} events have arrived before kill ${kill}`;
            await eventually(() => subscriber.count >= share || subscriber.faults.length > 0, {
              withinMs: LIMIT_MS,
              what,
            });
            await fleet.killOne(dice.between(0, 1));
          }
          await adding;
          const waiting = `SELECT count(*)::int AS count FROM webhooks.event WHERE state = 'waiting'`;
          const left = async () =>
            (await admin.query<{ count: number }>({ text: waiting }))[0]?.count;
          const what = 'no event waits any more';
          await eventually(async () => (await left()) === 0, {
            withinMs: LIMIT_MS,
            everyMs: 200,
            what,
          });
          expect(fleet.deaths).toEqual([]);
        } finally {
          await fleet.stop();
          await subscriber.close();
        }
        await judge(subscriber);
        expect(fleet.kills).toBe(kills);
      },
      LIMIT_MS,
    );

    async function judge(subscriber: WebhookSubscriber): Promise<void> {
      const rows = await admin.query<{ id: string; wallet: string; state: string }>({
        text: 'SELECT id, order_key AS wallet, state FROM webhooks.event ORDER BY sequence',
      });
      expect(rows).toHaveLength(events);
      expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([]);
      const expected = new Map<string, string[]>();
      for (const row of rows) {
        expected.set(row.wallet, [...(expected.get(row.wallet) ?? []), messageId(row.id)]);
      }
      expect(subscriber.faults).toEqual([]);
      const differing = [...expected].filter(
        ([wallet, ids]) => ids.join() !== subscriber.accepted.get(wallet)?.join(),
      );
      expect(differing).toEqual([]);
      expect(subscriber.count).toBe(events);
      // It failed and was repeated, or this was no test.
      expect(subscriber.failures).toBeGreaterThan(events / 4);
      expect(subscriber.repeated).toBeGreaterThan(0);
      const lanes = await admin.query<{ waiting: number }>({
        text: 'SELECT waiting FROM webhooks.lane WHERE waiting <> 0 OR lease_owner IS NOT NULL',
      });
      expect(lanes).toEqual([]);
    }
  });
}
