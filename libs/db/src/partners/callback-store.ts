import {
  type Decimal,
  parseDecimal,
  type PartnerCapability,
  PermanentError,
  type RedemptionRate,
} from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { decimalText } from '../redemption/decimal-text.js';

/** How a partner is called and what may be redeemed with it. */
export interface CallbackSettings extends RedemptionRate {
  readonly url: string;
  /** `X-API-KEY` of our calls. */
  readonly key: string;
  /** Sealed. */
  readonly secretCiphertext: Buffer;
  readonly minPoints?: bigint | undefined;
  readonly maxPoints?: bigint | undefined;
  /** Whole tokens per UTC day; absent: not limited. */
  readonly dailyTokenBudget?: Decimal | undefined;
  /** Whether it has the confirmation endpoint. */
  readonly confirms: boolean;
  readonly capabilities: readonly PartnerCapability[];
}

export interface PartnerCallback extends CallbackSettings {
  readonly partnerId: string;
  readonly partnerName: string;
  /** The kill switch: no new redemptions. */
  readonly paused: boolean;
}

export class PartnerMissingError extends PermanentError {
  constructor() {
    super('PARTNER_MISSING', 'There is no such partner, or no callback is set for it.');
  }
}

const SET: Statement = {
  name: 'callback_set',
  text: `INSERT INTO partners.callback (partner_id, url, key, secret_ciphertext, usd_per_point, bonus_from_points, bonus_rate,
      min_points, max_points, daily_token_budget, confirms, capabilities)
    SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM partners.partner WHERE id = $1
    ON CONFLICT (partner_id) DO UPDATE SET url = excluded.url, key = excluded.key,
      secret_ciphertext = excluded.secret_ciphertext, usd_per_point = excluded.usd_per_point,
      bonus_from_points = excluded.bonus_from_points, bonus_rate = excluded.bonus_rate, min_points = excluded.min_points,
      max_points = excluded.max_points, daily_token_budget = excluded.daily_token_budget, confirms = excluded.confirms,
      capabilities = excluded.capabilities, updated_at = now()
    RETURNING partner_id`,
};

const PAUSE: Statement = {
  name: 'callback_pause',
  text: 'UPDATE partners.callback SET paused = $2, updated_at = now() WHERE partner_id = $1 RETURNING partner_id',
};

const READ = `SELECT p.id, p.name, c.* FROM partners.callback c JOIN partners.partner p ON p.id = c.partner_id`;
const BY_ID: Statement = { name: 'callback_by_id', text: `${READ} WHERE p.id = $1` };
const BY_NAME: Statement = {
  name: 'callback_by_name',
  text: `${READ} WHERE lower(p.name) = lower($1)`,
};
const ALL: Statement = { name: 'callback_all', text: `${READ} ORDER BY lower(p.name)` };

interface CallbackRow {
  id: string;
  name: string;
  url: string;
  key: string;
  secret_ciphertext: Buffer;
  usd_per_point: string;
  bonus_from_points: string | null;
  bonus_rate: string | null;
  min_points: string | null;
  max_points: string | null;
  daily_token_budget: string | null;
  confirms: boolean;
  capabilities: PartnerCapability[];
  paused: boolean;
}

/** Written by the cli only. The role that only reads cannot see it. */
export class CallbackStore {
  constructor(private readonly database: Database) {}

  /** Sets all of it; whether it is paused stays. @throws PartnerMissingError, DatabaseRefusedError */
  async set(partnerId: string, settings: CallbackSettings): Promise<void> {
    const { bonus, dailyTokenBudget } = settings;
    const rows = await this.database.query(SET, [
      partnerId,
      settings.url,
      settings.key,
      settings.secretCiphertext,
      decimalText(settings.usdPerPoint),
      bonus?.fromPoints,
      bonus && decimalText(bonus.rate),
      settings.minPoints,
      settings.maxPoints,
      dailyTokenBudget && decimalText(dailyTokenBudget),
      settings.confirms,
      settings.capabilities,
    ]);
    if (rows.length === 0) throw new PartnerMissingError();
  }

  /** @throws PartnerMissingError */
  async pause(partnerId: string, paused: boolean): Promise<void> {
    const rows = await this.database.query(PAUSE, [partnerId, paused]);
    if (rows.length === 0) throw new PartnerMissingError();
  }

  async find(partnerId: string): Promise<PartnerCallback | undefined> {
    const [row] = await this.database.query<CallbackRow>(BY_ID, [partnerId]);
    return row && callbackOf(row);
  }

  /** In whatever capitals. */
  async findByName(name: string): Promise<PartnerCallback | undefined> {
    const [row] = await this.database.query<CallbackRow>(BY_NAME, [name]);
    return row && callbackOf(row);
  }

  /** Partners that can be redeemed with, by name; the paused ones too. */
  async list(): Promise<PartnerCallback[]> {
    return (await this.database.query<CallbackRow>(ALL)).map(callbackOf);
  }
}

function callbackOf(row: CallbackRow): PartnerCallback {
  const { bonus_from_points: fromPoints, bonus_rate: rate, daily_token_budget: budget } = row;
  return {
    partnerId: row.id,
    partnerName: row.name,
    url: row.url,
    key: row.key,
    secretCiphertext: row.secret_ciphertext,
    usdPerPoint: parseDecimal(row.usd_per_point),
    ...(fromPoints === null || rate === null
      ? {}
      : { bonus: { fromPoints: BigInt(fromPoints), rate: parseDecimal(rate) } }),
    ...(row.min_points === null ? {} : { minPoints: BigInt(row.min_points) }),
    ...(row.max_points === null ? {} : { maxPoints: BigInt(row.max_points) }),
    ...(budget === null ? {} : { dailyTokenBudget: parseDecimal(budget) }),
    confirms: row.confirms,
    capabilities: row.capabilities,
    paused: row.paused,
  };
}
