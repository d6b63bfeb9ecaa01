import { type PoolClient } from 'pg';
import { parseDecimal, type PartnerCapability, PermanentError } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { type CallbackSettings, callbackValues, SET_CALLBACK } from './callback-settings.js';
import { auditPartner, type PartnerAudit } from './partner-audit.js';
import { lockPartner, type PartnerIdentity } from './partner-identity.js';
import { type RateLimits, setRateLimits } from './rate-limits.js';

export interface PartnerCallback extends CallbackSettings, PartnerIdentity {
  /** The kill switch: no new redemptions. */
  readonly paused: boolean;
}

/** What is written together with a callback, or not at all. */
export interface WithCallback {
  /** What is absent stays. */
  readonly limits?: Partial<RateLimits> | undefined;
  readonly audit?: PartnerAudit | undefined;
}

export interface ChangedCallback {
  readonly callback: PartnerCallback;
  /** Absent where none was given. */
  readonly limits?: RateLimits | undefined;
}

export class PartnerMissingError extends PermanentError {
  constructor() {
    super(
      'PARTNER_MISSING',
      'No callback is set for this partner; `partner set NAME --callback-url …` sets one.',
    );
  }
}

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
    const rows = await this.database.query(SET_CALLBACK, callbackValues(partnerId, settings));
    if (rows.length === 0) throw new PartnerMissingError();
  }

  /**
   * Sets what `merge` makes of what is set now (undefined where nothing is), under the partner's lock: of two changes at once
   * neither undoes the other.
   * @param partner name or id
   * @throws PartnerUnknownError, DatabaseRefusedError, or what `merge` throws; nothing is written then
   */
  change(
    partner: string,
    merge: (before: PartnerCallback | undefined, who: PartnerIdentity) => CallbackSettings,
    { limits, audit }: WithCallback = {},
  ): Promise<ChangedCallback> {
    return this.database.transaction(async (client) => {
      const who = await lockPartner(client, partner);
      const before = await callbackOfPartner(client, who.partnerId);
      const values = callbackValues(who.partnerId, merge(before, who));
      await client.query({ ...SET_CALLBACK, values });
      const set = limits && (await setRateLimits(client, who.partnerId, limits));
      await auditPartner(client, who.partnerId, audit);
      const callback = await callbackOfPartner(client, who.partnerId);
      if (callback === undefined) throw new PartnerMissingError();
      return { callback, limits: set };
    });
  }

  /** @throws PartnerMissingError */
  async pause(partnerId: string, paused: boolean, audit?: PartnerAudit): Promise<void> {
    await this.database.transaction(async (client) => {
      const { rows } = await client.query({ ...PAUSE, values: [partnerId, paused] });
      if (rows.length === 0) throw new PartnerMissingError();
      await auditPartner(client, partnerId, audit);
    });
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

async function callbackOfPartner(
  client: PoolClient,
  partnerId: string,
): Promise<PartnerCallback | undefined> {
  const { rows } = await client.query<CallbackRow>({ ...BY_ID, values: [partnerId] });
  return rows[0] && callbackOf(rows[0]);
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
