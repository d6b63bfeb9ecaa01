/**
 * An intruder with the api's database credential, and later with the redemption service's as well, but without
 * EVIDENCE_KEY. The first credential permits no change; with the second the intruder can write rows, none of which is
 * paid.
 */
import { randomBytes } from 'node:crypto';
import {
  createDatabase,
  type Database,
  type Program,
  RedemptionStore,
  type StoredRedemption,
} from '#libs/db';
import { type Address, mintUuidV7, newRedemption, type PartnerId } from '#libs/domain';
import { EvidenceKeys } from '#libs/signing';
import { type ChaosPartner } from '../partner/chaos-partner.js';
import { type Dice } from '../world/dice.js';
import { type ChainPlayer } from './chain-player.js';
import { LIMITS, TOKEN_DECIMALS, USD_PER_POINT } from '../world/terms.js';

/** A copy of a genuine row with its MAC, for another wallet and a thousand times the tokens. */
const COPY = `INSERT INTO redemption.redemption
  SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'wallet', '\\x${'5e'.repeat(20)}',
    'token_amount', r.token_amount * 1000))).* FROM redemption.redemption r LIMIT 1`;
const MORE = 'UPDATE redemption.redemption SET token_amount = token_amount * 1000';
const TO_ANOTHER = `UPDATE redemption.redemption SET wallet = '\\x${'5e'.repeat(20)}', version = version + 1`;

/** Statements of one transaction each; the last statement would do the damage. */
const WITH_THE_API: Readonly<Record<string, readonly string[]>> = {
  'no role, a forged row': ['SET ROLE NONE', COPY],
  'no role, more tokens': ['SET ROLE NONE', MORE],
  'the service’s role': ['SET ROLE lowmark_redeemer', COPY],
  'the operator’s role': ['SET ROLE lowmark_operator', MORE],
  'another user': ['SET SESSION AUTHORIZATION test_redemption', COPY],
  'no triggers': ['SET session_replication_role = replica', MORE],
  'triggers disabled': ['ALTER TABLE redemption.redemption DISABLE TRIGGER ALL'],
  'a forged row': [COPY],
  'more tokens': [MORE],
  'another wallet': [TO_ANOTHER],
  'another price': [
    `INSERT INTO staking.price (observed_at, source, usd) VALUES (now(), 'intruder', 0.00015)`,
  ],
  'a price accepted': [
    `INSERT INTO staking.price_acceptance (usd, held_usd, reason, actor) VALUES (0.00015, 0.00015, 'jump', 'intruder')`,
  ],
  'a hold ended': ['DELETE FROM staking.price_hold'],
  'dearer points': ['UPDATE partners.callback SET usd_per_point = 1000, daily_token_budget = NULL'],
};
/** Attacks that the rules of the tables refuse even to the service. */
const WITH_THE_SERVICE: Readonly<Record<string, readonly string[]>> = {
  'more tokens': [MORE],
  'another wallet': [TO_ANOTHER],
  'a row that begins as paid for': [COPY],
  'no triggers': ['SET session_replication_role = replica', MORE],
  'triggers disabled': ['ALTER TABLE redemption.redemption DISABLE TRIGGER ALL'],
  'another price': [
    `INSERT INTO staking.price (observed_at, source, usd) VALUES (now(), 'intruder', 0.00015)`,
  ],
  'dearer points': ['UPDATE partners.callback SET usd_per_point = 1000, daily_token_budget = NULL'],
};
/** Probability per step of time, as the next one. */
const ACTS = 0.15;
const FORGES = 0.2;
const MOST_FORGED = 10;
const POINTS = 10;

export interface IntruderSetup {
  readonly urlAs: (program: Program) => string;
  readonly dice: Dice;
  readonly nowMs: () => number;
}

export class Intruder {
  /** Refused attempts, by attack. */
  readonly refused = new Map<string, number>();
  /** Attacks that succeeded, which must not happen. */
  readonly successes: string[] = [];
  /** Rows that the service did not write. */
  readonly forged = new Set<string>();

  private constructor(
    private readonly api: Database,
    private readonly service: Database,
    private readonly parts: IntruderSetup,
  ) {}

  static async start(parts: IntruderSetup): Promise<Intruder> {
    const open = (program: Program): Promise<Database> =>
      createDatabase({ url: parts.urlAs(program), applicationName: 'intruder', poolSize: 1 });
    return new Intruder(await open('api'), await open('redemption'), parts);
  }

  async step(partners: ReadonlyMap<PartnerId, ChaosPartner>): Promise<void> {
    const { dice } = this.parts;
    if (!dice.chance(ACTS)) return;
    if (dice.chance(FORGES) && this.forged.size < MOST_FORGED) {
      await this.forge(dice.pick([...partners.keys()]), partners);
      return;
    }
    const [holder, database, attacks] = dice.pick([
      ['api', this.api, WITH_THE_API],
      ['api', this.api, WITH_THE_API],
      ['service', this.service, WITH_THE_SERVICE],
    ] as const);
    const name = dice.pick(Object.keys(attacks));
    await this.attack(`${holder}: ${name}`, database, attacks[name] ?? []);
  }

  /** Claims a voucher at once, where the service would sign one. */
  async take({ redemption, isSealed }: StoredRedemption, chain: ChainPlayer): Promise<void> {
    if (isSealed === true) await chain.claim(redemption, redemption.wallet);
  }

  async stop(): Promise<void> {
    await Promise.all([this.api.close(), this.service.close()]);
  }

  private async attack(name: string, database: Database, texts: readonly string[]): Promise<void> {
    try {
      const changed = await database.transaction(async (client) => {
        let rows: number | null = 0;
        for (const text of texts) rows = (await client.query(text)).rowCount;
        return rows;
      });
      // Before there are rows, no row is changed and nothing is refused.
      if (changed !== 0) this.successes.push(`the intruder succeeded with ${name}`);
    } catch (error) {
      const { sqlState } = error as { sqlState?: string };
      if (sqlState === undefined) throw error;
      this.refused.set(name, (this.refused.get(name) ?? 0) + 1);
    }
  }

  /**
   * Writes a new row like the service's, for ten points that its wallet has: without a MAC, or with one of another key.
   */
  private async forge(
    partnerId: PartnerId,
    partners: ReadonlyMap<PartnerId, ChaosPartner>,
  ): Promise<void> {
    const { dice, nowMs } = this.parts;
    const wallet = `0x${randomBytes(20).toString('hex')}` as Address;
    partners.get(partnerId)?.books.points.set(wallet, POINTS);
    const other = EvidenceKeys.parse(Buffer.alloc(32, 0x17).toString('base64'));
    const store = dice.chance(0.5)
      ? new RedemptionStore(this.service)
      : new RedemptionStore(this.service, other);
    const terms = {
      id: mintUuidV7(nowMs(), randomBytes(10)),
      partner: partnerId,
      wallet,
      points: BigInt(POINTS),
      usdAmount: { ...USD_PER_POINT, digits: USD_PER_POINT.digits * BigInt(POINTS) },
      // The most that the budgets let through.
      tokenAmount: LIMITS.walletDailyTokens,
      tokenDecimals: TOKEN_DECIMALS,
      priceUsd: { digits: 15n, scale: 2 },
      quoteExpiresAtMs: nowMs() + 120_000,
    };
    this.forged.add(terms.id);
    const key = { key: terms.id, bodyHash: Buffer.alloc(32) };
    await store.create(newRedemption(terms, nowMs()), key, {
      paused: false,
      maxOpen: 1,
      priceMaxAgeSeconds: 7200,
    });
  }
}
