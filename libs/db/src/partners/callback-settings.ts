import { type Decimal, type PartnerCapability, type RedemptionRate } from '#libs/domain';
import { type Statement } from '../connection/database.js';
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

export const SET_CALLBACK: Statement = {
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

/** The parameters of SET_CALLBACK. */
export function callbackValues(partnerId: string, settings: CallbackSettings): unknown[] {
  const { bonus, dailyTokenBudget } = settings;
  return [
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
  ];
}
