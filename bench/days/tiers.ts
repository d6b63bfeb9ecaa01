/**
 * The cost of following the tiers of wallets from one sealed day to the next, by the stores of the redemption service.
 */
import { randomUUID } from 'node:crypto';
import { createDatabase, type Database, SubscriptionStore, TierEvents } from '#libs/db';
import { type PartnerId, type TierMeasure, type WebhookId } from '#libs/domain';
import { type BenchServer } from '../support/bench-database.js';
import { count, fixed, table } from '../support/figures.js';

const AUDIT = {
  actor: 'operator:bench',
  note: { command: 'partner webhook', outcome: 'done' },
} as const;
/** The stakes of the benchmark's wallets are multiples of this unit, from 1 to 1,000. */
const UNIT = 1_234_567_890_123_456_789n;
const THRESHOLDS = Array.from({ length: 20 }, (_, tier) => BigInt(50 * (tier + 1)) * UNIT);
const RULES: readonly { readonly measure: TierMeasure; readonly days: number }[] = [
  { measure: 'low', days: 1 },
  { measure: 'low', days: 1 },
  { measure: 'low', days: 1 },
  { measure: 'average', days: 7 },
];

interface Pass {
  readonly pages: number;
  readonly told: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Webhooks of one partner: three with the same rule and one with an average. */
export class TierBench {
  private readonly rows: string[][] = [];

  private constructor(
    private readonly server: BenchServer,
    private readonly database: Database,
    private readonly ids: readonly string[],
  ) {}

  static async start(server: BenchServer, url: string): Promise<TierBench> {
    const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
    const [partner] = await database.query<{ id: PartnerId }>({
      text: `INSERT INTO partners.partner (name) VALUES ('tiers') RETURNING id`,
    });
    if (partner === undefined) throw new Error('the partner was added');
    const store = new SubscriptionStore(database);
    const ids: WebhookId[] = [];
    for (const { measure, days } of RULES) {
      const id = randomUUID() as WebhookId;
      const rule = { measure, days, thresholds: THRESHOLDS, hysteresis: 0n };
      const terms = { url: 'https://game.example/hooks', topics: ['wallet.tier-changed'] as const };
      const ciphertext = Buffer.from('sealed');
      await store.add(partner.id, { id, ciphertext, ...terms, rule }, AUDIT);
      ids.push(id);
    }
    return new TierBench(server, database, ids);
  }

  /** Follows all webhooks to the newest sealed day. */
  async follow(what: string): Promise<void> {
    const [first, second, third, average] = this.ids;
    await this.note(`${what}: one subscription`, [first]);
    await this.note(`${what}: two more`, [second, third]);
    await this.note(`${what}: an average of 7 days`, [average]);
  }

  async print(): Promise<void> {
    console.log();
    table(['tiers of wallets', 'pages', 'events', 's', 'CPU s of PostgreSQL'], this.rows);
    await this.database.close();
  }

  private async note(what: string, ids: readonly (string | undefined)[]): Promise<void> {
    const { pages, told, seconds, cpuSeconds } = await this.pass(ids);
    this.rows.push([what, count(pages), count(told), fixed(seconds), fixed(cpuSeconds)]);
  }

  private async pass(ids: readonly (string | undefined)[]): Promise<Pass> {
    const tiers = new TierEvents(this.database, 'default');
    const [startMs, startCpu] = [performance.now(), this.server.cpuSeconds()];
    let [pages, told] = [0, 0];
    for (const id of ids) {
      for (;;) {
        const step = await tiers.step(id ?? '');
        if (!step.goesOn) break;
        pages += 1;
        told += step.told;
      }
    }
    const seconds = (performance.now() - startMs) / 1000;
    return { pages, told, seconds, cpuSeconds: this.server.cpuSeconds() - startCpu };
  }
}
